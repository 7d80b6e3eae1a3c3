"""Kernels of a program's functions under some directives, with their predicted times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import best_tiling
from dt_mlir.costs.device import Device
from dt_mlir.costs.model import Cost, Tiling
from dt_mlir.costs.work import Work
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind

LEAST_GAIN = 0.02
"""The part of a time that a change must save to be made, where that is short."""
ENOUGH = 5e-7
"""The seconds that are enough to save where it is long."""


def pays(after: float, before: float) -> bool:
    """Returns whether a change that leads from one predicted time to another is worth making."""
    return after < before - min(LEAST_GAIN * before, ENOUGH)


@dataclass(frozen=True)
class Kernel:
    """A kernel, its best tiles, and what these cost."""

    work: Work
    tiling: Tiling
    cost: Cost


@dataclass(frozen=True)
class Cluster:
    """The functions that a kernel computes, or several where reductions are split into parts."""

    root: str
    members: tuple[str, ...]
    """The functions, the root first."""
    decisions: tuple[Decision, ...]
    """The directives that put them together, those of consumers first."""
    kernels: tuple[Kernel, ...] = ()
    storage: tuple[Decision, ...] = ()
    """The directives about its results in memory."""
    decided: bool = False
    """True if its tiles follow from those of its readers."""

    @property
    def seconds(self) -> float:
        """The predicted time."""
        return sum(kernel.cost.seconds for kernel in self.kernels)


class Evaluator:
    """Predicts times of clusters.

    Args:
        algorithm: the program.
        device: the device.
        kept: directives of the program about rounding, which stay.
    """

    def __init__(
        self, algorithm: Algorithm, device: Device, kept: Sequence[Decision] = ()
    ) -> None:
        self.algorithm, self.device = algorithm, device
        self.kept: dict[str, list[Decision]] = {}
        for item in kept:
            self.kept.setdefault(item.function, []).append(item)
        self.taken = {
            op.sym_name.data for op in algorithm.module.ops
            if isinstance(op, dt.FuncOp | dt.InputOp | dt.LabelOp)
        }  # fmt: skip
        """The names that the program has."""
        self.parts: dict[str, int] = {}
        """The number of parts of each label that is split: a program has one."""
        self._works: dict[tuple[tuple[str, ...], tuple[Decision, ...]], list[Work] | None] = {}
        self._tilings: dict[tuple[int, bool], tuple[Tiling, Cost]] = {}

    def evaluated(
        self, root: str, members: Iterable[str], decisions: Sequence[Decision], coarse: bool = True
    ) -> Cluster | None:
        """Returns a cluster with its predicted time; None where its directives are not legal."""
        names = tuple(dict.fromkeys((root, *members)))
        works = self._works_of(names, tuple(decisions))
        if works is None:
            return None
        kernels: list[Kernel] = []
        for work in works:
            if (id(work), coarse) not in self._tilings:
                self._tilings[id(work), coarse] = best_tiling(work, self.device, coarse)
            kernels.append(Kernel(work, *self._tilings[id(work), coarse]))
        return Cluster(root, names, tuple(decisions), tuple(kernels))

    def _works_of(
        self, names: tuple[str, ...], decisions: tuple[Decision, ...]
    ) -> list[Work] | None:
        """Returns what the kernels of functions do, the root first; None if that is not legal."""
        key = names, decisions
        if key not in self._works:
            self._works[key] = self._lowered(names, decisions)
        return self._works[key]

    def _lowered(
        self, names: tuple[str, ...], decisions: tuple[Decision, ...]
    ) -> list[Work] | None:
        root = names[0]
        rounding = self.rounding(root, names, decisions)
        if rounding is None:
            return None
        outputs = [name for name in names[1:] if name in self.algorithm.outputs]
        try:
            return self.algorithm.works(names, [root, *outputs], [*decisions, *rounding])
        except CompileError:
            return None

    def rounding(
        self, root: str, members: Sequence[str], decisions: Sequence[Decision]
    ) -> list[Decision] | None:
        """Returns the kept directives of a kernel, which then name its root.

        None if its functions want different ones.
        """
        found: dict[str, Decision] = {}
        own = {item.name for item in self.kept.get(root, ())}
        for member in members:
            for item in self.kept.get(member, ()):
                if item.name == "math" and "math" not in own:
                    # The root's own functions would be computed in another way.
                    return None
                moved = replace(item, function=root)
                if found.setdefault(item.name, moved) != moved:
                    return None
        parts = [d.arguments[1].value for d in decisions if d.name == "rfactor"]
        if parts and "precision" in found:
            # The products are those of the parts, which inherit no directive.
            found["precision"] = replace(found["precision"], function=str(parts[0]))
        products = [m for m in members if self._has_product(m)]
        if "precision" in found and any(
            not any(k.name == "precision" for k in self.kept.get(m, ())) for m in products
        ) and len(products) > 1 and not self._in_one_pass(root):
            return None
        return list(found.values())

    def _in_one_pass(self, root: str) -> bool:
        # A directive of a root holds for all that it computes in one pass.
        return any(item.name == "precision" for item in self.kept.get(root, ()))

    def _has_product(self, name: str) -> bool:
        return any(op.kind.data is ReductionKind.DOT for op in self.algorithm.reductions(name))

    def single(self, name: str) -> Cluster | None:
        """Returns a function in a kernel of its own; None where that is not legal."""
        return self.evaluated(name, (), ())

    def stored(self, name: str) -> float:
        """Returns the time of a function in a kernel of its own; infinite if it has none."""
        found = self.single(name)
        return float("inf") if found is None else found.seconds
