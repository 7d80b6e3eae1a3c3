"""The steps from a program to its kernels: passes, and the directives of a schedule one by one."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.registers import register_pressure
from dt_mlir.analysis.shared_memory import shared_memory_of
from dt_mlir.costs.device import Device
from dt_mlir.costs.report import costs_of
from dt_mlir.diagnostics import CompileError, Place, file_line_col
from dt_mlir.dialects import loop, warp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.explorer.differences import Difference, difference
from dt_mlir.explorer.snapshots import Snapshot
from dt_mlir.scheduling.directive import OBSERVER, Directive

DEFAULT_WARPS = 4
"""Triton's number of warps where no schedule says one."""


@dataclass(frozen=True)
class Resources:
    """The resources that a kernel takes after a step, as far as its level says."""

    kernel: str
    registers: float | None = None
    """The registers of a thread."""
    shared: int | None = None
    """The bytes of shared memory of a program instance."""
    memory: float | None = None
    """The bytes that memory moves."""
    seconds: float | None = None
    """The predicted time."""
    limit: str = ""
    """The resource that is busy longest."""


@dataclass(frozen=True)
class Step:
    """The program after a pass or a directive."""

    title: str
    kind: str
    """`input`, `pass` or `directive`."""
    level: str
    summary: str
    """The first sentence of the pass's documentation."""
    place: Place | None
    """The place of the directive in the program."""
    snapshot: Snapshot
    difference: Difference | None
    """The difference from the step before; None for the first step."""
    resources: list[Resources]


class StepRecorder:
    """Keeps what each pass makes of a module; `after` and `applied` are callbacks.

    Args:
        module: the module before the first pass.
        sizes: a size for each label, for costs; None for no costs.
        device: the device that costs are predicted for.
    """

    def __init__(
        self, module: ModuleOp, sizes: Mapping[str, int] | None, device: Device
    ) -> None:
        self.sizes, self.device = sizes, device
        self.steps: list[Step] = []
        self._add("the program", "input", "", None, module)

    def after(self, item: ModulePass, module: ModuleOp) -> None:
        """Keeps what a pass has made."""
        self._add(item.name, "pass", _summary(type(item)), None, module)

    def applied(
        self, directive: Directive, location: LocationAttr | None, module: ModuleOp
    ) -> None:
        """Keeps what a directive of a schedule has made; see `OBSERVER`."""
        summary = _summary(type(directive))
        self._add(directive.text(), "directive", summary, file_line_col(location), module)

    def _add(
        self, title: str, kind: str, summary: str, place: Place | None, module: ModuleOp
    ) -> None:
        snapshot = Snapshot.of(module)
        found = difference(self.steps[-1].snapshot, snapshot) if self.steps else None
        # The operations of earlier steps change, and need not be kept.
        self.steps = [_forgetting(step) for step in self.steps]
        resources = self._resources(module) if found is None or not found.is_empty else []
        self.steps.append(
            Step(title, kind, level_of(module), summary, place, snapshot, found, resources)
        )

    def _resources(self, module: ModuleOp) -> list[Resources]:
        """Returns what the kernels of a module take, by the means of their level."""
        found: list[Resources] = []
        if self.sizes is not None and any(isinstance(op, loop.KernelOp) for op in module.ops):
            try:
                costs = costs_of(module, self.sizes, self.device)
            except (CompileError, KeyError):
                # Labels that a directive makes have no sizes.
                costs = {}
            found += [
                Resources(
                    root, cost.registers, cost.shared, cost.memory,
                    cost.seconds if isfinite(cost.seconds) else None, cost.limit,
                )
                for root, cost in costs.items()
            ]  # fmt: skip
        for kernel in kernels_of(module):
            warps = kernel.int_hint("num_warps") or DEFAULT_WARPS
            whole = any(
                axis.is_symbolic
                for op in kernel.walk() for value in op.results for axis in axes_of(value.type)
            )  # fmt: skip
            # A tile along a whole axis has as many elements as a call says.
            pressure = None if whole else register_pressure(kernel, warps).registers
            found.append(Resources(kernel.sym_name.data, pressure))
        for op in module.ops:
            if isinstance(op, warp.KernelOp):
                found.append(Resources(op.sym_name.data, shared=shared_memory_of(op)))
        return found


@contextmanager
def recording(recorder: StepRecorder) -> Generator[None]:
    """Keeps the directives that are applied meanwhile; who observed them before still does."""
    before = OBSERVER.get()

    def observe(directive: Directive, location: LocationAttr | None, module: ModuleOp) -> None:
        if before is not None:
            before(directive, location, module)
        recorder.applied(directive, location, module)

    token = OBSERVER.set(observe)
    try:
        yield
    finally:
        OBSERVER.reset(token)


def _summary(cls: type[ModulePass]) -> str:
    """Returns the first paragraph of a pass's documentation, in one line."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def _forgetting(step: Step) -> Step:
    step.snapshot.numbers.clear()
    return step


def level_of(module: ModuleOp) -> str:
    """Returns the name of the furthest level that a module has operations of."""
    found = {op.name.split(".")[0] for op in module.ops}
    return next((level for level in ("warp", "tile", "loop", "dt") if level in found), "")


def operation_ids(steps: list[Step]) -> list[list[int]]:
    """Returns a number for each operation of each step, that it keeps while it is the same one."""
    found: list[list[int]] = []
    count = 0
    for step in steps:
        own: list[int] = []
        for number in range(len(step.snapshot.nodes)):
            before = None if step.difference is None else step.difference.before.get(number)
            own.append(count if before is None else found[-1][before])
            count += before is None
        found.append(own)
    return found


def ids_of(step: Step, ids: list[int]) -> dict[Operation, int]:
    """Returns the numbers of the operations of the module that the last step has left."""
    return {op: ids[number] for op, number in step.snapshot.numbers.items()}
