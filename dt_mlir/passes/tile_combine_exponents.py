"""`tile-combine-exponents`: takes one multiplication and addition for an exponent, not three steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, ModuleOp, f32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import elem, tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class _Exponent:
    """The product of a number and the difference of a score and the largest one, in a map."""

    map: tile.MapOp
    product: arith.MulfOp
    difference: arith.SubfOp
    number: arith.ConstantOp
    largest: SSAValue
    """A tile with fewer axes than the map."""

    @property
    def score(self) -> SSAValue:
        """The value inside the map that the largest one is subtracted from."""
        return self.difference.lhs

    def outside(self, value: SSAValue) -> SSAValue | None:
        """Returns the operand of the map that a value inside it is an element of."""
        if isinstance(value, BlockArgument):
            return self.map.inputs[value.index]
        return None

    def factors(self) -> tuple[SSAValue, SSAValue | None]:
        """Returns the value inside the map that is scaled, and the scalar that scales it.

        The scalar is an operand of the map without axes, or a constant; None if there is none.
        """
        op = self.score.owner
        if isinstance(op, arith.MulfOp) and len(set(self.score.uses)) == 1:
            for scaled, scale in (op.operands, op.operands[::-1]):
                outer = self.outside(scale)
                if outer is not None and not axes_of(outer.type):
                    return scaled, outer
                if isinstance(scale.owner, arith.ConstantOp):
                    return scaled, scale
        return self.score, None


def combine_exponents(kernel: tile.KernelOp) -> None:
    """Rewrites the exponents of a kernel's weights, where scores are computed of products."""
    precision = kernel.precision
    rounds = precision is not None and precision.data == "tf32"
    for op in operations_of(kernel, tile.MapOp):
        for exponential in [inner for inner in op.body.block.ops if isinstance(inner, math.Exp2Op)]:
            found = _exponent(op, exponential)
            if found is not None and _is_rounded(op.result, rounds):
                op = _combined(found)


def _is_rounded(weights: SSAValue, rounds: bool) -> bool:
    """Returns whether weights are factors of products alone that take them rounded.

    Args:
        weights: a tile; sums of it and what is computed of them do not count.
        rounds: whether products of f32 round their factors.
    """
    products: list[bool] = []
    pending, met = [weights], {weights}
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.operation
            if isinstance(user, tile.DotOp) and value in (user.lhs, user.rhs):
                products.append(rounds or _is_narrow(element_of(value.type)))
            elif isinstance(user, tile.MapOp | tile.TransposeOp | tile.BroadcastOp):
                result = user.results[0]
                pending += [result] if result not in met else []
                met.add(result)
            elif not isinstance(user, tile.ReduceOp):
                # They are stored, or a loop carries them.
                return False
    return bool(products) and all(products)


def _is_narrow(type: Attribute) -> bool:
    return isinstance(type, AnyFloat) and type.bitwidth <= 16


def _exponent(op: tile.MapOp, exponential: math.Exp2Op) -> _Exponent | None:
    """Returns the exponent of an exponential, if it is one of a score less the largest one."""
    product = exponential.operand.owner
    if not isinstance(product, arith.MulfOp) or product.result.type != f32:
        return None
    for inner, number in (product.operands, product.operands[::-1]):
        difference, constant = inner.owner, number.owner
        if isinstance(difference, arith.SubfOp) and isinstance(constant, arith.ConstantOp):
            break
    else:
        return None
    alone = all(len(set(x.result.uses)) == 1 for x in (product, difference))
    if not alone or not isinstance(difference.rhs, BlockArgument):
        return None
    largest = op.inputs[difference.rhs.index]
    axes = axes_of(largest.type)
    if not axes or len(axes) == len(axes_of(op.result.type)):
        return None
    found = _Exponent(op, product, difference, constant, largest)
    return found if _is_largest(largest, _products_of(_tiles_of(found.score, op))) else None


def _tiles_of(value: SSAValue, op: tile.MapOp) -> list[SSAValue]:
    """Returns the operands of a map that a value inside it is computed of."""
    if isinstance(value, BlockArgument):
        return [op.inputs[value.index]]
    assert isinstance(value.owner, Operation)
    return [tile for operand in value.owner.operands for tile in _tiles_of(operand, op)]


def _products_of(tiles: list[SSAValue]) -> set[Operation]:
    """Returns the products that tiles are computed of, element by element."""
    return {op for tile_ in tiles for op in _sources(tile_) if isinstance(op, tile.DotOp)}


