"""Prints the expressions of sizes that follow from others, and of the ranges of indices."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.scalars import constant_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.index_ranges import collected, is_never_negative
from dt_mlir.dialects.indices import add, fold, subtract
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.traversal import operations


def size_expression(map: AffineMap, sizes: Sequence[ast.expr]) -> ast.expr:
    """Returns a size as a Python expression of others; the least of several.

    Args:
        map: the expressions.
        sizes: an expression for each symbol.
    """
    results = [_expression(expr, sizes) for expr in map.results]
    return results[0] if len(results) == 1 else code.call("min", *results)


def _expression(expr: AffineExpr, sizes: Sequence[ast.expr]) -> ast.expr:
    def leaf(part: AffineExpr) -> ast.expr:
        match part:
            case AffineConstantExpr(value):
                return code.constant(value)
            case AffineSymExpr(position):
                return sizes[position]
            case _:
                raise AssertionError(f"no text for {part}")

    return fold(expr, leaf, lambda operator, a, b, _: code.binary(operator, a, b))


def bounded_range(
    expr: AffineExpr,
    constraints: Sequence[AffineExpr],
    dims: Sequence[ast.expr],
    sizes: Sequence[ast.expr],
) -> tuple[ast.expr, ast.expr]:
    """Returns the ends of the interval of an index where others are not negative.

    Args:
        expr: the index.
        constraints: the expressions that are not negative.
        dims: the number of indices of each dimension.
        sizes: an expression for each symbol.
    """
    least, most = range_expressions(expr, dims, sizes)
    if not constraints:
        return least, most
    below = [range_expressions(subtract(expr, c), dims, sizes)[0] for c in constraints]
    above = [range_expressions(add(expr, c), dims, sizes)[1] for c in constraints]
    return code.call("max", least, *below), code.call("min", most, *above)


def range_expressions(
    expr: AffineExpr, dims: Sequence[ast.expr], sizes: Sequence[ast.expr]
) -> tuple[ast.expr, ast.expr]:
    """Returns the ends of the interval of an index as Python expressions (`index_range`).

    Args:
        expr: the index.
        dims: the number of indices of each dimension.
        sizes: an expression for each symbol.
    """
    expr = collected(expr)
    match expr:
        case AffineDimExpr(position):
            return code.constant(0), _plus(dims[position], -1)
        case AffineBinaryOpExpr(kind, left, right):
            a = range_expressions(left, dims, sizes)
            b = range_expressions(right, dims, sizes)
            return _combined(kind, left, right, a, b)
        case _:
            found = _expression(expr, sizes)
            return found, found


def _combined(
    kind: AffineBinaryOpKind,
    left: AffineExpr,
    right: AffineExpr,
    a: tuple[ast.expr, ast.expr],
    b: tuple[ast.expr, ast.expr],
) -> tuple[ast.expr, ast.expr]:
    match kind:
        case AffineBinaryOpKind.Add:
            return _added(a[0], b[0]), _added(a[1], b[1])
        case AffineBinaryOpKind.Mul:
            if isinstance(right, AffineConstantExpr):
                ends = [_times(end, right.value) for end in a]
                return (ends[0], ends[1]) if right.value >= 0 else (ends[1], ends[0])
            if is_never_negative(right) and is_never_negative(left):
                return code.binary("*", a[0], b[0]), code.binary("*", a[1], b[1])
            products = [code.binary("*", x, y) for x in a for y in b]
            return code.call("min", *products), code.call("max", *products)
        case AffineBinaryOpKind.FloorDiv:
            return code.binary("//", a[0], b[0]), code.binary("//", a[1], b[0])
        case _:
            last = _plus(b[0], -1)
            if is_never_negative(left):
                last = code.call("min", a[1], last)
            return code.constant(0), last


def _number(expr: ast.expr) -> int | None:
    return expr.value if isinstance(expr, ast.Constant) and isinstance(expr.value, int) else None


def _plus(expr: ast.expr, value: int) -> ast.expr:
    known = _number(expr)
    if known is not None:
        return code.constant(known + value)
    sign = "+" if value > 0 else "-"
    return expr if value == 0 else code.binary(sign, expr, code.constant(abs(value)))


def _added(left: ast.expr, right: ast.expr) -> ast.expr:
    for one, other in ((left, right), (right, left)):
        known = _number(one)
        if known is not None:
            return _plus(other, known)
    return code.binary("+", left, right)


def _times(expr: ast.expr, factor: int) -> ast.expr:
    known = _number(expr)
    if known is not None:
        return code.constant(known * factor)
    return expr if factor == 1 else code.binary("*", code.constant(factor), expr)


class Reach(NamedTuple):
    """A bound of an index: a multiple of the largest size, and a number."""

    factor: int
    offset: int


_SIZE = Reach(1, 0)
_USERS = (tile.LoadOp, tile.StoreOp, arith.CmpiOp, tile.MapOp, tile.YieldOp)
"""The operations whose operands are indices that must not wrap."""
SMALL_OFFSET = 2**16
"""Numbers below it do not matter beside what tiles reach beyond their labels."""


def reach_of(kernel: GridKernelOp) -> Reach | None:
    """Returns a bound of all indices of a kernel, and of the steps on the way to them.

    None if there is none, as for an index that is multiplied by a size.
    """
    known: dict[SSAValue, Reach | None] = {}
    found = _SIZE
    for op in operations(kernel):
        if isinstance(op, arith.IndexCastOp) and _is_bound(op):
            # What a loop's ends are computed from is added to what it is clamped to.
            reach = _clamped_reach(op.input, known)
            if reach is None:
                return None
            found = Reach(*(max(a, 2 * b) for a, b in zip(found, reach)))
        if not isinstance(op, _USERS):
            continue
        roots = [v for v in op.operands if _is_index(v)]
        if isinstance(op, tile.MapOp):
            for arg, operand in zip(op.body.block.args, op.inputs):
                known[arg] = _reach(operand, known)
        for value in roots:
            reach = _reach(value, known)
            if reach is None:
                return None
            found = Reach(*map(max, found, reach))
    return found


def _reach(value: SSAValue, known: dict[SSAValue, Reach | None]) -> Reach | None:
    if value not in known:
        known[value] = _computed_reach(value, known)
    return known[value]


def _computed_reach(value: SSAValue, known: dict[SSAValue, Reach | None]) -> Reach | None:
    owner, constant = value.owner, constant_of(value)
    if constant is not None:
        return Reach(0, abs(int(constant.value.data)))
    match owner:
        case arith.AddiOp() | arith.SubiOp():
            left, right = _reach(owner.lhs, known), _reach(owner.rhs, known)
            if left is None or right is None:
                return None
            return Reach(left.factor + right.factor, left.offset + right.offset)
        case arith.MuliOp():
            return _product_reach(owner, known)
        case arith.DivSIOp() | arith.RemSIOp():
            # A divisor is at least 1, and no step is beyond what is divided or the divisor.
            left, right = _reach(owner.lhs, known), _reach(owner.rhs, known)
            return None if left is None or right is None else Reach(*map(max, left, right))
        case arith.MinSIOp() | arith.MaxSIOp():
            left, right = _reach(owner.lhs, known), _reach(owner.rhs, known)
            return None if left is None or right is None else Reach(*map(max, left, right))
        case tile.MapOp():
            return _reach(owner.yielded, known)
        case arith.IndexCastOp():
            return _clamped_reach(owner.input, known)
        case _:
            # A range, a loop's index, a size or a block is about as large as a size.
            return _SIZE


def _is_bound(op: arith.IndexCastOp) -> bool:
    """Returns whether an index is an integer that is clamped between two other indices."""
    above = op.input.owner
    below = above.lhs.owner if isinstance(above, arith.MinSIOp) else None
    return (
        isinstance(above, arith.MinSIOp)
        and isinstance(below, arith.MaxSIOp)
        and all(isinstance(end.owner, arith.IndexCastOp) for end in (above.rhs, below.rhs))
    )


def _clamped_reach(value: SSAValue, known: dict[SSAValue, Reach | None]) -> Reach | None:
    """Returns a bound of an integer that becomes an index, and of what it is clamped to."""
    match value.owner:
        case arith.MinSIOp() | arith.MaxSIOp():
            left, right = (
                _clamped_reach(operand, known) for operand in (value.owner.lhs, value.owner.rhs)
            )
            return None if left is None or right is None else Reach(*map(max, left, right))
        case arith.IndexCastOp(input=index) if _is_index(index):
            return _reach(index, known)
        case _:
            # Data is clamped to its axis, or to what an index can be.
            return Reach(2, 2)


def _product_reach(op: arith.MuliOp, known: dict[SSAValue, Reach | None]) -> Reach | None:
    left, right = _reach(op.lhs, known), _reach(op.rhs, known)
    if left is None or right is None:
        return None
    for one, other in ((left, right), (right, left)):
        if not one.factor:
            return Reach(other.factor * one.offset, other.offset * one.offset)
    # The walk over the grid multiplies numbers of blocks, which all programs share.
    inside = isinstance(op.parent_op(), tile.MapOp)
    return None if inside or any(map(_differs, op.operands)) else _SIZE


def _differs(value: SSAValue) -> bool:
    """Returns whether a scalar depends on the program or on the index of a loop."""
    owner = value.owner
    if isinstance(owner, Block):
        return not isinstance(owner.parent_op(), GridKernelOp)
    return isinstance(owner, tile.ProgramIdOp) or any(map(_differs, owner.operands))


def _is_index(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), IndexType)
