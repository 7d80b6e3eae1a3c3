"""`schedule-unroll`: unrolls sequential loops when the kernel is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32

from dt_mlir.analysis.nests import labels_in, loops_over
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects.tile.printing import RANGE_OPTIONS
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
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
        kernel = site.kernel
        for label, factor in _FACTORS.items(self.factors):
            loops = loops_over(kernel, label)
            if not loops:
                raise site.error(
                    f"there is no loop over '{label}' in the kernel of '{self.function}'",
                    did_you_mean(label, labels_in(kernel))
                    or f"there are loops over {', '.join(labels_in(kernel)) or 'no label'}",
                )
            sequential = [op for op in loops if not op.has_one_trip]
            if not sequential:
                raise site.error(
                    f"the loop over '{label}' has one trip, and nothing to unroll",
                    f"tensorize '{label}' in smaller steps, or leave unroll out",
                )
            for op in sequential:
                given = op.attributes.get(RANGE_OPTIONS)
                known = dict(given.data) if isinstance(given, DictionaryAttr) else {}
                wanted = IntegerAttr(factor, i32)
                if known.get("loop_unroll_factor", wanted) != wanted:
                    raise site.error(
                        f"the loop over '{label}' already has another factor",
                        "leave one of them out", "unroll",
                    )  # fmt: skip
                if site.location is not None:
                    op.location = site.fused_location(op.location)
                op.attributes[RANGE_OPTIONS] = DictionaryAttr(
                    known | {"loop_unroll_factor": wanted}
                )
