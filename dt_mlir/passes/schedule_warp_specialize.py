"""`schedule-warp-specialize`: gives groups of warps tasks of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32

from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Setting


@dataclass(frozen=True)
class WarpSpecializePass(Directive):
    """Gives groups of warps tasks of their own, on GPUs whose tensor cores read shared memory.

    A producer copies tiles into rings of buffers, and consumers multiply them, each its part of the
    rows. `num_stages` is the depth of the rings. Elsewhere Triton's kernel runs, in which a step at
    the edge of a domain sees to its own sums. CUTLASS: warp-specialized kernels; Triton:
    `warp_specialize`.

    ```
    loop.kernel @f_kernel(…)
      ->
    loop.kernel @f_kernel(…) attributes {warp_specialize = {consumers = 2 : i32, …}}
    ```
    """

    name = "schedule-warp-specialize"
    phase: ClassVar[Phase] = Phase.HINTS

    consumers: int = parameter(
        Setting("consumers", most=3), "The number of groups of four warps that multiply.", default=2
    )
    registers: int = parameter(
        Setting("registers", least=24, most=256, multiple=8),
        "The number of registers of each of their threads.", default=232,
    )  # fmt: skip

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        numbers = {"consumers": self.consumers, "registers": self.registers}
        wanted = DictionaryAttr({n: IntegerAttr(value, i32) for n, value in numbers.items()})
        if kernel.warp_specialize is not None and kernel.warp_specialize != wanted:
            raise site.error(
                "it is already specialized with other numbers", "leave one of them out",
                "warp_specialize",
            )  # fmt: skip
        kernel.warp_specialize = wanted
        if site.location is not None:
            # What cannot be lowered is refused here.
            kernel.location = site.fused_location(kernel.location)
