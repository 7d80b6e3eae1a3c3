"""`schedule-unroll`: unrolls sequential loops when the kernel is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.loop_options import set_loop_option
from dt_mlir.scheduling.parameters import Sizes

_FACTORS = Sizes(least=2)


@dataclass(frozen=True)
class UnrollPass(Directive):
    """Unrolls the sequential loops over a label by a factor.

    The loop keeps its steps; Triton copies its body when it compiles the kernel
    (`tl.range(…, loop_unroll_factor=…)`). Where the bounds are constants, as of a program that is
    compiled for a size, and the factor is the number of trips or more, no loop is left
    (`tl.static_range`). Halide, TVM: `unroll`.

    ```
    loop.for %y = y step 16 tile of f {
      ->
    loop.for %y = y step 16 tile of f attributes {triton.range = {loop_unroll_factor = 4 : i32}} {
    ```
    """

    name = "schedule-unroll"
    phase: ClassVar[Phase] = Phase.HINTS
    decides_bits: ClassVar[bool] = False

    factors: tuple[str, ...] = parameter(
        _FACTORS, "The labels whose loops are unrolled, with how many steps become one."
    )

    def rewrite(self, site: Site) -> None:
        for label, factor in _FACTORS.items(self.factors):
            set_loop_option(
                site, label, "loop_unroll_factor", factor, "unroll", "factor"
            )
