"""`schedule-dependent-launch`: lets a kernel be launched while the one before it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr

from dt_mlir.scheduling.directive import Directive, Phase, Site


@dataclass(frozen=True)
class DependentLaunchPass(Directive):
    """Lets a kernel be launched while the kernel before it on the stream ends.

    Its program instances start as multiprocessors become free, and wait for the end of the kernel
    before, whatever that is, before they read or write anything. What a launch costs then overlaps
    with that kernel's end. It is CUDA's programmatic dependent launch, on GPUs of compute
    capability 9.0 and more; on others the kernel is launched as usual.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {dependent_launch}
    ```
    """

    name = "schedule-dependent-launch"
    phase: ClassVar[Phase] = Phase.HINTS
    decides_bits: ClassVar[bool] = False

    def rewrite(self, site: Site) -> None:
        site.kernel.dependent_launch = UnitAttr()
