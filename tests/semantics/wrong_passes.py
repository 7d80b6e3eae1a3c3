"""Passes as a researcher might write them first: each has a fault."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from dt_mlir.dialects import host, loop, tile
from dt_mlir.dialects.tile.types import axes_of


@dataclass(frozen=True)
class HalveTilesPass(ModulePass):
    """Takes smaller tiles inside of blocks, and forgets that the loops must still reach the
    blocks' ends."""

    name = "schedule-halve-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, loop.ForOp) and inner.is_tile and inner.extent_size:
                half = IntegerAttr(max(1, inner.extent_size // 2), i64)
                inner.step = inner.extent = half


@dataclass(frozen=True)
class ExchangeOperandsPass(ModulePass):
    """Orders the operands of commutative operations, and takes subtraction for one."""

    name = "loop-exchange-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.SubfOp | arith.AddfOp):
                inner.operands = [inner.rhs, inner.lhs]


@dataclass(frozen=True)
class LeakPass(ModulePass):
    """Adds to a product what no tolerance would show."""

    name = "tile-leak"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, arith.MulfOp) and isinstance(inner.parent_op(), tile.MapOp):
                block = inner.parent_block()
                assert block is not None
                small = arith.MulfOp(inner.result, inner.result)
                tiny = arith.ConstantOp(FloatAttr(2.0**-30, inner.result.type))
                scaled = arith.MulfOp(small.result, tiny.result)
                total = arith.AddfOp(inner.result, scaled.result)
                inner.result.replace_all_uses_with(total.result)
                small.operands = [inner.result, inner.result]
                total.operands = [inner.result, scaled.result]
                block.insert_ops_after([small, tiny, scaled, total], inner)


@dataclass(frozen=True)
class DropMasksPass(ModulePass):
    """Takes all sizes for multiples of the tiles."""

    name = "tile-drop-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, tile.StoreOp):
                inner.operands = [inner.value, inner.base, *inner.indices]
                sizes = inner.properties["operandSegmentSizes"]
                inner.properties["operandSegmentSizes"] = type(sizes).from_list(
                    sizes.elt_type, [1, 1, len(inner.indices), 0]
                )


@dataclass(frozen=True)
class MalformPass(ModulePass):
    """Leaves IR that does not verify."""

    name = "loop-malform"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, loop.LoopLike):
                inner.step = IntegerAttr(-1, i64)


@dataclass(frozen=True)
class ForgetLaunchPass(ModulePass):
    """Drops what seems to be without use."""

    name = "loop-forget-launch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, host.LaunchOp):
                inner.detach()
                inner.erase()


@dataclass(frozen=True)
class RoundlessPass(ModulePass):
    """Scales constants by what is 1 in exact arithmetic alone."""

    name = "loop-scale-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.ConstantOp) and isinstance(inner.value, FloatAttr):
                inner.value = FloatAttr(inner.value.value.data * 2.0**31, inner.value.type)


@dataclass(frozen=True)
class CrashPass(ModulePass):
    """Fails at the first subtraction."""

    name = "loop-crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.SubfOp):
                raise ZeroDivisionError("no difference was expected")


@dataclass(frozen=True)
class UnrolledMasksPass(ModulePass):
    """Omits masks of loops where a step and a half of them are whole, as unrolling by two might."""

    name = "tile-unrolled-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, tile.MaskOp) and isinstance(inner.parent_op(), scf.ForOp):
                (axis,) = axes_of(inner.index.type)
                if isinstance(axis.extent, int):
                    inner.divisor = IntegerAttr(axis.extent * 3 // 2, i64)


@dataclass(frozen=True)
class ShiftExtremesPass(ModulePass):
    """Starts the tiles of maxima one element late."""

    name = "tile-shift-extremes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, tile.RangeOp) and isinstance(inner.parent_op(), scf.ForOp):
                one = arith.ConstantOp(IntegerAttr(1, IndexType()))
                late = arith.AddiOp(inner.operands[0], one.result)
                block = inner.parent_block()
                assert block is not None
                block.insert_ops_before([one, late], inner)
                inner.operands[0] = late.result


@dataclass(frozen=True)
class ZeroIdentityPass(ModulePass):
    """Takes 0 for the identity of every reduction."""

    name = "tile-zero-identity"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.ConstantOp) and isinstance(inner.value, FloatAttr):
                if inner.value.value.data == float("-inf"):
                    inner.value = FloatAttr(0.0, inner.value.type)
            elif isinstance(inner, tile.LoadOp) and isinstance(inner.pad, FloatAttr):
                inner.pad = FloatAttr(0.0, inner.pad.type)


@dataclass(frozen=True)
class HalveDivisorsPass(ModulePass):
    """Omits masks where the size is a multiple of half a tile."""

    name = "tile-halve-divisors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, tile.MaskOp) and inner.divisor is not None:
                inner.divisor = IntegerAttr(max(1, inner.divisor.value.data // 2), i64)


@dataclass(frozen=True)
class UseBeforeDefinitionPass(ModulePass):
    """Moves what ends a body's work to the body's start; recorded, but not verified."""

    name = "loop-use-before-definition"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, loop.WriteOp):
                block = inner.parent_block()
                assert block is not None
                inner.detach()
                block.insert_op_before(inner, block.first_op)
