"""`tile-hoist-reductions`: reduces once after a loop, not in each of its steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.reductions import combination, combine
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.diagnostics import give_locations
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import identity
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.traversal import operations_of

MOST_REGISTERS = 32
"""The most 32-bit registers of a thread that a tile of partial results may take."""
DEFAULT_WARPS = 4
"""Triton's own."""


class _Step(NamedTuple):
    """The combination of a loop-carried value with a tile that the loop reduces."""

    number: int
    """The number of the loop-carried value."""
    reduction: tile.ReduceOp
    combination: Operation


def _step(loop: scf.ForOp, number: int) -> _Step | None:
    """The step of a loop's value, if a combination with a reduced tile is all that it is."""
    last = loop.body.block.last_op
    assert last is not None
    carried, result = loop.body.block.args[number + 1], last.operands[number]
    op = result.owner
    if isinstance(op, Block) or len(list(carried.uses)) != 1 or len(list(result.uses)) != 1:
        return None
    others = [value for value in op.operands if value is not carried]
    if carried not in op.operands or len(others) != 1:
        return None
    reduction = others[0].owner
    if (
        not isinstance(reduction, tile.ReduceOp)
        or reduction.parent is not loop.body.block
        or op.parent is not loop.body.block
        or len(list(reduction.result.uses)) != 1
        or reduction.result.type != carried.type
        or not _combines(op, reduction)
    ):
        return None
    return _Step(number, reduction, op)


def _combines(op: Operation, reduction: tile.ReduceOp) -> bool:
    """Returns whether an operation combines two values as a reduction combines elements."""
    if isinstance(op, tile.MapOp):
        block = op.body.block
        inner = list(block.ops)
        if len(inner) != 2 or len(block.args) != 2 or {*inner[0].operands} != {*block.args}:
            return False
        op = inner[0]
    kind = reduction.kind.data
    return isinstance(op, combination(kind, element_of(reduction.result.type)))


def _fits(reduction: tile.ReduceOp, threads: int) -> bool:
    """Returns whether the threads' registers can hold a tile of partial results."""
    type = reduction.value.type
    axes = axes_of(type)
    if any(axis.is_symbolic for axis in axes):
        return False
    elements = math.prod(int(axis.extent) for axis in axes)
    element = element_of(type)
    assert isinstance(element, AnyFloat | IntegerType)
    return elements * max(32, element.bitwidth) <= 32 * MOST_REGISTERS * threads


def _is_identity(value: SSAValue, reduction: tile.ReduceOp) -> bool:
    """Returns whether a value is what a reduction starts from."""
    owner = value.owner
    if isinstance(owner, tile.FillOp):
        owner = owner.value.owner
    start = identity(reduction.kind.data, element_of(value.type))
    return isinstance(owner, arith.ConstantOp) and owner.value == start


def _hoist(loop: scf.ForOp, step: _Step) -> scf.ForOp:
    """Carry a tile of partial results through a loop, and reduce it behind the loop."""
    number, reduction, op = step
    kind, value = reduction.kind.data, reduction.value
    axes = axes_of(value.type)
    start = loop.iter_args[number]

    before = ValueBuilder(Builder(InsertPoint.before(loop)), axes)
    filled = before.fill(identity(kind, element_of(value.type)), axes)

    inside = ValueBuilder(Builder(InsertPoint.before(op)), axes)
    carried = loop.body.block.args[number + 1]
    hint = carried.name_hint
    carried = Rewriter.replace_value_with_new_type(carried, value.type)
    partial = inside.elementwise(
        [carried, value], lambda builder, pair: combine(builder, kind, *pair), op.location
    )
    partial.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(partial)
    for old in (op, reduction):
        Rewriter.erase_op(old)

    inits = list(loop.iter_args)
    inits[number] = filled
    body = loop.detach_region(loop.body)
    new = scf.ForOp(loop.lb, loop.ub, loop.step, inits, body)
    new.attributes |= loop.attributes
    new.location = loop.location
    after = ValueBuilder(Builder(InsertPoint.after(loop)), axes)
    after.builder.insert(new)
    reduced = tile.ReduceOp(kind, new.results[number], reduction.axis.data)
    reduced.location = reduction.location
    after.builder.insert(reduced)
    total: SSAValue = reduced.result
    if not _is_identity(start, reduction):
        total = after.elementwise(
            [start, total], lambda builder, pair: combine(builder, kind, *pair), op.location
        )
    total.name_hint = loop.results[number].name_hint
    for i, result in enumerate(loop.results):
        new.results[i].name_hint = hint if i == number else result.name_hint
        result.replace_all_uses_with(total if i == number else new.results[i])
    Rewriter.erase_op(loop)
    return new


def hoist_reductions(kernel: tile.KernelOp) -> None:
    """Hoist the reductions of a kernel's loops, those of inner loops first.

    What that leaves behind an inner loop is a step of the outer one, if that sums it up.
    """
    threads = 32 * (kernel.int_hint("num_warps") or DEFAULT_WARPS)
    loops = operations_of(kernel, scf.ForOp)
    for loop in reversed(loops):
        if operations_of(loop, tile.DotOp):
            # The accumulators and the operands of a dot need the registers.
            continue
        number = 0
        while number < len(loop.iter_args):
            step = _step(loop, number)
            if step is None or not _fits(step.reduction, threads):
                number += 1
            else:
                # A reduction along several axes is hoisted axis by axis.
                loop = _hoist(loop, step)


@dataclass(frozen=True)
class TileHoistReductionsPass(ModulePass):
    """Reduces once after a loop, not in each of its steps.

    A loop that sums up sums of tiles adds the tiles, and the tile that comes of it is summed: the
    threads meet once. This is MLIR's partial reduction (`tile_reduction_using_for`) and Halide's
    `rfactor`. A tile of partial results that takes a thread more than 32 registers is not made, nor
    is one in a loop with a dot.

    ```
    %s = scf.for … iter_args(%acc = %zero) -> (f32) {
      %r = tile.reduce add %a along k
      %1 = arith.addf %acc, %r : f32
      scf.yield %1
    }
      ->
    %p = scf.for … iter_args(%acc = %zeros) -> (!tile.of<k: 1024, f32>) {
      %1 = tile.map (%u = %acc, %v = %a) … { arith.addf … }
      scf.yield %1
    }
    %r = tile.reduce add %p along k
    %s = arith.addf %zero, %r : f32
    ```
    """

    name = "tile-hoist-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            hoist_reductions(kernel)
            give_locations(kernel)