def _is_largest(value: SSAValue, products: set[Operation]) -> bool:
    """Returns whether a value is computed of the maximum of what is computed of some products."""
    return any(
        isinstance(op, tile.ReduceOp)
        and op.kind.data is ReductionKind.MAXIMUM
        and not products.isdisjoint(_sources(op.value))
        for op in _sources(value)
    )


def _sources(value: SSAValue) -> Iterator[Operation]:
    """Yields the operations that a tile is computed of element by element, itself included."""
    pending, met = [value], {value}
    while pending:
        op = pending.pop().owner
        if isinstance(op, Operation):
            yield op
            inputs = op.inputs if isinstance(op, tile.MapOp) else ()
            pending += [operand for operand in inputs if operand not in met]
            met.update(inputs)


def _combined(found: _Exponent) -> tile.MapOp:
    """Replaces a map by one that takes factors of rows, and returns it."""
    op = found.map
    values = ValueBuilder(Builder(InsertPoint.before(op)), axes_of(op.result.type))
    scaled, scale = found.factors()
    number = found.number.value

    def moderation(builder: Builder, v: list[SSAValue]) -> SSAValue:
        return builder.insert(elem.ModerationOp(v[0])).result

    def times(builder: Builder, first: SSAValue, second: SSAValue) -> SSAValue:
        return builder.insert(arith.MulfOp(first, second)).result

    def slope(builder: Builder, v: list[SSAValue]) -> SSAValue:
        factor = builder.insert(arith.ConstantOp(number)).result
        return times(builder, times(builder, v[1], factor) if v[1:] else factor, v[0])

    def offset(builder: Builder, v: list[SSAValue]) -> SSAValue:
        factor = builder.insert(arith.ConstantOp(number)).result
        return times(builder, times(builder, v[0], v[1]), factor)

    at = op.location
    moderate = values.elementwise([found.largest], moderation, at)
    scales = [] if scale is None else [scale]
    slopes = values.elementwise([moderate, *scales], slope, at)
    offsets = values.elementwise([found.largest, moderate], offset, at)
    new = tile.MapOp([*op.inputs, slopes, offsets], op.result.type, op.detach_region(op.body))
    new.location = op.location
    new.attributes.update(op.attributes)
    new.result.name_hint = op.result.name_hint
    block = new.body.block
    for value in (slopes, offsets):
        block.insert_arg(f32, len(block.args)).name_hint = value.name_hint
    inner = Builder(InsertPoint.before(found.product))
    steep = inner.insert(arith.MulfOp(scaled, block.args[-2]))
    exponent = inner.insert(arith.SubfOp(steep.result, block.args[-1]))
    steep.location = exponent.location = found.product.location
    found.product.result.replace_all_uses_with(exponent.result)
    for old in (found.product, found.difference, found.number, found.score.owner):
        if isinstance(old, Operation) and not any(set(x.uses) for x in old.results):
            Rewriter.erase_op(old)
    Rewriter.insert_op(new, InsertPoint.before(op))
    op.result.replace_all_uses_with(new.result)
    Rewriter.erase_op(op)
    return _without_unused(new)


def _without_unused(op: tile.MapOp) -> tile.MapOp:
    """Removes the operands of a map that nothing in it uses any more."""
    block = op.body.block
    for arg in [arg for arg in block.args if not set(arg.uses)]:
        op.operands = [x for place, x in enumerate(op.operands) if place != arg.index]
        block.erase_arg(arg)
    return op


@dataclass(frozen=True)
class TileCombineExponentsPass(ModulePass):
    """Takes one multiplication and one addition for an exponent, which may be one instruction.

    Weights of attention are exponentials of scores less the largest score of a row. Factors that
    are the same along a row are multiplied beforehand. Scores are rounded sums of products, and
    rounding the terms of an exponent changes it about as much as rounding the scores does. Exact
    scores would lose digits, so that this is done for weights alone that products round, to 16 bits
    or to tf32. Where the largest score exceeds 2^26, `elem.moderation` makes all of a row smaller
    by a factor.

    ```
    %p = tile.map (%s = %scores, %m = %largest) {
      %d = arith.subf %s, %m; %e = arith.mulf %d, 1.44; math.exp2 %e
    }
      ->
    %r = tile.map elem.moderation %largest
    %slope = tile.map arith.mulf 1.44, %r
    %offset = tile.map (%m = %largest, %f = %r) { %y = arith.mulf %m, %f; arith.mulf %y, 1.44 }
    %p = tile.map (%s = %scores, %a = %slope, %b = %offset) {
      %x = arith.mulf %s, %a; %e = arith.subf %x, %b; math.exp2 %e
    }
    ```
    """

    name = "tile-combine-exponents"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            combine_exponents(kernel)
