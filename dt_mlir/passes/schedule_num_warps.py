"""`schedule-num-warps`: sets the number of warps that a program instance runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Integer


@dataclass(frozen=True)
class NumWarpsPass(Directive):
    """Sets the number of warps that a program instance runs on.

    Triton's launch option of the same name; a warp is 32 threads (64 on AMD).

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {num_warps = 4 : i32}
    ```
    """

    name = "schedule-num-warps"
    phase: ClassVar[Phase] = Phase.HINTS

    warps: int = parameter(
        Integer(power_of_two=True, most=32),
        "The number of warps of a program instance, a power of two.",
    )

    def rewrite(self, site: Site) -> None:
        site.set_hint("num_warps", self.warps)
