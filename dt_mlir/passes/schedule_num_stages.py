"""`schedule-num-stages`: sets the depth to which Triton pipelines the loads of loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Integer


@dataclass(frozen=True)
class NumStagesPass(Directive):
    """Sets the depth to which Triton pipelines the loads of loops.

    Triton's launch option of the same name; each stage takes shared memory.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {num_stages = 4 : i32}
    ```
    """

    name = "schedule-num-stages"
    phase: ClassVar[Phase] = Phase.HINTS
    decides_bits: ClassVar[bool] = False

    stages: int = parameter(Integer(most=64), "The number of stages.")

    def rewrite(self, site: Site) -> None:
        site.set_hint("num_stages", self.stages)
