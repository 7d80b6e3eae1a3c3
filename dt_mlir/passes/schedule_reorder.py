"""`schedule-reorder`: interchanges sequential loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from dt_mlir.analysis.bounds import infer_bounds
from dt_mlir.analysis.nests import loops_in, own_loops, writes_of
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names

_OUTER = "_outer"


@dataclass(frozen=True)
class ReorderPass(Directive):
    """Interchanges sequential loops of a function, outermost first.

    The loops must be nested directly in one another. Where `split` made two loops of one over
    `x`, `x` means the inner one and `x_outer` the outer one. Halide, TVM: `reorder`.

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
        kernel = site.kernel
        known = self._loops(kernel)
        for name in self.order:
            if name not in known:
                raise site.error(
                    f"'{self.function}' has no loop '{name}'",
                    did_you_mean(name, [*known])
                    or f"it has {', '.join(known) or 'no loop that can be moved'}",
                )
        if len(set(self.order)) < len(self.order):
            raise site.error("a label is named twice", "name each loop once")
        wanted = [known[name] for name in self.order]
        nest = [op for op in loops_in(kernel) if op in wanted]
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
        _permute(site, nest, wanted)
        infer_bounds(kernel)

    def _loops(self, kernel: loop.KernelOp) -> dict[str, loop.LoopLike]:
        """Returns the loops over the function's labels by the names that the directive takes."""
        found: dict[str, loop.LoopLike] = {}
        for label, own in own_loops(kernel, writes_of(kernel, self.function)[0]).items():
            outer = next((op for op in loops_in(kernel) if own.origin is op.iv), None)
            if outer is not None:
                found[f"{label}{_OUTER}"] = outer
            found[label] = own
        return found


def _permute(
    site: Site, nest: Sequence[loop.LoopLike], wanted: Sequence[loop.LoopLike]
) -> None:
    """Gives each loop of a nest the range, the attributes and the uses of the one wanted there.

    Args:
        site: what the directive is applied to.
        nest: the loops, outermost first.
        wanted: the same loops in another order.
    """
    state = {
        op: (
            dict(op.properties), dict(op.attributes), list(op.operands), op.iv.name_hint,
            site.fused_location(op.location),
            [(use.operation, use.index) for use in op.iv.uses if use.operation not in nest],
        )
        for op in nest
    }  # fmt: skip
    moved: dict[SSAValue, SSAValue] = {source.iv: place.iv for place, source in zip(nest, wanted)}
    for place, source in zip(nest, wanted):
        properties, attributes, operands, hint, location, uses = state[source]
        place.properties, place.attributes = properties, attributes
        place.operands = [moved.get(value, value) for value in operands]
        place.iv.name_hint, place.location = hint, location
        for user, index in uses:
            user.operands[index] = place.iv
