"""Estimates how many points of a loop the conditions of its domain keep."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from xdsl.ir import Block
from xdsl.ir.affine import AffineExpr, AffineSymExpr

from dt_mlir.analysis.nests import loop_of
from dt_mlir.dialects import loop


def shares_of(op: loop.ReductionLoop, size: Callable[[str], int]) -> tuple[float, float]:
    """Estimates the part of a loop's points that its domain keeps, and the largest such part.

    Both are counted at some points, and the largest part over all of the loop's own for each
    combination of the others'. Bounds that are not indices or sizes, such as those that are inputs,
    keep all points.

    Args:
        op: the loop.
        size: returns the size of a label.
    """
    constraints = op.constraints
    if not constraints:
        return 1.0, 1.0
    assert op.domain is not None
    dims = op.domain.data.num_dims
    ranges: list[list[int]] = [_samples(size(op.label_name))]
    for value in op.bounds:
        owner = value.owner
        if isinstance(owner, loop.SizeOp):
            ranges.append([size(owner.label.data)])
        elif isinstance(owner, Block) and isinstance(owner.parent_op(), loop.LoopLike):
            # Were they the same points, too many would lie on a diagonal.
            ranges.append(_samples(size(loop_of(value).label_name), 13))
        else:
            ranges.append([])
    known = [
        expr for expr in constraints
        if all(ranges[dim] for dim in expr.used_dims())
        and all(ranges[dims + symbol] for symbol in _symbols(expr))
    ]  # fmt: skip
    own, *others = (found or [0] for found in ranges)
    kept: list[int] = []
    for other in product(*others):
        points = ((point, *other) for point in own)
        kept.append(sum(
            all(expr.eval(point[:dims], point[dims:]) >= 0 for expr in known) for point in points
        ))  # fmt: skip
    least = 0.01 * len(own)
    return max(sum(kept) / len(kept), least) / len(own), max(max(kept), least) / len(own)


def _samples(size: int, most: int = 12) -> list[int]:
    """Returns indices below a size, evenly spaced."""
    count = min(size, most)
    return [(2 * k + 1) * size // (2 * count) for k in range(count)] or [0]


def _symbols(expr: AffineExpr) -> set[int]:
    return {e.position for e in expr.dfs() if isinstance(e, AffineSymExpr)}
