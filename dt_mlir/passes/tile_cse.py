"""`tile-cse`: merges operations of a kernel that compute the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsolatedFromAbove

from dt_mlir.analysis.equal_operations import bodies_key, is_mergeable, operation_key
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.dead_code import remove_dead


class _Known:
    """The operations that dominate a place, by what they compute.

    The body of a map may be as large as all the rest of a kernel. Bodies become part of a key
    only where two operations agree in everything else.
    """

    def __init__(self) -> None:
        self._first: dict[Hashable, Operation] = {}
        self._with_bodies: dict[Hashable, Operation] = {}
        self._keys: dict[Operation, tuple[Hashable, Hashable]] = {}

    def find(self, op: Operation) -> Operation | None:
        """Returns an operation that computes the same, or else adds this one."""
        key = operation_key(op, op.operands)
        first = self._first.setdefault(key, op)
        if first is op or not op.regions:
            return None if first is op else first
        self._with_bodies.setdefault(self._key_of(first, key), first)
        known = self._with_bodies.setdefault(self._key_of(op, key), op)
        return None if known is op else known

    def forget(self, op: Operation) -> None:
        """Forgets an operation that was added; all that were added after it are forgotten."""
        key = operation_key(op, op.operands)
        if self._first.get(key) is op:
            del self._first[key]
        if op in self._keys:
            del self._with_bodies[self._keys.pop(op)]

    def _key_of(self, op: Operation, key: Hashable) -> Hashable:
        if op not in self._keys:
            self._keys[op] = key, bodies_key(op)
        return self._keys[op]


def merge_equal(block: Block, known: _Known) -> None:
    """Merges the operations of a block, and of the blocks in it, with those that dominate them.

    Args:
        block: the block.
        known: the operations that dominate the block.
    """
    added: list[Operation] = []
    for op in list(block.ops):
        if op.regions and not op.has_trait(IsolatedFromAbove):
            for region in op.regions:
                for inner in region.blocks:
                    merge_equal(inner, known)
        if not is_mergeable(op):
            continue
        earlier = known.find(op)
        if earlier is None:
            added.append(op)
            continue
        for old, new in zip(op.results, earlier.results):
            old.replace_all_uses_with(new)
        Rewriter.erase_op(op)
    for op in reversed(added):
        known.forget(op)


@dataclass(frozen=True)
class TileCsePass(ModulePass):
    """Merges operations of a kernel that compute the same, and removes those that nothing uses.

    MLIR: `cse`. Maps with equal bodies are equal. xDSL's pass of that name compares every two
    maps that have the same operands; this one takes time in proportion to the kernel's size.

    ```
    %a = tile.load %A[%x]
    %b = tile.load %A[%x]     ->   %a = tile.load %A[%x]
    tile.store %b, %f[%x]          tile.store %a, %f[%x]
    ```
    """

    name = "tile-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            merge_equal(kernel.body.block, _Known())
            remove_dead(kernel)
