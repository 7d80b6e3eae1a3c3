"""`tile-fuse-maps`: makes one map of maps that follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.traversal import operations_of


class _Group:
    """A map and those that are to be fused into it.

    Maps are taken in depth first, the first operand's first, as soon as nothing outside uses them.

    Args:
        consumer: the map.
    """

    def __init__(self, consumer: tile.MapOp) -> None:
        self.consumer = consumer
        self.maps: list[tile.MapOp] = []
        self.members: set[Operation] = set()
        self.users_outside: dict[SSAValue, int] = {}
        self.places: dict[SSAValue, int] = {}
        self.ready: list[int] = []
        self.results: dict[int, SSAValue] = {}
        self._add(consumer)

    def grow(self) -> None:
        """Takes in the maps that only the group uses, until there is none left."""
        while self.ready:
            place = heappop(self.ready)
            value = self.results[place]
            # A map whose result is met again moves to the front; this may be its old place.
            if self.places[value] == place and value.owner not in self.members:
                assert isinstance(value.owner, tile.MapOp)
                self._add(value.owner)

    def _add(self, op: tile.MapOp) -> None:
        self.maps.append(op)
        self.members.add(op)
        for value in reversed(dict.fromkeys(op.inputs)):
            if not self._may_be_fused(value):
                continue
            known = self.users_outside.get(value)
            if known is None:
                users = {use.operation for use in value.uses}
                known = len(users - self.members) + 1
            self.users_outside[value] = known - 1
            place = self.places[value] = -len(self.results)
            self.results[place] = value
            if known == 1:
                heappush(self.ready, place)

    def _may_be_fused(self, value: SSAValue) -> bool:
        """Returns whether a value is a map's of the same axes and block; others may use it yet."""
        owner = value.owner
        return (
            isinstance(owner, tile.MapOp)
            and owner.parent is self.consumer.parent
            and not owner.attributes
            and axes_of(owner.result.type) == axes_of(self.consumer.result.type)
        )

    def fuse(self) -> None:
        """Puts one map in the place of the group's, the last of which has its operations last."""
        if len(self.maps) == 1:
            return
        results = {op.result for op in self.maps}
        found: dict[SSAValue, None] = {}
        for op in reversed(self.maps):
            found.update(dict.fromkeys(v for v in op.inputs if v not in results))
        inputs = list(found)
        block = Block(arg_types=[element_of(value.type) for value in inputs])
        element: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args))
        for value, arg in element.items():
            arg.name_hint = value.name_hint
        for op in reversed(self.maps):
            body = op.body.block
            for arg, value in zip(body.args, op.inputs):
                arg.replace_all_uses_with(element[value])
            element[op.result] = op.yielded
            for inner in list(body.ops):
                if op is self.consumer or not isinstance(inner, tile.YieldOp):
                    inner.detach()
                    block.add_op(inner)
        consumer = self.consumer
        fused = tile.MapOp(inputs, consumer.result.type, Region(block))
        fused.location = consumer.location
        fused.attributes.update(consumer.attributes)
        fused.result.name_hint = consumer.result.name_hint
        assert consumer.parent is not None
        consumer.parent.insert_op_before(fused, consumer)
        consumer.result.replace_all_uses_with(fused.result)
        for op in self.maps:
            Rewriter.erase_op(op)


def fuse_maps(kernel: tile.KernelOp) -> None:
    """Fuses the maps of a kernel into those that alone use them."""
    for op in reversed(operations_of(kernel, tile.MapOp)):
        if op.parent is not None:
            group = _Group(op)
            group.grow()
            group.fuse()


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
