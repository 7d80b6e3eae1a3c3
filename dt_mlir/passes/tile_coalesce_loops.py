"""`tile-coalesce-loops`: makes one loop of nested ones around a product of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.indices import delinearized
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.traversal import operations_of


def _nest(outermost: scf.ForOp) -> list[scf.ForOp]:
    """Returns a loop and those that are all that the one before repeats, outermost first."""
    nest = [outermost]
    while (inner := _repeated_by(nest[-1])) is not None:
        if any(_is_inside(value, outermost) for value in (inner.lb, inner.ub, inner.step)):
            break
        nest.append(inner)
    return nest


def _repeated_by(outer: scf.ForOp) -> scf.ForOp | None:
    """Returns the loop that is all that another one repeats, but for arithmetic on indices."""
    *ops, end = outer.body.block.ops
    loops = [op for op in ops if isinstance(op, scf.ForOp)]
    if len(loops) != 1 or outer.attributes:
        return None
    inner = loops[0]
    if tuple(end.operands) != inner.results or inner.iter_args != outer.body.block.args[1:]:
        return None
    return inner if all(op is inner or _is_index_arithmetic(op) for op in ops) else None


def _is_inside(value: SSAValue, op: Operation) -> bool:
    """Returns whether a value is made in an operation and is not a constant."""
    owner = value.owner
    if constant_index(value) is not None:
        return False
    around = owner.parent_op() if isinstance(owner, Block) else owner
    return around is not None and op.is_ancestor(around)


def _is_index_arithmetic(op: Operation) -> bool:
    types = [element_of(value.type) for value in op.results]
    indices = all(isinstance(type, IndexType) or type == IntegerType(1) for type in types)
    return indices and is_side_effect_free(op)


def _in_front(value: SSAValue, index: IndexBuilder) -> SSAValue:
    """Returns a value as it is in front of a nest, where a constant may not be yet."""
    known = constant_index(value)
    return value if known is None else index.constant(known)


def coalesce(nest: Sequence[scf.ForOp]) -> None:
    """Makes one loop of a nest, which makes all trips of the innermost one."""
    outer, inner = nest[0], nest[-1]
    before = IndexBuilder(Builder(InsertPoint.before(outer)))
    bounds = [[_in_front(value, before) for value in (op.lb, op.ub, op.step)] for op in nest]
    counts = [before.ceil_div(before.sub(ub, lb), step) for lb, ub, step in bounds]
    total, zero, one = reduce(before.mul, counts), before.constant(0), before.constant(1)
    body = Block(arg_types=[IndexType(), *(value.type for value in outer.iter_args)])
    result = scf.ForOp(zero, total, one, outer.iter_args, Region(body))
    result.attributes.update(inner.attributes)
    result.location = inner.location
    Rewriter.insert_op(result, InsertPoint.before(outer))
    values = ValueBuilder(Builder(InsertPoint.at_end(body)), [])
    index = IndexBuilder(values.builder)
    body.args[0].name_hint = "trip"
    # A loop of one trip has no part in the count.
    several = [count for count in counts if constant_index(count) != 1]
    parts = iter(delinearized(values, body.args[0], several))
    trips = [index.constant(0) if constant_index(count) == 1 else next(parts) for count in counts]
    for op, (lb, _, step), trip in zip(nest, bounds, trips):
        iv, *carried = op.body.block.args
        start = index.add(lb, index.mul(trip, step))
        start.name_hint = iv.name_hint
        iv.replace_all_uses_with(start)
        for old, new in zip(carried, body.args[1:]):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
    for old, new in zip(outer.results, result.results):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in nest:
        for part in list(op.body.block.ops):
            if part not in nest and (op is inner or not isinstance(part, scf.YieldOp)):
                part.detach()
                body.add_op(part)
    Rewriter.erase_op(outer)


@dataclass(frozen=True)
class TileCoalesceLoopsPass(ModulePass):
    """Makes one loop of nested ones around a product of matrices.

    Triton overlaps the loads of a trip with the products of the trips before it, in one loop: an
    inner loop starts without loads under way, once for each trip of the loop around it. Loops
    become one where the outer one does nothing else, its accumulators are those of the inner one,
    and the inner one's range does not depend on it. As MLIR's `affine-loop-coalescing`.

    ```
    %0 = scf.for %r = … iter_args(%acc = %i) {      %0 = scf.for %trip = … iter_args(%acc = %i) {
      %1 = scf.for %k = … iter_args(%a = %acc) {      %r = %trip floordiv trips of k
        … tile.dot                               ->   %k = %trip mod trips of k
        scf.yield %2                                  … tile.dot
      scf.yield %1                                    scf.yield %2
    ```
    """

    name = "tile-coalesce-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            done: set[scf.ForOp] = set()
            for outer in operations_of(kernel, scf.ForOp):
                nest = [outer] if outer in done else _nest(outer)
                if len(nest) > 1 and operations_of(nest[-1], tile.DotOp):
                    done.update(nest)
                    coalesce(nest)
