"""Passes of the `warp` level that are wrong."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import warp
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class ForgetReleases(ModulePass):
    """Lets groups of warps keep the buffers that they have read."""

    name = "warp-forget-releases"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for arrive in operations_of(op, warp.MBarrierArriveOp):
            Rewriter.erase_op(arrive)


@dataclass(frozen=True)
class ForgetSums(ModulePass):
    """Takes the first operand for a sum."""

    name = "warp-forget-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in operations_of(op, warp.KernelOp):
            for add in operations_of(kernel, arith.AddfOp):
                add.result.replace_all_uses_with(add.lhs)
                Rewriter.erase_op(add)
