"""`tile-move-scales`: multiplies by a positive scalar behind an extreme, not before it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.magnitudes import is_surely_moderate
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.element_types import is_float, is_moderate
from dt_mlir.traversal import operations_of

_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)


@dataclass(frozen=True)
class _Scaled:
    """A tile as the product of another one and a scalar."""

    tile: SSAValue
    scale: SSAValue
    """A scalar argument, perhaps widened, a constant of the map, or a scalar that is positive."""


class _Scales:
    """The factors of the scalars of a kernel, made where they are first needed."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.block = kernel.body.block
        self.known: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}

    def of(self, scale: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Returns the factors before and after an extreme."""
        if scale not in self.known:
            self.known[scale] = self._make(scale)
        return self.known[scale]

    def _make(self, scale: SSAValue) -> tuple[SSAValue, SSAValue]:
        source = scale
        while isinstance(source.owner, arith.ExtFOp):
            source = source.owner.input
        owner = source.owner
        at = self.block.first_op
        if isinstance(owner, Operation) and not isinstance(owner, arith.ConstantOp):
            at = owner.next_op
        assert at is not None
        builder = Builder(InsertPoint.before(at))

        def insert(op: Operation) -> Operation:
            op.location = at.location
            return builder.insert(op)

        if isinstance(owner, arith.ConstantOp):
            source = insert(owner.clone()).results[0]
        before, after = insert(tile.FactorsOp(source, scale.type)).results
        return before, after


def move_scales(kernel: tile.KernelOp) -> None:
    """Moves the scales of what a kernel takes maxima and minima of behind these."""
    scales = _Scales(kernel)
    for op in operations_of(kernel, tile.ReduceOp):
        if op.kind.data in _EXTREMES and is_float(element_of(op.value.type)):
            _move_behind(op, scales)


def _move_behind(op: tile.ReduceOp, scales: _Scales) -> None:
    """Takes the scale out of an extreme, if its elements have one."""
    choices: list[tile.MapOp] = []
    value = op.value
    while (chosen := _chosen(value, op.kind.data)) is not None:
        assert isinstance(value.owner, tile.MapOp)
        choices.insert(0, value.owner)
        value = chosen
    scaled = _scaled(value)
    if scaled is None:
        return
    before, after = scales.of(scaled.scale)
    owner = value.owner
    assert isinstance(owner, tile.MapOp)
    unscaled = _product(owner, scaled.tile, before)
    products = [_rescaled(owner, unscaled, after)]
    for choice in choices:
        unscaled = _rechosen(choice, unscaled)
        products.append(_rescaled(choice, unscaled, after))
    new = tile.ReduceOp(op.kind.data, unscaled, op.axis.data)
    new.location = op.location
    new.attributes.update(op.attributes)
    Rewriter.insert_op(new, InsertPoint.before(op))
    new.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(_product(op, new.result, after))
    Rewriter.erase_op(op)
    for product in reversed(products):
        if not product.uses and isinstance(product.owner, Operation):
            Rewriter.erase_op(product.owner)


def _product(before: Operation, value: SSAValue, factor: SSAValue) -> SSAValue:
    """Inserts the product of a tile, or a scalar, and a scalar."""
    values = ValueBuilder(Builder(InsertPoint.before(before)), axes_of(value.type))
    return values.elementwise(
        [value, factor], lambda b, v: b.insert(arith.MulfOp(v[0], v[1])).result, before.location
    )


def _rescaled(op: tile.MapOp, unscaled: SSAValue, after: SSAValue) -> SSAValue:
    """Replaces a map by the product of a tile with the factor for after an extreme."""
    found = _product(op, unscaled, after)
    found.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(found)
    Rewriter.erase_op(op)
    return found


def _rechosen(choice: tile.MapOp, unscaled: SSAValue) -> SSAValue:
    """Inserts a choice between an element and an infinity, with the element before its scale."""
    values = ValueBuilder(Builder(InsertPoint.before(choice)), axes_of(choice.result.type))
    select = _select_of(choice.body.block)
    assert select is not None
    mask = choice.inputs[_place(choice, select.cond)]
    other = select.rhs.owner
    assert isinstance(other, arith.ConstantOp)

    def build(builder: Builder, v: list[SSAValue]) -> SSAValue:
        infinity = builder.insert(other.clone()).result
        return builder.insert(arith.SelectOp(v[0], v[1], infinity)).result

    return values.elementwise([mask, unscaled], build, choice.location)


def _place(op: tile.MapOp, element: SSAValue) -> int:
    """Returns the number of the operand whose element a value is."""
    return next(place for place, arg in enumerate(op.body.block.args) if arg is element)


def _select_of(body: Block) -> arith.SelectOp | None:
    """Returns the choice that is all that a map makes, besides a constant."""
    ops = [op for op in body.ops if not isinstance(op, arith.ConstantOp | tile.YieldOp)]
    return ops[0] if len(ops) == 1 and isinstance(ops[0], arith.SelectOp) else None


def _chosen(value: SSAValue, kind: ReductionKind) -> SSAValue | None:
    """Returns the tile of which a map keeps the elements where a mask holds.

    None if others do not become the neutral element of an extreme.
    """
    op = value.owner
    if not isinstance(op, tile.MapOp):
        return None
    args = list(op.body.block.args)
    select = _select_of(op.body.block)
    if select is None or select.cond not in args or select.lhs not in args:
        return None
    other = select.rhs.owner
    neutral = identity(kind, select.rhs.type)
    if not isinstance(other, arith.ConstantOp) or other.value != neutral:
        return None
    return op.inputs[_place(op, select.lhs)]


def _scaled(value: SSAValue) -> _Scaled | None:
    """Returns the factors of a tile that is a product with a scalar whose sign can be told, or with
    a number."""
    op = value.owner
    if not isinstance(op, tile.MapOp):
        return None
    args = list(op.body.block.args)
    ops = [inner for inner in op.body.block.ops if not isinstance(inner, tile.YieldOp)]
    product = ops[-1] if ops else None
    constants = [inner for inner in ops[:-1] if isinstance(inner, arith.ConstantOp)]
    if not isinstance(product, arith.MulfOp) or len(constants) != len(ops) - 1:
        return None
    for scale, other in (product.operands, product.operands[::-1]):
        if other not in args:
            continue
        unscaled = op.inputs[_place(op, other)]
        if unscaled.type != value.type:
            continue
        if scale in args:
            outer = op.inputs[_place(op, scale)]
            if _is_argument(outer) or is_surely_moderate(outer):
                return _Scaled(unscaled, outer)
        elif isinstance(scale.owner, arith.ConstantOp) and _is_moderate(scale.owner):
            return _Scaled(unscaled, scale)
    return None


def _is_moderate(op: arith.ConstantOp) -> bool:
    """Returns whether a constant is positive and of moderate size."""
    attr = op.value
    return isinstance(attr, FloatAttr) and is_moderate(attr.value.data)


def _is_argument(value: SSAValue) -> bool:
    """Returns whether a value is a scalar argument of the kernel, perhaps of a wider type."""
    while isinstance(value.owner, arith.ExtFOp):
        value = value.owner.input
    owner = value.owner
    return (
        isinstance(owner, Block)
        and isinstance(owner.parent_op(), tile.KernelOp)
        and is_float(value.type)
    )


@dataclass(frozen=True)
class TileMoveScalesPass(ModulePass):
    """Multiplies by a positive scalar behind a maximum or a minimum, not before it.

    Rounding keeps the order, so that the largest product is the product of the largest element. A
    product that is needed besides may then be part of a multiplication and addition in one
    instruction. Of a scalar argument, `tile.factors` tells whether it is positive; one that is made
    of sizes that are known is.

    ```
    %s = tile.map arith.mulf %a, %scale
    %t = tile.reduce maximum %s along x
      ->
    %before, %after = tile.factors %scale : f32 to f32
    %u = tile.map arith.mulf %a, %before
    %v = tile.reduce maximum %u along x
    %t = tile.map arith.mulf %v, %after
    ```
    """

    name = "tile-move-scales"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            move_scales(kernel)
