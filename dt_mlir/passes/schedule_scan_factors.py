"""Products from each element of a sum to the index up to which it is scanned.

The sum of b(j) times the product of a(i) for j < i <= t, over j <= t, is h(t) = a(t) h(t-1) + b(t):
from one t to the next, all terms are multiplied by the same factor (Blelloch, Prefix Sums and Their
Applications, 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import add, dimension, multiply, number
from dt_mlir.traversal import captured_by

_PRODUCTS = (arith.MulfOp, arith.MuliOp)
_SUMS = (ReductionKind.ADD, ReductionKind.DOT)


@dataclass(frozen=True)
class Factor:
    """A product that each element of a sum has, up to the index of the scan."""

    op: loop.ReduceOp
    """The product, in the body of the sum."""
    shift: int
    """The index of the factor of a trip, relative to the trip's."""
    includes_own: bool
    """True if the newest element has the factor of its trip."""
    others: list[AffineExpr]
    """The other constraints of the product's domain."""


def find_factor(
    op: loop.ReduceOp, walked: SSAValue, shift: int, descending: bool
) -> Factor | None:
    """Returns the product through which alone the elements of a sum depend on an index.

    Args:
        op: a sum over all indices up to one, or from one on.
        walked: that index.
        shift: the last index that is reduced, or the first, relative to it.
        descending: whether indices from one on are reduced.
    """
    if op.named_kind not in _SUMS:
        return None
    found = [value for item in op.yielded for value in _factors_of(item, op)]
    moving = [value for value in found if depends([value], walked)]
    if len(moving) != 1 or not isinstance(moving[0].owner, loop.ReduceOp):
        return None
    product = moving[0].owner
    if product.kind is None or product.named_kind is not ReductionKind.MUL:
        return None
    if product.domain is None or product.parent_op() is not op:
        return None
    if any(depends(product.yielded, index) for index in (walked, op.iv)):
        return None
    bounds = list(product.bounds[: product.domain.data.num_dims - 1])
    if walked not in bounds or op.iv not in bounds:
        return None
    ends = (1 + bounds.index(walked), 1 + bounds.index(op.iv))
    constraints = [collected(expr) for expr in product.constraints]
    rest = [expr for expr in constraints if not expr.used_dims() & set(ends)]
    pair = [expr for expr in constraints if expr not in rest]
    sign = -1 if descending else 1
    for last in (0, -1):
        # The index of the product ends at that of the scan, and begins behind that of the sum.
        for first in (0, 1):
            upper = _distance(ends[0], 0, sign, last)
            lower = _distance(0, ends[1], sign, -first)
            if set(pair) == {upper, lower} and len(pair) == 2:
                own = last - sign * shift - first + 1
                if own not in (0, 1):
                    return None
                return Factor(product, sign * last, bool(own), rest)
    return None


def without(op: loop.ReduceOp, factor: Factor) -> loop.ReduceOp:
    """Returns a copy of a sum, in front of it, whose elements lack a product."""
    place = list(op.body.block.ops).index(factor.op)
    copy = op.clone()
    block = op.parent
    assert block is not None
    block.insert_op_before(copy, op)
    product = list(copy.body.block.ops)[place]
    result = product.results[0]
    for use in list(result.uses):
        user = use.operation
        if isinstance(user, _PRODUCTS):
            user.results[0].replace_all_uses_with(user.operands[1 - use.index])
            Rewriter.erase_op(user)
    if result.uses:
        one = arith.ConstantOp(identity(ReductionKind.MUL, result.type))
        one.location = op.location
        Rewriter.insert_op(one, InsertPoint.before(product))
        result.replace_all_uses_with(one.result)
    Rewriter.erase_op(product)
    return copy


def _distance(later: int, earlier: int, sign: int, shift: int) -> AffineExpr:
    """Returns by how much one dimension is behind another one, in the direction of a scan."""
    behind = add(dimension(later), multiply(dimension(earlier), number(-1)))
    return collected(add(multiply(behind, number(sign)), number(shift)))


def _factors_of(value: SSAValue, op: loop.ReduceOp) -> list[SSAValue]:
    """Returns the factors of an element."""
    owner = value.owner
    if isinstance(owner, _PRODUCTS) and owner.parent is op.body.block and _is_used_once(value):
        return [found for operand in owner.operands for found in _factors_of(operand, op)]
    return [value]


def _is_used_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def depends(values: Sequence[SSAValue], index: SSAValue) -> bool:
    """Returns whether some values depend on an index."""
    seen: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value is index:
            return True
        owner = value.owner
        if value in seen or not isinstance(owner, Operation):
            continue
        seen.add(value)
        pending += [*owner.operands, *captured_by(owner)]
    return False
