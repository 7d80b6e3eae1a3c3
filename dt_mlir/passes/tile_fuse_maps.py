"""`tile-fuse-maps`: makes one map of maps that follow each other."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.lowering.kernels import kernels_of


def _fusible(producer: tile.MapOp, consumer: tile.MapOp) -> bool:
    return (
        producer.parent is consumer.parent
        and axes_of(producer.result.type) == axes_of(consumer.result.type)
        and all(use.operation is consumer for use in producer.result.uses)
    )


def fuse_into(producer: tile.MapOp, consumer: tile.MapOp) -> tile.MapOp:
    """One map in place of two, the second of which uses the first."""
    inputs = [v for v in consumer.inputs if v is not producer.result]
    inputs = list(dict.fromkeys([*producer.inputs, *inputs]))
    block = Block(arg_types=[element_of(value.type) for value in inputs])
    element: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args))
    for value, arg in element.items():
        arg.name_hint = value.name_hint
    mapper: dict[SSAValue, SSAValue] = {
        arg: element[value] for arg, value in zip(producer.body.block.args, producer.inputs)
    }
    for op in producer.body.block.ops:
        if not isinstance(op, tile.YieldOp):
            block.add_op(op.clone(mapper))
    produced = mapper.get(producer.yielded, producer.yielded)
    for arg, value in zip(consumer.body.block.args, consumer.inputs):
        mapper[arg] = produced if value is producer.result else element[value]
    for op in consumer.body.block.ops:
        block.add_op(op.clone(mapper))
    fused = tile.MapOp(inputs, consumer.result.type, Region(block))
    fused.location = consumer.location
    fused.result.name_hint = consumer.result.name_hint
    assert consumer.parent is not None
    consumer.parent.insert_op_before(fused, consumer)
    consumer.result.replace_all_uses_with(fused.result)
    for op in (consumer, producer):
        op.detach()
        op.erase()
    return fused


def fuse_maps(kernel: tile.KernelOp) -> None:
    """Fuse the maps of a kernel into those that alone use them."""
    pending = [op for op in kernel.walk() if isinstance(op, tile.MapOp)]
    while pending:
        op = pending.pop()
        if op.parent is None:
            continue
        for value in op.inputs:
            owner = value.owner
            if isinstance(owner, tile.MapOp) and _fusible(owner, op):
                pending.append(fuse_into(owner, op))
                break


@dataclass(frozen=True)
class TileFuseMapsPass(ModulePass):
    """Makes one map of maps that follow each other, where the axes are the same.

    A map whose operands have fewer axes stays apart: what it computes is the same along the
    others.

    ```
    %b = tile.map (%x = %a) { math.exp %x }
    %c = tile.map (%x = %b) { arith.negf %x }
      ->
    %c = tile.map (%x = %a) { %y = math.exp %x; arith.negf %y }
    ```
    """

    name = "tile-fuse-maps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            fuse_maps(kernel)
