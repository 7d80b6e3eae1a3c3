"""`schedule-reorder`: interchanges sequential loops."""

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.nests import function_labels, loop_of, writes_of
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Directive, Phase, Target, parameter
from dt_mlir.scheduling.parameters import Names


@dataclass(frozen=True)
class ReorderPass(Directive):
    """Interchanges sequential loops of a function, outermost first.

    The loops must be nested directly in one another. Halide, TVM: `reorder`.

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

    def rewrite(self, target: Target) -> None:
        kernel = target.kernel
        write = writes_of(kernel, self.function)[0]
        labels = function_labels(kernel, write)
        indices = dict(zip(labels, write.index_values()))
        for label in self.order:
            if label not in labels:
                raise target.error(f"'{label}' is no label of '{self.function}'")
        if len(set(self.order)) < len(self.order):
            raise target.error("a label is named twice")
        chosen = {loop_of(indices[label]): label for label in self.order}
        nest = [op for op in kernel.walk() if op in chosen]
        for outer, inner in zip(nest, nest[1:]):
            if list(outer.body.block.ops) != [inner]:
                raise target.error(
                    f"the loops over '{outer.label_name}' and '{inner.label_name}' are not "
                    "nested directly in one another",
                    "reorder only loops with nothing between them",
                )
        _permute(nest, [loop_of(indices[label]) for label in self.order])


def _permute(nest: list[loop.LoopLike], wanted: list[loop.LoopLike]) -> None:
    """Give each loop of a nest the range, the step and the uses of the one that is wanted there."""
    state = {
        op: (
            dict(op.properties),
            list(op.operands),
            op.location,
            op.iv.name_hint,
            [(use.operation, use.index) for use in op.iv.uses],
        )
        for op in nest
    }
    for place, source in zip(nest, wanted):
        properties, operands, location, hint, uses = state[source]
        place.properties = properties
        place.operands = operands
        place.location = location
        place.iv.name_hint = hint
        for user, index in uses:
            user.operands[index] = place.iv
