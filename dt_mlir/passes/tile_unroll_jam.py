"""`tile-unroll-jam`: takes tiles apart, and writes out loops, so that both share loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.unrolled_loops import unrolled_trips
from dt_mlir.builders.cloning import clone_body
from dt_mlir.diagnostics import CompileError, has_location
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of, axis_names
from dt_mlir.passes.tile_unroll_jam_copies import Copies, Jam, operands_of
from dt_mlir.traversal import operations, operations_of

LEAST_OF_A_DOT = 16
"""The least number of rows and of columns of a matrix that tensor cores multiply at once."""

MOST_WRITTEN_OUT = 4096
"""The most operations that a loop is written out to; a longer one stays a loop."""


def jam_of(kernel: tile.KernelOp) -> Jam:
    """Returns the axes of a kernel that are taken apart, and what depends on their indices.

    Raises:
        CompileError: where a tile cannot be taken apart.
    """
    wanted = kernel.jam_factors
    ranges = operations_of(kernel, tile.RangeOp)
    same = DisjointSet([op.axis.name for op in ranges])
    for op in operations_of(kernel, tile.RenameOp):
        for old, new in zip(axis_names(op.value.type), axis_names(op.result.type)):
            same.union_left(old, new)
    # An axis that is renamed to one of a label is taken apart as that one is.
    found = {
        same.find(op.axis.name): wanted[op.label.data] for op in ranges if op.label.data in wanted
    }
    numbers = {first: number for number, first in enumerate(found)}
    groups = {
        op.axis.name: numbers[same.find(op.axis.name)]
        for op in ranges if same.find(op.axis.name) in found
    }  # fmt: skip
    factors = [*found.values()]
    for op in ranges:
        _check_divisible(op, factors[groups[op.axis.name]] if op.axis.name in groups else 1)
    return Jam(groups, factors, _followed(kernel, groups, factors))


def _check_divisible(op: tile.RangeOp, factor: int) -> None:
    """Checks that an axis has parts of one size.

    Raises:
        CompileError: if it has not.
    """
    extent = op.axis.extent
    if factor > 1 and (not isinstance(extent, int) or extent % factor):
        raise CompileError(
            f"the tile '{op.axis}' has no {factor} parts of one size", op,
            f"tensorize '{op.label.data}' in a multiple of {factor}",
        )  # fmt: skip


def _followed(
    kernel: tile.KernelOp, groups: Mapping[str, int], factors: Sequence[int]
) -> dict[SSAValue, frozenset[int]]:
    """Returns the groups of axes whose indices the values of a kernel depend on.

    Raises:
        CompileError: at an operation that cannot be copied for each tile.
    """
    found: dict[SSAValue, frozenset[int]] = {}
    none = frozenset[int]()

    def join(value: SSAValue, of: frozenset[int]) -> bool:
        before = found.get(value, none)
        found[value] = before | of
        return before != found[value]

    ops = [op for op in operations(kernel) if not isinstance(op.parent_op(), tile.MapOp)]
    changed = True
    while changed:
        changed = False
        for op in ops:
            read = none.union(*(found.get(value, none) for value in operands_of(op)))
            match op:
                case tile.RangeOp() if op.axis.name in groups:
                    changed |= join(op.result, frozenset({groups[op.axis.name]}))
                case scf.ForOp():
                    for arg, init, result in zip(
                        op.body.block.args[1:], op.iter_args, op.results
                    ):
                        changed |= join(arg, found.get(init, none))
                        changed |= join(result, found.get(arg, none))
                case tile.ReduceOp() if op.axis.data in groups:
                    changed |= join(op.result, read - {groups[op.axis.data]})
                case scf.YieldOp():
                    loop = op.parent_op()
                    args = loop.body.block.args[1:] if isinstance(loop, scf.ForOp) else ()
                    for arg, value in zip(args, op.operands):
                        changed |= join(arg, found.get(value, none))
                case _:
                    for result in op.results:
                        changed |= join(result, read)
    for op in ops:
        _check_combined(op, groups)
        _check_nested(op, found)
        if isinstance(op, tile.DotOp):
            _check_dot(op, groups, factors)
    return found


def _check_combined(op: Operation, groups: Mapping[str, int]) -> None:
    """Checks that an operation does not combine elements along an axis, but for a reduction.

    Raises:
        CompileError: if it does.
    """
    combined: str | None = None
    if isinstance(op, tile.ArgReduceOp | tile.ScanOp):
        combined = op.axis.data
    elif isinstance(op, tile.DotOp):
        combined = axis_names(op.lhs.type)[-1]
    if combined in groups:
        raise CompileError(
            f"'{op.name}' combines the elements along '{combined}', which are taken apart", op,
            "leave the label out of unroll_jam",
        )


def _check_nested(op: Operation, followed: Mapping[SSAValue, frozenset[int]]) -> None:
    """Checks that only loops and maps have regions that read a tile that is taken apart.

    Raises:
        CompileError: at any other operation with such a region.
    """
    if not op.regions or isinstance(op, scf.ForOp | tile.MapOp | tile.KernelOp):
        return
    if any(followed.get(value) for inner in operations(op) for value in inner.operands):
        raise CompileError(
            f"'{op.name}' reads a tile that is taken apart, and its region cannot be copied", op,
            "leave the label out of unroll_jam",
        )


def _check_dot(op: tile.DotOp, groups: Mapping[str, int], factors: Sequence[int]) -> None:
    """Checks that a product of matrices keeps the rows and columns that tensor cores take.

    Raises:
        CompileError: if it does not.
    """
    for axis in axes_of(op.result.type)[-2:]:
        if axis.name not in groups or not isinstance(axis.extent, int):
            continue
        left = axis.extent // factors[groups[axis.name]]
        if left < LEAST_OF_A_DOT <= axis.extent:
            raise CompileError(
                f"a product of matrices would have {left} elements along '{axis.name}', fewer "
                f"than the {LEAST_OF_A_DOT} that tensor cores multiply at once", op,
                f"leave {LEAST_OF_A_DOT} or more in unroll_jam",
            )  # fmt: skip


def _write_out(kernel: tile.KernelOp) -> None:
    """Writes out the loops that are unrolled whole and hold what is taken apart."""
    followed = jam_of(kernel).followed
    for op in reversed(operations_of(kernel, scf.ForOp)):
        trips, inside = unrolled_trips(op), operations(op)
        if trips is None or len(inside) * len(trips) > MOST_WRITTEN_OUT:
            continue
        if any(followed.get(value) for inner in inside for value in inner.operands):
            write_out(op, trips)


def write_out(op: scf.ForOp, trips: range) -> None:
    """Replaces a loop by a copy of its body for each of its trips.

    Args:
        op: the loop.
        trips: the indices of its trips.
    """
    builder = Builder(InsertPoint.before(op))
    index, *args = op.body.block.args
    end = op.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    carried: list[SSAValue] = list(op.iter_args)
    for trip in trips:
        number = builder.insert(arith.ConstantOp(IntegerAttr(trip, IndexType())))
        number.location = op.location
        found = clone_body(
            op.body.block, builder, {index: number.result, **dict(zip(args, carried))}
        )
        carried = [found.get(value, value) for value in end.operands]
    for old, new in zip(op.results, carried):
        old.replace_all_uses_with(new)
        new.name_hint = old.name_hint
    Rewriter.erase_op(op)


@dataclass(frozen=True)
class TileUnrollJamPass(ModulePass):
    """Takes tiles apart into interleaved tiles, and loads once what several of them need.

    The kernel's `unroll_jam` names the labels. Each operation that depends on their indices is
    there once for each tile; copies that compute the same are one, since sums of indices have one
    form. Loops that are unrolled by all their trips, and hold such operations, are written out
    first, so that what their trips load alike is loaded once, too. MLIR:
    `affine-loop-unroll-jam`.

    ```
    %x = tile.range x: 16 from %o to %n      %x = tile.range x: 8 from %o to %n step 2
    %a = tile.load %A[%x]                ->  %x_1 = tile.map arith.addi %x, 1
    tile.store %a, %f[%x]                    %a = tile.load %A[%x]
                                             %a_1 = tile.load %A[%x_1] masked [%x_mask] pad 0.0
                                             tile.store %a, %f[%x]
                                             tile.store %a_1, %f[%x_1] masked [%x_mask]
    ```
    """

    name = "tile-unroll-jam"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if not kernel.jam_factors:
                continue
            _write_out(kernel)
            # Several loops may step along one axis.
            order = {
                inner.axis.name: inner.axis for inner in operations(kernel)
                if isinstance(inner, tile.RangeOp | tile.JoinedRangeOp)
            }
            Copies(jam_of(kernel), list(order.values())).kernel(kernel)
            kernel.unroll_jam = None
            for inner in operations(kernel):
                if not has_location(inner):
                    inner.location = kernel.location
