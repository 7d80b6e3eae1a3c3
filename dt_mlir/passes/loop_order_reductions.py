"""`loop-order-reductions`: puts the tiled loops of a product innermost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from dt_mlir.analysis.nests import loops_in, reduced_by
from dt_mlir.dialects import loop


def order_reductions(kernel: loop.KernelOp) -> None:
    """Puts the tiled loops of each product of a kernel innermost."""
    for op in list(loops_in(kernel)):
        if isinstance(op, loop.ReduceOp) and not _is_nested(op):
            nest = _nest(op)
            if nest[-1].is_dot and not any(item.domain is not None for item in nest):
                _permute(nest, sorted(nest, key=lambda item: item.is_tile))


def _is_nested(op: loop.ReduceOp) -> bool:
    parent = op.parent_op()
    return isinstance(parent, loop.ReduceOp) and reduced_by(parent) is op


def _nest(op: loop.ReduceOp) -> list[loop.ReduceOp]:
    """Returns a reduction and those that are all that the one before sums, outermost first."""
    found = [op]
    while (inner := reduced_by(found[-1])) is not None:
        found.append(inner)
    return found


def _permute(nest: Sequence[loop.ReduceOp], wanted: Sequence[loop.ReduceOp]) -> None:
    """Gives each loop of a nest the range, the attributes and the uses of the one wanted there."""
    if list(nest) == list(wanted):
        return
    state: dict[loop.ReduceOp, _State] = {op: _State.of(op, nest) for op in nest}
    moved: dict[SSAValue, SSAValue] = {source.iv: op.iv for op, source in zip(nest, wanted)}
    for op, source in zip(nest, wanted):
        found = state[source]
        # What is combined belongs to a place in the nest, whatever loop stands there.
        op.properties = {**found.properties, "kind": op.properties["kind"]}
        op.attributes = found.attributes
        op.operands = [moved.get(value, value) for value in found.operands]
        op.iv.name_hint, op.location = found.hint, found.location
        for user, index in found.uses:
            user.operands[index] = op.iv


@dataclass
class _State:
    """The parts of a loop that move with it."""

    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    operands: list[SSAValue]
    hint: str | None
    location: LocationAttr
    uses: list[tuple[Operation, int]]

    @staticmethod
    def of(op: loop.ReduceOp, nest: Sequence[loop.ReduceOp]) -> _State:
        uses = [(u.operation, u.index) for u in op.iv.uses if u.operation not in nest]
        return _State(
            dict(op.properties), dict(op.attributes), list(op.operands), op.iv.name_hint,
            op.location, uses,
        )  # fmt: skip


@dataclass(frozen=True)
class LoopOrderReductionsPass(ModulePass):
    """Puts the tiled loops of a product innermost, so that a dot of tiles carries it out.

    The order in which a program lists the labels of a sum has no meaning; a dot needs the loop
    over its depth to be the innermost one. Loops of which one says where another starts keep their
    order, as do those of a domain.

    ```
    loop.reduce add %c = c step 16 tile of f   ->   loop.reduce add %r = r of f
      loop.reduce dot %r = r of f                     loop.reduce dot %c = c step 16 tile of f
    ```
    """

    name = "loop-order-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, loop.KernelOp):
                order_reductions(kernel)
