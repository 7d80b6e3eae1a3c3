"""`schedule-precision`: how dots multiply f32 operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Choice


@dataclass(frozen=True)
class PrecisionPass(Directive):
    """Sets how `rdot` multiplies f32 operands.

    `ieee` is exact f32; `tf32` rounds the operands to 11 significant bits for the tensor cores;
    `tf32x3` makes three such products for nearly f32's accuracy. It is the one directive that
    changes results, by rounding.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {precision = "tf32"}
    ```
    """

    name = "schedule-precision"
    phase: ClassVar[Phase] = Phase.HINTS

    precision: str = parameter(Choice(KernelOp.PRECISIONS), "How operands are rounded.")

    def rewrite(self, site: Site) -> None:
        site.set_hint("precision", self.precision)
