"""`schedule-persistent`: lets program instances walk the blocks of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Integer, NamedChoice

ALTERNATING = "alternating"


@dataclass(frozen=True)
class PersistentPass(Directive):
    """Launches a number of program instances on each multiprocessor, which walk the blocks.

    Without it there is an instance for each block of the grid. An instance takes the block of its
    own number, then the one as many blocks further as there are instances, until none is left; the
    order of the blocks is that of `map`. The instances live as long as the kernel: what they do
    first is done once, and the loads of a block can begin while the one before is stored. Triton's
    tutorials and CUTLASS: persistent kernels.

    Where blocks differ in what there is to do, `rounds:alternating` evens it out: of the rounds in
    which each instance takes one block, every other one is walked from its last block to its first.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {persistent = 1 : i32}
    ```
    """

    name = "schedule-persistent"
    phase: ClassVar[Phase] = Phase.MAPPING
    decides_bits: ClassVar[bool] = False

    programs: int = parameter(
        Integer(most=32), "The number of program instances on each multiprocessor; 1 if left out.",
        default=1,
    )  # fmt: skip
    rounds: str = parameter(
        NamedChoice("rounds", ("forwards", ALTERNATING)),
        "Whether each round of blocks is walked forwards, or every other one backwards.",
        default="forwards",
    )

    def rewrite(self, site: Site) -> None:
        if not site.kernel.grid.label_names:
            raise site.error("the grid has no blocks to walk", "block the output first")
        alternates = self.rounds == ALTERNATING
        kernel = site.kernel
        if kernel.persistent is not None and alternates != (kernel.alternating is not None):
            raise site.error(
                "its blocks are walked in rounds of the other kind already",
                "leave one of them out", "persistent",
            )  # fmt: skip
        site.set_hint("persistent", self.programs)
        kernel.alternating = UnitAttr() if alternates else None
