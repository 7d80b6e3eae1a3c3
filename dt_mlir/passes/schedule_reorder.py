"""`schedule-reorder`: interchanges sequential loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import infer_bounds
from dt_mlir.analysis.nests import loops_in, own_loops, writes_of
from dt_mlir.builders.loops import interchange
from dt_mlir.dialects import loop
from dt_mlir.dialects.sched import OUTER
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.labels import named_nests
from dt_mlir.scheduling.parameters import Names


@dataclass(frozen=True)
class ReorderPass(Directive):
    """Interchanges sequential loops of a function or of a reduction, outermost first.

    The loops must be nested directly in one another; one that is between them and is not named
    keeps its place. Where `split` made two loops of one over `x`, `x` means the inner one and
    `x_outer` the outer one. Reduction loops of fused functions are named in the kernel that
    computes them; the tiled loops of a product are innermost in any order. Halide, TVM: `reorder`.

    ```
    loop.for %x = x of f {           loop.for %y = y of f {
      loop.for %y = y of f {   ->      loop.for %x = x of f {
    ```
    """

    name = "schedule-reorder"
    phase: ClassVar[Phase] = Phase.ORDER

    order: tuple[str, ...] = parameter(
        Names(), "Labels of the function's loops in the order that they are to have."
    )

    def rewrite(self, site: Site) -> None:
        if len(set(self.order)) < len(self.order):
            raise site.error("a label is named twice", "name each loop once")
        for nest, named in named_nests(site, self.order, self._own(site.kernel)):
            moved = iter(named)
            order = [next(moved) if op in named else op for op in nest]
            self._check(site, nest, order)
            interchange(nest, order, site.fused_location)
        infer_bounds(site.kernel)

    def _check(
        self, site: Site, nest: list[loop.LoopLike], order: list[loop.LoopLike]
    ) -> None:
        for outer, inner in zip(nest, nest[1:]):
            if isinstance(outer, loop.ForOp) and list(outer.body.block.ops) != [inner]:
                raise site.error(
                    f"the loops over '{outer.label_name}' and '{inner.label_name}' are not "
                    "nested directly in one another",
                    "reorder only loops with nothing between them",
                )
        scanned = [op for op in nest if loop.prefixes_of(op)]
        if scanned and order != nest:
            raise site.error(
                f"'{scanned[0].label_name}' is scanned: the loops over the other labels are around "
                "its own",
                "reorder other loops, and leave this one innermost",
            )
        for place, op in enumerate(order):
            if any(op.origin is other.iv for other in order[place + 1 :]):
                raise site.error(
                    f"the loop over '{op.label_name}' walks a piece of the loop "
                    f"'{op.label_name}{OUTER}', and cannot be around it",
                    f"name '{op.label_name}{OUTER}' first",
                )

    def _own(self, kernel: loop.KernelOp) -> dict[str, loop.LoopLike]:
        """Returns the loops over the function's labels by the names that the directive takes."""
        found: dict[str, loop.LoopLike] = {}
        for label, own in own_loops(kernel, writes_of(kernel, self.function)[0]).items():
            outer = next((op for op in loops_in(kernel) if own.origin is op.iv), None)
            if outer is not None:
                found[f"{label}{OUTER}"] = outer
            found[label] = own
        return found
