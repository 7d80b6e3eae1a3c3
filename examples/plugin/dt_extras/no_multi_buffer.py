"""`schedule-no-multi-buffer`: keeps the accumulator of a loop in one buffer."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i1

from dt_mlir.analysis.nests import loops_over
from dt_mlir.dialects.tile import RANGE_OPTIONS
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class NoMultiBufferPass(Directive):
    """Keeps the accumulators of the loops over a label in one buffer.

    The attribute is Triton's own: it survives the conversion to tiles, and the emitter prints
    `tl.range(…, disallow_acc_multi_buffer=True)`.

    ```
    loop.reduce dot %k = k step 16 tile of f : f32 {
      ->
    loop.reduce dot %k = k step 16 tile of f : f32
        attributes {triton.range = {disallow_acc_multi_buffer = true}} {
    ```
    """

    name = "schedule-no-multi-buffer"
    phase: ClassVar[Phase] = Phase.HINTS

    label: str = parameter(Name("label"), "The label of the loops.")

    def rewrite(self, site: Site) -> None:
        loops = loops_over(site.kernel, self.label)
        if not loops:
            raise site.error(f"there is no loop over '{self.label}'")
        for op in loops:
            known = op.attributes.get(RANGE_OPTIONS)
            options = dict(known.data) if isinstance(known, DictionaryAttr) else {}
            options["disallow_acc_multi_buffer"] = IntegerAttr(1, i1)
            op.attributes[RANGE_OPTIONS] = DictionaryAttr(options)
            if site.location is not None:
                op.location = site.fused_location(op.location)
