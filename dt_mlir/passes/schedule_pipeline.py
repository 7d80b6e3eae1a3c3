"""`schedule-pipeline`: sets the depth to which single loops are pipelined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.loop_options import set_loop_option
from dt_mlir.scheduling.parameters import Sizes

_STAGES = Sizes(most=64)


@dataclass(frozen=True)
class PipelinePass(Directive):
    """Sets the depth to which Triton pipelines the loads of the sequential loops over a label.

    It takes the place of `num_stages` for these loops; the number 1 leaves a loop as it is
    (`tl.range(…, num_stages=…)`). Each stage takes shared memory. TVM: `software_pipeline_stage`.

    ```
    loop.for %y = y step 16 tile of f {
      ->
    loop.for %y = y step 16 tile of f attributes {triton.range = {num_stages = 4 : i32}} {
    ```
    """

    name = "schedule-pipeline"
    phase: ClassVar[Phase] = Phase.HINTS
    decides_bits: ClassVar[bool] = False

    stages: tuple[str, ...] = parameter(
        _STAGES, "The labels whose loops are pipelined, with the number of stages of each."
    )

    def rewrite(self, site: Site) -> None:
        for label, stages in _STAGES.items(self.stages):
            set_loop_option(site, label, "num_stages", stages, "pipeline", "number of stages")
