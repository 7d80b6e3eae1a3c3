"""`tile-cse`: merges operations of a kernel that compute the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsolatedFromAbove, is_side_effect_free

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.traversal import operations


def _key(op: Operation) -> Hashable:
    """Equal for operations that compute the same from the same operands."""
    return _own_key(op, op.operands), *(
        _region_key(block) for region in op.regions for block in region.blocks
    )


def _own_key(op: Operation, operands: Hashable) -> Hashable:
    return (
        op.name,
        operands,
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(result.type for result in op.results),
    )


def _region_key(block: Block) -> Hashable:
    """Equal for blocks that compute the same from their arguments, whatever their values are."""
    numbers: dict[SSAValue, int] = {arg: i for i, arg in enumerate(block.args)}
    found: list[Hashable] = [tuple(arg.type for arg in block.args)]
    for op in block.ops:
        operands = tuple(numbers.get(value, value) for value in op.operands)
        found.append(_own_key(op, operands))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(found)


def _is_mergeable(op: Operation) -> bool:
    nested = any(inner.regions for region in op.regions for b in region.blocks for inner in b.ops)
    flat = not op.regions or (op.has_trait(IsolatedFromAbove) and not nested)
    return bool(op.results) and flat and is_side_effect_free(op)


def merge_equal(block: Block, known: dict[Hashable, Operation]) -> None:
    """Merge the operations of a block, and of the blocks in it, with those that dominate them.

    Args:
        block: the block.
        known: the operations that dominate the block.
    """
    added: list[Hashable] = []
    for op in list(block.ops):
        if op.regions and not op.has_trait(IsolatedFromAbove):
            for region in op.regions:
                for inner in region.blocks:
                    merge_equal(inner, known)
        if not _is_mergeable(op):
            continue
        key = _key(op)
        earlier = known.get(key)
        if earlier is None:
            known[key] = op
            added.append(key)
            continue
        for old, new in zip(op.results, earlier.results):
            old.replace_all_uses_with(new)
        Rewriter.erase_op(op)
    for key in added:
        del known[key]


def remove_dead(kernel: tile.KernelOp) -> None:
    """Remove the operations of a kernel whose results nothing uses and that have no effect."""
    for op in reversed(operations(kernel)):
        is_dead = bool(op.results) and not any(result.uses for result in op.results)
        if is_dead and op.parent is not None and is_side_effect_free(op):
            Rewriter.erase_op(op)


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
            merge_equal(kernel.body.block, {})
            remove_dead(kernel)
