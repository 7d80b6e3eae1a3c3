"""`schedule-math`: how accurate elementary functions and division are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Choice


@dataclass(frozen=True)
class MathPass(Directive):
    """Sets how accurate elementary functions and division are.

    `fast`, the default, takes Triton's own; `accurate` takes those of the target's device
    library and rounds quotients and square roots correctly, as PyTorch does.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {math = "accurate"}
    ```
    """

    name = "schedule-math"
    phase: ClassVar[Phase] = Phase.HINTS

    accuracy: str = parameter(Choice(KernelOp.ACCURACIES), "Which functions are taken.")

    def rewrite(self, site: Site) -> None:
        site.set_hint("math", self.accuracy)
