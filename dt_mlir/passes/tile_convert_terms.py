"""`tile-convert-terms`: converts the terms of a sum of integers to floats, not the sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp, f32, i32
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.moving_addresses import is_computed_in
from dt_mlir.analysis.size_bounds import SizeBound, SizeBounds
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of, axis_names, element_of
from dt_mlir.traversal import operations_of

_EXACT = 2**24
"""The magnitude up to which f32 holds all integers."""

_MONOTONE: dict[type[Operation], Callable[..., Operation]] = {
    math.AbsIOp: math.AbsFOp,
    arith.MaxSIOp: arith.MaximumfOp,
    arith.MinSIOp: arith.MinimumfOp,
}
"""Operations on integers, and those on floats that a conversion may stand before."""


@dataclass
class _Sum:
    """A sum of multiples of the operands of a map, and a number."""

    factors: dict[SSAValue, int]
    number: int

    def plus(self, other: _Sum, factor: int) -> _Sum:
        """The sum and a multiple of another one."""
        factors = dict(self.factors)
        for value, number in other.factors.items():
            factors[value] = factors.get(value, 0) + factor * number
        kept = {value: number for value, number in factors.items() if number}
        return _Sum(kept, self.number + factor * other.number)


class _Conversion:
    """The conversion of an integer that a map computes.

    Args:
        op: the map.
        bounds: bounds of integers.
    """

    def __init__(self, op: tile.MapOp, bounds: SizeBounds) -> None:
        self.op = op
        self.bounds = bounds
        self.inputs: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs))
        self.limits: dict[str, int] = {}
        """The sizes of labels up to which the conversion of the terms is exact."""
        self.parts: dict[SSAValue, list[_Sum]] = {}
        """The parts of the sums among the integers, each of axes of its own."""

    def plan(self, value: SSAValue) -> bool:
        """Finds the parts of an integer; returns whether they are known, and below some size."""
        op = value.owner
        if isinstance(op, Operation) and type(op) in _MONOTONE:
            planned = [self.plan(v) for v in op.operands if constant_index(v) is None]
            numbers = [constant_index(v) or 0 for v in op.operands]
            return all(planned) and bool(planned) and all(abs(n) <= _EXACT for n in numbers)
        found = self._sum(value)
        if found is None:
            return False
        groups: dict[tuple[str, ...], _Sum] = {}
        for term, factor in found.factors.items():
            axes = axis_names(self.inputs[term].type)
            groups.setdefault(axes, _Sum({}, 0)).factors[term] = factor
        scalars = groups.pop((), None)
        parts = list(groups.values())
        whole = len(axes_of(self.op.result.type))
        if len(parts) != 2 or any(len(axes) == whole for axes in groups):
            return False
        parts.sort(key=lambda part: min(part.factors.values()) < 0)
        parts[0] = parts[0].plus(scalars or _Sum({}, 0), 1)
        parts[0].number = found.number
        self.parts[value] = parts
        return all(map(self._limit, parts))

    def _sum(self, value: SSAValue) -> _Sum | None:
        """Returns an integer as a sum of operands; None if it is none."""
        if value in self.inputs:
            return _Sum({value: 1}, 0)
        number = constant_index(value)
        if number is not None:
            return _Sum({}, number)
        op = value.owner
        match op:
            case arith.AddiOp() | arith.SubiOp():
                left, right = self._sum(op.lhs), self._sum(op.rhs)
                if left is None or right is None:
                    return None
                return left.plus(right, 1 if isinstance(op, arith.AddiOp) else -1)
            case arith.MuliOp():
                left, right = self._sum(op.lhs), self._sum(op.rhs)
                if left is None or right is None or (left.factors and right.factors):
                    return None
                number, other = (right.number, left) if left.factors else (left.number, right)
                return _Sum({}, 0).plus(other, number)
            case _:
                return None

    def _limit(self, part: _Sum) -> bool:
        """Notes the sizes up to which a part is exact; returns whether there are any."""
        total = SizeBound.number(part.number)
        for term, factor in part.factors.items():
            bound = self.bounds.of(self.inputs[term])
            if bound is None:
                return False
            total = total.plus(bound.times(factor))
        limit = (_EXACT - total.offset) // max(total.factor, 1)
        for label in total.labels:
            self.limits[label] = min(limit, self.limits.get(label, limit))
        return limit > 0


def convert_terms(kernel: tile.KernelOp) -> None:
    """Converts the terms of the sums of integers of a kernel before these are computed."""
    if kernel.dynamic is not None:
        # A choice at run time would compute both.
        return
    bounds = SizeBounds(kernel)
    for op in operations_of(kernel, tile.MapOp):
        for inner in list(op.body.block.ops):
            if not isinstance(inner, arith.SIToFPOp):
                continue
            if inner.input.type == i32 and inner.result.type == f32:
                conversion = _Conversion(op, bounds)
                if conversion.plan(inner.input):
                    op = _converted(kernel, conversion, inner)


def _converted(kernel: tile.KernelOp, conversion: _Conversion, cast: arith.SIToFPOp) -> tile.MapOp:
    """Inserts the conversion of the terms; returns the map in the place of the old one."""
    op = conversion.op
    block = op.body.block
    inputs = list(op.inputs)

    def operand(value: SSAValue) -> SSAValue:
        if value not in inputs:
            inputs.append(value)
            block.insert_arg(element_of(value.type), len(block.args)).name_hint = value.name_hint
        return block.args[inputs.index(value)]

    builder = Builder(InsertPoint.before(cast))

    def insert(new: Operation) -> SSAValue:
        new.location = cast.location
        return builder.insert(new).results[0]

    def float_of(value: SSAValue) -> SSAValue:
        number = constant_index(value)
        if number is not None:
            return insert(arith.ConstantOp(FloatAttr(float(number), f32)))
        if value in conversion.parts:
            first, second = conversion.parts[value]
            left = operand(_part(conversion, first, cast))
            if all(factor < 0 for factor in second.factors.values()):
                negated = _Sum({}, 0).plus(second, -1)
                return insert(arith.SubfOp(left, operand(_part(conversion, negated, cast))))
            return insert(arith.AddfOp(left, operand(_part(conversion, second, cast))))
        owner = value.owner
        assert isinstance(owner, Operation)
        return insert(_MONOTONE[type(owner)](*map(float_of, owner.operands)))

    result = float_of(cast.input)
    if conversion.limits:
        fits = operand(_condition(kernel, conversion.limits, cast))
        result = insert(arith.SelectOp(fits, result, insert(cast.clone())))
    result.name_hint = cast.result.name_hint
    cast.result.replace_all_uses_with(result)
    Rewriter.erase_op(cast)
    op.body.detach_block(block)
    new = tile.MapOp(inputs, op.result.type, Region(block))
    new.location = op.location
    new.attributes.update(op.attributes)
    new.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, new)
    return new


def _part(conversion: _Conversion, part: _Sum, cast: arith.SIToFPOp) -> SSAValue:
    """Inserts a part of a sum as floats, before the loops that leave it alone."""
    terms = [conversion.inputs[value] for value in part.factors]
    place: Operation = conversion.op
    loop = place.parent_op()
    while isinstance(loop, scf.ForOp) and not any(is_computed_in(v, loop) for v in terms):
        place, loop = loop, loop.parent_op()

    def build(builder: Builder, elements: list[SSAValue]) -> SSAValue:
        total: SSAValue | None = None
        for element, factor in zip(elements, part.factors.values()):
            if abs(factor) != 1 or (factor < 0 and total is None):
                number = builder.insert(arith.ConstantOp(IntegerAttr(factor, i32)))
                element = builder.insert(arith.MuliOp(element, number.result)).result
                factor = 1
            if total is not None:
                cls = arith.AddiOp if factor > 0 else arith.SubiOp
                element = builder.insert(cls(total, element)).result
            total = element
        assert total is not None
        if part.number:
            number = builder.insert(arith.ConstantOp(IntegerAttr(part.number, i32)))
            total = builder.insert(arith.AddiOp(total, number.result)).result
        return builder.insert(arith.SIToFPOp(total, f32)).result

    axes = axes_of(conversion.op.result.type)
    values = ValueBuilder(Builder(InsertPoint.before(place)), axes)
    return values.elementwise(terms, build, cast.location)


def _condition(kernel: tile.KernelOp, limits: dict[str, int], cast: arith.SIToFPOp) -> SSAValue:
    """Inserts at the start of a kernel whether sizes are within their limits."""
    first = kernel.body.block.first_op
    assert first is not None
    builder = Builder(InsertPoint.before(first))

    def insert(op: Operation) -> SSAValue:
        op.location = cast.location
        return builder.insert(op).results[0]

    result: SSAValue | None = None
    for label, limit in sorted(limits.items()):
        size = insert(tile.SizeOp(label))
        size.name_hint = f"{label}_size"
        most = insert(arith.ConstantOp(IntegerAttr(limit, IndexType())))
        fits = insert(arith.CmpiOp(size, most, "sle"))
        result = fits if result is None else insert(arith.AndIOp(result, fits))
    assert result is not None
    result.name_hint = "exact"
    return result


@dataclass(frozen=True)
class TileConvertTermsPass(ModulePass):
    """Converts the terms of a sum of integers to floats, not the sum.

    A conversion costs as much as several additions. `j - i` along two axes is converted once for
    each pair; its terms once for each index. The difference of the floats is the same where they
    are exact: integers up to 2^24. Kernels are compiled for their sizes, so that the comparison of
    sizes with this bound is known then, and the choice costs nothing. A kernel whose sizes are
    arguments is left alone. Absolute values and extremes of such sums follow.

    ```
    %f = tile.map (%a = %j, %b = %i) { arith.sitofp (arith.subi %a, %b) }
      ->
    %exact = %j_size <= 2^24 and %i_size <= 2^24
    %x = tile.map arith.sitofp %j
    %y = tile.map arith.sitofp %i
    %f = tile.map (%a = %j, %b = %i, %c = %x, %d = %y, %e = %exact) {
      arith.select %e, (arith.subf %c, %d), (arith.sitofp (arith.subi %a, %b))
    }
    ```
    """

    name = "tile-convert-terms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            convert_terms(kernel)
