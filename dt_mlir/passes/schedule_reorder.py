"""`schedule-reorder`: interchanges sequential loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import infer_bounds
from dt_mlir.analysis.nests import loops_in, own_loops, reduction_nests, writes_of
from dt_mlir.builders.loops import interchange
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names

_OUTER = "_outer"


@dataclass(frozen=True)
class ReorderPass(Directive):
    """Interchanges sequential loops of a function or of a reduction, outermost first.

    The loops must be nested directly in one another. Where `split` made two loops of one over
    `x`, `x` means the inner one and `x_outer` the outer one. Reduction loops of fused functions
    are named in the kernel that computes them; the tiled loops of a product are innermost in any
    order. Halide, TVM: `reorder`.

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
        kernel = site.kernel
        own = self._own(kernel)
        nests = reduction_nests(kernel)
        reduced = dict.fromkeys(op.label_name for nest in nests for op in nest)
        for name in self.order:
            if name not in own and name not in reduced:
                known = [*own, *reduced]
                raise site.error(
                    f"'{self.function}' has no loop '{name}'",
                    did_you_mean(name, known)
                    or f"it has {', '.join(known) or 'no loop that can be moved'}",
                )
        of_own = [name for name in self.order if name in own]
        if not of_own:
            self._reorder_reductions(site, nests)
        elif len(of_own) == len(self.order):
            wanted = [own[name] for name in self.order]
            self._reorder(site, [op for op in loops_in(kernel) if op in wanted], wanted)
        else:
            other = next(name for name in self.order if name not in own)
            raise site.error(
                f"'{of_own[0]}' is a label of '{self.function}', and '{other}' is reduced",
                "order labels of the function among themselves, and reduced ones among themselves",
            )
        infer_bounds(kernel)

    def _reorder_reductions(self, site: Site, nests: list[list[loop.ReduceOp]]) -> None:
        found = [n for n in nests if set(self.order) <= {op.label_name for op in n}]
        if not found:
            raise site.error(
                f"no reduction is over {', '.join(self.order)} together",
                "order labels of one reduction",
            )
        for nest in found:
            wanted = [op for name in self.order for op in nest if op.label_name == name]
            inside = nest[nest.index(next(op for op in nest if op in wanted)) :]
            while inside[-1] not in wanted:
                inside.pop()
            if any(op.domain is not None for op in inside):
                raise site.error(
                    f"the domain of the reduction over {', '.join(self.order)} fixes their order",
                    "order labels of a reduction without conditions",
                )
            moved = iter(wanted)
            interchange(
                inside, [next(moved) if op in wanted else op for op in inside], site.fused_location
            )

    def _reorder(
        self, site: Site, nest: list[loop.LoopLike], wanted: list[loop.LoopLike]
    ) -> None:
        for outer, inner in zip(nest, nest[1:]):
            if list(outer.body.block.ops) != [inner]:
                raise site.error(
                    f"the loops over '{outer.label_name}' and '{inner.label_name}' are not "
                    "nested directly in one another",
                    "reorder only loops with nothing between them",
                )
        for place, op in enumerate(wanted):
            if any(op.origin is other.iv for other in wanted[place + 1 :]):
                raise site.error(
                    f"the loop over '{op.label_name}' walks a piece of the loop "
                    f"'{op.label_name}{_OUTER}', and cannot be around it",
                    f"name '{op.label_name}{_OUTER}' first",
                )
        interchange(nest, wanted, site.fused_location)

    def _own(self, kernel: loop.KernelOp) -> dict[str, loop.LoopLike]:
        """Returns the loops over the function's labels by the names that the directive takes."""
        found: dict[str, loop.LoopLike] = {}
        for label, own in own_loops(kernel, writes_of(kernel, self.function)[0]).items():
            outer = next((op for op in loops_in(kernel) if own.origin is op.iv), None)
            if outer is not None:
                found[f"{label}{_OUTER}"] = outer
            found[label] = own
        return found
