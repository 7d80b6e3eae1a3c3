"""`tile-unroll-twice`: a pass of the `tile` level that clones the bodies of loops."""

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.cloning import clone_body
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.dialects import tile
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class UnrollTwicePass(ModulePass):
    """Computes two tiles in each trip of the innermost loops, and a last odd one behind them.

    ```
    scf.for %k = %0 to %n step %s { body }
    ->
    scf.for %k = %0 to %even step %s2 { body; body with %k + %s }
    scf.for %k = %even to %n step %s { body }
    ```

    Each tile still begins below the end of its label. Loops without ranges are left alone.
    """

    name = "tile-unroll-twice"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            loops = operations_of(kernel, scf.ForOp)
            for loop in loops:
                inner = operations_of(loop, scf.ForOp)
                if len(inner) == 1 and operations_of(loop, tile.RangeOp):
                    _unroll(loop)


def _unroll(loop: scf.ForOp) -> None:
    block = loop.body.block
    iv, *carried = block.args
    before = Builder(InsertPoint.before(loop))

    def number(op: Operation, builder: Builder = before) -> SSAValue:
        op.location = loop.location
        return builder.insert(op).results[0]

    # A constant, as steps of loops are.
    step = IndexBuilder(before).add(loop.step, loop.step)
    span = number(arith.SubiOp(loop.ub, loop.lb))
    even = number(arith.MuliOp(number(arith.DivSIOp(span, step)), step))
    end = number(arith.AddiOp(loop.lb, even))

    rest = Block(arg_types=[value.type for value in block.args])
    odd = scf.ForOp(end, loop.ub, loop.step, loop.results, Region(rest))
    odd.location = loop.location
    Builder(InsertPoint.after(loop)).insert(odd)
    for before_odd, after_odd in zip(loop.results, odd.results):
        before_odd.replace_uses_with_if(after_odd, lambda use: use.operation is not odd)
    builder = Builder(InsertPoint.at_end(rest))
    cloned = clone_body(block, builder, dict(zip(block.args, rest.args)))
    yielded = block.last_op
    assert yielded is not None
    builder.insert(scf.YieldOp(*(cloned.get(value, value) for value in yielded.operands)))

    builder = Builder(InsertPoint.before(yielded))
    start = number(arith.AddiOp(iv, loop.step), builder)
    cloned = clone_body(block, builder, {iv: start, **dict(zip(carried, yielded.operands))})
    yielded.operands = [cloned.get(value, value) for value in yielded.operands]
    loop.operands = [loop.lb, end, step, *loop.iter_args]
