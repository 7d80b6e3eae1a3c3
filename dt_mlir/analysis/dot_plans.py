"""Plans products of matrices for Triton's dot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from dt_mlir.analysis.nests import loops_in, reduction_nests, write_to
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import Axis
from dt_mlir.traversal import operations_of

_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float8E4M3FNType, Float8E5M2Type)


def is_dottable(type: Attribute) -> bool:
    """Returns whether Triton's dot multiplies operands of an element type."""
    return isinstance(type, _FLOATS) or type == IntegerType(8)


def dot_operand_bits(type: Attribute) -> int:
    """Returns the width of an element type in bits."""
    if isinstance(type, AnyFloat):
        return type.bitwidth
    assert isinstance(type, IntegerType)
    return type.width.data


@dataclass(frozen=True)
class DotPlan:
    """The axes of a product of matrices on tiles."""

    batch: tuple[Axis, ...]
    rows: Axis
    columns: Axis
    depth: Axis
    swapped: bool
    """True if the second operand is the left matrix, so that the result's axes are in order."""


class NoDot(NamedTuple):
    """Why Triton's dot cannot carry out a product."""

    reason: str
    hint: str
    """The change after which it can."""


def least_depth(bits: int) -> int:
    """Returns the least depth of Triton's dot for operands of a width in bits."""
    return 32 if bits <= 8 else 16


def planned_axes(
    kernel: loop.KernelOp, same: dict[str, str], fixed: dict[str, int]
) -> TileAxes:
    """Returns the axes of a kernel's tiled loops; those of a dot's rows, or depth, are one axis.

    A product over tiles of several labels is one dot, as deep as its tile has points. So are the
    rows of a product which several tiled labels of one factor alone number: one axis has the points
    of their box.

    Args:
        kernel: a kernel of the `loop` level.
        same: for a label the first of the labels that have its size.
        fixed: the sizes of labels that the program is compiled for.
    """
    axes = TileAxes(kernel, same, fixed)
    products = _products(kernel)
    nests = {nest[-1]: nest for nest in reduction_nests(kernel)}
    for product in products:
        nest = nests.get(product, []) if isinstance(product, loop.ReduceOp) else []
        depth = _depth(nest, axes)
        sides = [side for side in _sides(product, axes) if _is_box(side, product, axes)]
        for groups in ([depth, *sides], sides, [depth]):
            if _join_all([group for group in groups if group], product, products, axes):
                break
    return axes


def _join_all(
    groups: Sequence[Sequence[loop.LoopLike]],
    product: loop.ReduceOp | loop.RunningOp,
    products: Sequence[loop.ReduceOp | loop.RunningOp],
    axes: TileAxes,
) -> bool:
    """Joins groups of loops if that makes a product a dot, and leaves others what they are."""
    if any(_takes_apart(group, op, axes) for group in groups for op in products):
        return False
    were = [op for op in products if isinstance(plan_dot(op, axes), DotPlan)]
    for group in groups:
        # Points that follow each other are neighbours in memory where those of a label are.
        axes.join(group, sorted(group, key=_distance, reverse=True))
    if all(isinstance(plan_dot(op, axes), DotPlan) for op in (product, *were)):
        return True
    for group in groups:
        axes.separate(group)
    return False


def _takes_apart(
    group: Sequence[loop.LoopLike], product: loop.ReduceOp | loop.RunningOp, axes: TileAxes
) -> bool:
    """Returns whether a factor of a product depends on some of a group's loops only."""
    found = [{*group} & axes.of(term) for term in _terms(product)]
    return any(0 < len(part) < len(group) for part in found)


def _depth(nest: Sequence[loop.ReduceOp], axes: TileAxes) -> list[loop.LoopLike]:
    """Returns the tiled loops of a product's nest whose points are its depth; none if it is one."""
    if not nest or any(op.domain is not None for op in nest):
        return []
    found: list[loop.LoopLike] = [
        op for op in nest if _is_joinable(op, nest[-1].yielded, axes)
    ]
    return found if len(found) > 1 and found[-1] is nest[-1] else []


