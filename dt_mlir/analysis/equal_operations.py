"""Keys of operations that compute the same."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, is_side_effect_free


def operation_key(op: Operation, operands: Hashable) -> Hashable:
    """Returns a key that is equal for operations that differ in their regions at most.

    Args:
        op: the operation.
        operands: what stands for its operands.
    """
    return (
        op.name,
        operands,
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(result.type for result in op.results),
    )


def bodies_key(op: Operation) -> Hashable:
    """Returns a key that is equal for operations whose regions compute the same."""
    return tuple(_block_key(block) for region in op.regions for block in region.blocks)


def _block_key(block: Block) -> Hashable:
    """Equal for blocks that compute the same from their arguments, whatever their values are."""
    numbers: dict[SSAValue, int] = {arg: i for i, arg in enumerate(block.args)}
    found: list[Hashable] = [tuple(arg.type for arg in block.args)]
    for op in block.ops:
        operands = tuple(numbers.get(value, value) for value in op.operands)
        found.append(operation_key(op, operands))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(found)


def is_mergeable(op: Operation) -> bool:
    """Returns whether an operation may stand for others that compute the same."""
    nested = any(inner.regions for region in op.regions for b in region.blocks for inner in b.ops)
    flat = not op.regions or (op.has_trait(IsolatedFromAbove) and not nested)
    return bool(op.results) and flat and is_side_effect_free(op)
