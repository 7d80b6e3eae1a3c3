"""`tile-use-reciprocals`: divides once where all of a tile has the same divisor."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.magnitudes import has_reciprocal, is_power_of_two
from dt_mlir.analysis.registers import THREADS_OF_A_WARP
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of


class _Reciprocals:
    """The reciprocals of the divisors of a kernel, made where these are."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        self.known: dict[Hashable, SSAValue] = {}

    def of(self, divisor: SSAValue) -> SSAValue:
        """Returns the reciprocal of a scalar of the kernel, or of a number anywhere."""
        owner = divisor.owner
        assert isinstance(owner, Operation)
        is_number = isinstance(owner, arith.ConstantOp)
        key = owner.value if isinstance(owner, arith.ConstantOp) else divisor
        if key not in self.known:
            first = self.kernel.body.block.first_op
            assert first is not None
            at = InsertPoint.before(first) if is_number else InsertPoint.after(owner)
            builder = Builder(at)
            if is_number:
                divisor = builder.insert(owner.clone()).results[0]
            one = builder.insert(arith.ConstantOp(FloatAttr(1.0, f32)))
            quotient = builder.insert(arith.DivfOp(one.result, divisor))
            for op in (divisor.owner, one, quotient):
                assert isinstance(op, Operation)
                op.location = owner.location
            self.known[key] = quotient.result
        return self.known[key]


def use_reciprocals(kernel: tile.KernelOp) -> None:
    """Multiplies by reciprocals of scalars where a kernel divides the elements of tiles."""
    reciprocals = _Reciprocals(kernel)
    for op in operations_of(kernel, tile.MapOp):
        for inner in [inner for inner in op.body.block.ops if isinstance(inner, arith.DivfOp)]:
            exact = _exact(inner.rhs)
            if exact is not None:
                number = arith.ConstantOp(exact)
                Rewriter.insert_op(number, InsertPoint.before(inner))
                number.location = inner.location
                _replace(inner, number.result)
            elif not kernel.is_accurate and inner.result.type == f32 and _is_long(op):
                divisor = _outside(op, inner.rhs)
                if divisor is not None and has_reciprocal(divisor):
                    _multiply(op, inner, reciprocals.of(divisor))


def _exact(divisor: SSAValue) -> FloatAttr | None:
    """Returns the reciprocal of a number if it is exact; None for others."""
    owner = divisor.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, FloatAttr):
        return None
    number = owner.value.value.data
    return FloatAttr(1 / number, owner.value.type) if is_power_of_two(number) else None


def _is_long(op: tile.MapOp) -> bool:
    """Returns whether a thread computes several elements of a map, or does so again and again."""
    if isinstance(op.parent_op(), scf.ForOp):
        return True
    extents = [axis.extent for axis in axes_of(op.result.type)]
    if any(not isinstance(extent, int) for extent in extents):
        return True
    kernel = op.parent_op()
    assert isinstance(kernel, tile.KernelOp)
    threads = THREADS_OF_A_WARP * (kernel.int_hint("num_warps") or 4)
    return prod(extent for extent in extents if isinstance(extent, int)) > threads


def _outside(op: tile.MapOp, value: SSAValue) -> SSAValue | None:
    """Returns the scalar that a value in a map is: an operand of it, or a number; None if it has an
    element for each of the map's."""
    if isinstance(value, BlockArgument):
        operand = op.inputs[value.index]
        return None if axes_of(operand.type) else operand
    return value if isinstance(value.owner, arith.ConstantOp) else None


def _replace(quotient: arith.DivfOp, reciprocal: SSAValue) -> None:
    """Replaces a quotient in a map by a product."""
    product = arith.MulfOp(quotient.lhs, reciprocal)
    product.location = quotient.location
    product.result.name_hint = quotient.result.name_hint
    divisor = quotient.rhs.owner
    Rewriter.replace_op(quotient, product)
    if isinstance(divisor, arith.ConstantOp) and not set(divisor.result.uses):
        Rewriter.erase_op(divisor)


def _multiply(op: tile.MapOp, quotient: arith.DivfOp, reciprocal: SSAValue) -> None:
    """Replaces a quotient in a map by a product with a scalar, which becomes an operand."""
    divisor, block = quotient.rhs, op.body.block
    op.operands = [*op.inputs, reciprocal]
    factor = block.insert_arg(f32, len(block.args))
    factor.name_hint = reciprocal.name_hint
    _replace(quotient, factor)
    if isinstance(divisor, BlockArgument) and not set(divisor.uses):
        op.operands = [x for place, x in enumerate(op.inputs) if place != divisor.index]
        block.erase_arg(divisor)


@dataclass(frozen=True)
class TileUseReciprocalsPass(ModulePass):
    """Multiplies by the reciprocal of a scalar that all elements of a tile are divided by.

    A division takes several instructions, one of them on the units for special functions, a
    multiplication one. The divisor is a number, or is made of sizes as in `/ sqrt(len(k))`, so that
    its reciprocal is a normal number. The product of a rounded reciprocal is as near to the
    quotient as what fast division gives. By a power of two it is the quotient, in accurate kernels,
    too; these keep other divisions.

    ```
    %s = tile.map arith.divf %a, %root
      ->
    %one = arith.constant 1.0 : f32
    %r = arith.divf %one, %root : f32
    %s = tile.map arith.mulf %a, %r
    ```
    """

    name = "tile-use-reciprocals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            use_reciprocals(kernel)
