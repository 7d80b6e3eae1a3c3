"""Finds elements of masks that no output depends on.

A comparison of two modules says nothing of a mask whose elements the inputs do not need. So each
mask of a module is changed at one index, and the module is run again: an element below the bound
is dropped, or one beyond it is let through. The mask matters there if an output changes, or if the
program does what it must not (an element is never written, or read outside of its tensor).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.dialects import tile
from dt_mlir.interpreters.arithmetic import Character, Value
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.exact import ExactArithmetic
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.run import Inputs, random_inputs, run_module
from dt_mlir.interpreters.tile_level import TileFunctions

_DRAWS = [
    *((c, 0) for c in Character if c is not Character.SPECIAL),
    *((Character.ANY, seed) for seed in range(1, 20)),
]
"""Inputs that are tried until one shows that an element matters: an extreme depends on a single
element of each row."""


@dataclass
class MaskReport:
    """The findings on a module's masks."""

    masks: int = 0
    """The number of masks that a kernel has at these sizes."""
    tried: int = 0
    """The number of changes of a mask at an index."""
    without_effect: list[str] = field(default_factory=list[str])
    """The indices at which a change has no effect, for each mask, in words."""

    def __str__(self) -> str:
        if not self.masks:
            return "no mask is left"
        if not self.without_effect:
            return f"an output depends on each of {self.tried} elements of {self.masks} masks"
        return "no output depends on " + "; ".join(self.without_effect)


class _Masks(TileFunctions):
    """Runs the `tile` level with one mask changed at one index, and notes all masks' indices."""

    def __init__(
        self, sizes: Mapping[str, int], change: tuple[tile.MaskOp, int, bool] | None = None
    ) -> None:
        super().__init__(ExactArithmetic(), sizes)
        self.change = change
        self.seen: dict[tile.MaskOp, set[tuple[int, bool]]] = {}

    def masked(self, op: tile.MaskOp, index: Array, below: Array) -> Array:
        self.seen.setdefault(op, set()).update(zip(index.tolist(), below.tolist()))
        if self.change is None or op is not self.change[0]:
            return below
        _, at, was = self.change
        return below ^ ((index == at) & (below == was))


class _Runs:
    """Runs of one module at some sizes, of which those without a change are kept."""

    def __init__(self, module: ModuleOp, sizes: Mapping[str, int]) -> None:
        self.module, self.sizes = module, sizes
        self.interface = Interface.of(module)
        self.known: dict[int, tuple[Inputs, dict[str, Value]]] = {}

    def run(self, inputs: Inputs, tiles: _Masks) -> dict[str, Value]:
        return run_module(self.module, inputs, self.sizes, tiles.arithmetic, tiles)

    def unchanged(self, number: int) -> tuple[Inputs, dict[str, Value]]:
        """Returns the inputs of a draw and the results."""
        if number not in self.known:
            character, seed = _DRAWS[number]
            inputs = random_inputs(
                self.interface, self.sizes, ExactArithmetic(), seed, character
            )
            self.known[number] = inputs, self.run(inputs, _Masks(self.sizes))
        return self.known[number]

    def matters(self, mask: tile.MaskOp, index: int, below: bool) -> bool:
        """Returns whether some output depends on the element of a mask at an index.

        Args:
            mask: the mask.
            index: the index, which several tiles may have.
            below: whether the element that is changed is one that the mask lets through.
        """
        for number in range(len(_DRAWS)):
            inputs, wanted = self.unchanged(number)
            tiles = _Masks(self.sizes, (mask, index, below))
            try:
                found = self.run(inputs, tiles)
            except ExecutionError:
                return True
            if any(np.any(tiles.arithmetic.differ(wanted[name], found[name])) for name in wanted):
                return True
        return False


def check_masks(module: ModuleOp, sizes: Mapping[str, int], everywhere: bool) -> MaskReport:
    """Changes each mask of a module at single indices, and reports those without effect.

    Args:
        module: a module with kernels of the `tile` level.
        sizes: a size for each label, at which masks have something to do.
        everywhere: whether to try every index, rather than the last one below each bound and the
            first one beyond it.
    """
    sizes = Interface.of(module).completed(sizes)
    runs = _Runs(module, sizes)
    tiles = _Masks(sizes)
    runs.run(runs.unchanged(0)[0], tiles)
    report = MaskReport()
    for mask, seen in tiles.seen.items():
        kept, rest = (sorted(i for i, below in seen if below is which) for which in (True, False))
        if not rest:
            # It ends nothing at these sizes, or is printed as none.
            continue
        report.masks += 1
        if not everywhere:
            kept, rest = kept[-1:], [index for index in rest if index > max(kept, default=-1)][:1]
        report.tried += len(kept) + len(rest)
        name = mask.result.name_hint or mask.index.name_hint or "a mask"
        for below, tried, verb in ((True, kept, "keeps"), (False, rest, "masks")):
            idle = [index for index in tried if not runs.matters(mask, index, below)]
            if idle:
                shown = ", ".join(map(str, idle))
                report.without_effect.append(f"'{name}' where it {verb} {shown}")
    return report
