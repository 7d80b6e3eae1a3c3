"""Prints the expressions of sizes that follow from others, and of the ranges of indices."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
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
from dt_mlir.dialects.indices import add, negated_term, subtract
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.traversal import operations_of

_OPERATORS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "%",
}


def size_expression(map: AffineMap, sizes: Sequence[ast.expr]) -> ast.expr:
    """Returns a size as a Python expression of others; the least of several.

    Args:
        map: the expressions.
        sizes: an expression for each symbol.
    """
    results = [_expression(expr, sizes) for expr in map.results]
    return results[0] if len(results) == 1 else code.call("min", *results)


def _expression(expr: AffineExpr, sizes: Sequence[ast.expr]) -> ast.expr:
    match expr:
        case AffineConstantExpr(value):
            return code.constant(value)
        case AffineSymExpr(position):
            return sizes[position]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            return _sum(_expression(left, sizes), right, _expression(right, sizes), sizes)
        case AffineBinaryOpExpr(kind, left, right):
            operands = _expression(left, sizes), _expression(right, sizes)
            return code.binary(_OPERATORS[kind], *operands)
        case _:
            raise AssertionError(f"no text for {expr}")


def _sum(
    left: ast.expr, term: AffineExpr, right: ast.expr, sizes: Sequence[ast.expr]
) -> ast.expr:
    negated = negated_term(term)
    if negated is None:
        return code.binary("+", left, right)
    return code.binary("-", left, _expression(negated, sizes))


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


def largest_factor(kernel: tile.KernelOp) -> int | None:
    """Returns how many times the largest size the indices of a kernel may become on their way.

    None if no number bounds it, as for an index that is multiplied by a size.
    """
    factors: dict[SSAValue, int | None] = {}

    def factor(value: SSAValue) -> int | None:
        if value in factors:
            return factors[value]
        known = constant_of(value)
        owner = value.owner
        result: int | None = 1
        if known is not None:
            result = 1
        elif isinstance(owner, arith.MuliOp):
            number = constant_of(owner.rhs) or constant_of(owner.lhs)
            inner = factor(owner.lhs if constant_of(owner.rhs) is not None else owner.rhs)
            if number is None or inner is None:
                result = None
            else:
                result = inner * abs(int(number.value.data))
        elif isinstance(owner, arith.AddiOp | arith.SubiOp):
            sides = [factor(owner.lhs), factor(owner.rhs)]
            result = None if None in sides else sum(side or 0 for side in sides)
        elif isinstance(owner, tile.MapOp):
            result = factor(owner.yielded)
        elif not isinstance(owner, arith.ConstantOp) and hasattr(owner, "operands"):
            inner_factors = [factor(v) for v in owner.operands if _is_index(v)]  # pyright: ignore
            result = None if None in inner_factors else max(
                [1, *(f for f in inner_factors if f is not None)]
            )
        factors[value] = result
        return result

    found = 1
    for op in operations_of(kernel, tile.MapOp):
        if not _is_index(op.result):
            continue
        for arg, operand in zip(op.body.block.args, op.inputs):
            factors[arg] = factor(operand) if _is_index(operand) else 1
        result = factor(op.yielded)
        if result is None:
            return None
        found = max(found, result)
    return found


def _is_index(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), IndexType)