def _products(kernel: loop.KernelOp) -> list[loop.ReduceOp | loop.RunningOp]:
    """Returns the products of a kernel, those of running sums too."""
    reductions = operations_of(kernel, loop.ReduceOp)
    found: list[loop.ReduceOp | loop.RunningOp] = [op for op in reductions if op.is_dot]
    running = operations_of(kernel, loop.RunningOp)
    return [*found, *(op for op in running if op.kind.data is ReductionKind.DOT)]


def _sides(
    product: loop.ReduceOp | loop.RunningOp, axes: TileAxes
) -> list[list[loop.LoopLike]]:
    """Returns the tiled loops that one factor of a product alone depends on, for each factor."""
    left, right = (axes.of(value) for value in _terms(product))
    return [[op for op in axes.loops if op in alone] for alone in (left - right, right - left)]


def _terms(product: loop.ReduceOp | loop.RunningOp) -> Sequence[SSAValue]:
    return product.yielded if isinstance(product, loop.ReduceOp) else product.terms


def _is_box(
    side: Sequence[loop.LoopLike], product: loop.ReduceOp | loop.RunningOp, axes: TileAxes
) -> bool:
    """Returns whether the points of several loops may be the rows, or columns, of a product."""
    if len(axes.axes(frozenset(side))) < 2:
        return False
    nested = all(a.is_ancestor(b) for a, b in pairwise(side))
    plain = all(isinstance(op, loop.ForOp) and not loop.prefixes_of(op) for op in side)
    if not nested or not plain or any(op in axes.joined for op in side):
        return False
    if not all(_has_known_tile(op, axes) and not _buffered(op) for op in side):
        return False
    # What the loops hold is all in the innermost one, which has the indices of all.
    uses = (use.operation for op in side for use in op.iv.uses)
    return all(side[-1].is_ancestor(user) for user in uses)


def _distance(op: loop.LoopLike) -> int:
    """Returns how many axes of a tensor are faster than the one that a loop walks, at the least."""
    places: list[int] = []
    for use in op.iv.uses:
        user = use.operation
        if isinstance(user, loop.AccessOp):
            indices = user.map.data.results
            dims = [dim for dim, value in enumerate(user.indices) if value is op.iv]
            places += [
                len(indices) - 1 - place
                for place, index in enumerate(indices)
                if any(dim in index.used_dims() for dim in dims)
            ]
    return min(places, default=0)


def _is_joinable(op: loop.LoopLike, terms: Sequence[SSAValue], axes: TileAxes) -> bool:
    """Returns whether a loop's tile may be a part of a product's depth."""
    if not _has_known_tile(op, axes) or not all(op in axes.of(value) for value in terms):
        return False
    # A buffer that is read along the axis has an axis of its own there.
    return not any(
        theirs is op
        for read in _buffered(op)
        if isinstance(read, loop.ReadOp)
        for _, theirs in axes.renaming(write_to(read.base), read)
    )


def _has_known_tile(op: loop.LoopLike, axes: TileAxes) -> bool:
    return op.is_tile and isinstance(axes.loops[op].extent, int)


def _buffered(op: loop.LoopLike) -> list[loop.AccessOp]:
    """Returns the accesses of local buffers along a loop."""
    found = [use.operation for use in op.iv.uses if isinstance(use.operation, loop.AccessOp)]
    return [access for access in found if isinstance(access.base.owner, loop.LocalOp)]


