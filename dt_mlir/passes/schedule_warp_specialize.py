"""`schedule-warp-specialize`: gives groups of warps tasks of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32, i64
from xdsl.ir import Attribute

from dt_mlir.analysis.label_sizes import same_in
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Setting, Sizes


@dataclass(frozen=True)
class WarpSpecializePass(Directive):
    """Gives groups of warps tasks of their own, on GPUs whose tensor cores read shared memory.

    A producer copies tiles into rings of buffers, and consumers multiply them, each its part of the
    rows. `num_stages` is the depth of the rings. Elsewhere Triton's kernel runs, in which a step at
    the edge of a domain sees to its own sums; so it does where a label has another size than one
    that is given, as of heads that are taken whole (`d:128`). CUTLASS: warp-specialized kernels;
    Triton: `warp_specialize`.

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

    sizes: tuple[str, ...] = parameter(
        Sizes(), "The sizes of labels that warps are specialized for.", default=()
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        numbers = {"consumers": self.consumers, "registers": self.registers}
        wanted = DictionaryAttr(
            {n: IntegerAttr(value, i32) for n, value in numbers.items()} | self._sizes(site)
        )
        if kernel.warp_specialize is not None and kernel.warp_specialize != wanted:
            raise site.error(
                "it is already specialized with other numbers", "leave one of them out",
                "warp_specialize",
            )  # fmt: skip
        kernel.warp_specialize = wanted
        if site.location is not None:
            # What cannot be lowered is refused here.
            kernel.location = site.fused_location(kernel.location)

    def _sizes(self, site: Site) -> dict[str, Attribute]:
        """Returns the sizes that the kernel is specialized for, if there are any.

        Raises:
            CompileError: if one is no label of the kernel, or has another size.
        """
        if not self.sizes:
            return {}
        labels = [label.data for label in site.kernel.labels]
        wanted = dict(Sizes().items(self.sizes))
        for label in wanted:
            if label not in labels:
                names = [*labels, "consumers", "registers"]
                raise site.error(
                    f"it takes no argument '{label}:{wanted[label]}', as '{site.function}' has no "
                    "such label", did_you_mean(label, names) or f"write '{self.signature()}'",
                )  # fmt: skip
        first = same_in(site.kernel, site.program.host.first_of_same())
        known = site.program.host.fixed_sizes()
        found: dict[str, int] = {}
        for label, size in wanted.items():
            other = known.get(label, found.setdefault(first[label], size))
            if other != size:
                raise site.error(
                    f"'{label}' has the size {other}, and never {size}",
                    f"leave '{label}:{size}' out",
                )
        return {"sizes": DictionaryAttr({x: IntegerAttr(n, i64) for x, n in found.items()})}