def plan_dot(product: loop.ReduceOp | loop.RunningOp, axes: TileAxes) -> DotPlan | NoDot:
    """Returns a plan for a product, or why Triton's dot cannot carry it out.

    Args:
        product: a `dot` reduction, running or not.
        axes: the axes of its kernel.
    """
    op: loop.ReductionLoop = product if isinstance(product, loop.ReduceOp) else product.loop
    terms = _terms(product)
    label, element = op.label_name, terms[0].type
    least = least_depth(dot_operand_bits(element))
    if not op.is_tile:
        return NoDot(f"the loop over '{label}' is not tiled", f"tile '{label}' by {least} or more")
    if not is_dottable(element):
        return NoDot(
            f"Triton's dot does not multiply elements of {element}",
            "cast the factors, or tile less",
        )
    left, right = (axes.of(value) for value in terms)
    if op not in left or op not in right:
        return NoDot(
            f"one factor does not depend on '{label}'", f"sum the other one over '{label}' first"
        )
    rows, columns = axes.axes(left - right), axes.axes(right - left)
    for found in (rows, columns):
        if len(found) != 1:
            return NoDot(
                f"the labels of one factor alone that are tiled are {_shown(found)}",
                "fuse them, tile one of them, or leave unfused what is held in a buffer along them",
            )
    batch = axes.axes((left & right).difference(axes.depth(op)))
    if len(batch) > 1:
        around = (left & right) - {op}
        summed = any(isinstance(outer, loop.ReductionLoop) for outer in around)
        deeper = summed and axes.loops[op].is_symbolic
        return NoDot(
            f"{_shown(batch)} are tiled, and both factors have them",
            f"tile '{label}' by a number, for one dot to sum over all"
            if deeper
            else "fuse them, or tile one of them",
        )
    depth = axes.loops[op]
    if isinstance(depth.extent, int) and depth.extent < least:
        return NoDot(
            f"a tile of '{label}' has {depth.extent} elements, and a dot of {element} takes "
            f"{least} or more",
            f"tile '{label}' by {least} or more",
        )
    if not _is_separable(product, axes, (left, right)):
        return NoDot(
            "its conditions are not each on the labels of one factor",
            "make what has such a condition a reduction of its own",
        )
    inner = _inner_loop(product)
    if inner is not None:
        return NoDot(
            "it has conditions, and each of its elements is computed by a loop over "
            f"'{inner.label_name}'",
            f"write {op.function_name}.online({label}), or leave unfused what has the loop",
        )
    if len({*batch, rows[0], columns[0], depth}) < len(batch) + 3:
        return NoDot(
            "several of its labels are tiled together, as rows of another product",
            "compute it in a function of its own",
        )
    order = axes.order
    swapped = order.index(rows[0]) > order.index(columns[0])
    if swapped:
        rows, columns = columns, rows
    return DotPlan(tuple(batch), rows[0], columns[0], depth, swapped)


def _inner_loop(product: loop.ReduceOp | loop.RunningOp) -> loop.LoopLike | None:
    """Returns a loop in that of a product with a domain, whose steps are taken apart.

    The elements of a running product are taken from its tiles.
    """
    if isinstance(product, loop.RunningOp) or product.domain is None:
        return None
    return next((inner for inner in loops_in(product) if inner is not product), None)


def _is_separable(
    product: loop.ReduceOp | loop.RunningOp,
    axes: TileAxes,
    factors: Sequence[frozenset[loop.LoopLike]],
) -> bool:
    """Returns whether each constraint of a domain is one on the indices of one factor."""
    op = product.loop if isinstance(product, loop.RunningOp) else product
    needs = [loops_of_constraint(op, expr, axes) for expr in op.constraints]
    return all(any(need <= factor for factor in factors) for need in needs)


def loops_of_constraint(
    op: loop.ReductionLoop, expr: AffineExpr, axes: TileAxes
) -> frozenset[loop.LoopLike]:
    """Returns the tiled loops around a reduction that a constraint of its domain depends on."""
    values = [op.bounds[dim - 1] for dim in expr.used_dims() if dim]
    return frozenset[loop.LoopLike]().union(*map(axes.of, values))


def _shown(axes: Sequence[Axis]) -> str:
    return ", ".join(f"'{axis.name}'" for axis in axes) or "none"
