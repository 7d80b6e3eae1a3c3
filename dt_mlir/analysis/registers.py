"""An estimate of the registers that the tiles of a kernel take.

The tiles that are live at once are spread over the threads of a program instance. Those that the
hardware holds elsewhere, or computes where they are used, take none: operands of dots that are
loaded (shared memory), constants, indices, masks, and tiles that only repeat another one.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.dot_plans import dot_operand_bits
from dt_mlir.analysis.tile_sizes import static_elements
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import TileType, axes_of, element_of

THREADS_OF_A_WARP = 32


class Pressure(NamedTuple):
    """The most registers of a thread that tiles take at once."""

    registers: int
    """Their number, of 32 bits each."""
    tiles: list[SSAValue]
    """The tiles, the largest first."""
    op: Operation
    """The operation at which they are live."""


def register_pressure(kernel: tile.KernelOp, warps: int) -> Pressure:
    """Estimates the registers of a kernel's tiles; axes of unknown extent count as one element.

    Args:
        kernel: a kernel of the `tile` level.
        warps: the number of warps of a program instance.
    """
    threads = warps * THREADS_OF_A_WARP
    return _Liveness(threads).peak(kernel.body.block, set(), kernel)


class _Liveness:
    def __init__(self, threads: int) -> None:
        self.threads = threads

    def registers(self, value: SSAValue) -> int:
        """Returns the registers of a thread that hold a tile."""
        value = _held(value)
        if not isinstance(value.type, TileType) or _is_elsewhere(value):
            return 0
        element = element_of(value.type)
        if not isinstance(element, AnyFloat | IntegerType):
            return 0
        bits = dot_operand_bits(element)
        if bits == 1:
            return 0
        total = static_elements(list(axes_of(value.type))) * max(bits, 8)
        return total // (32 * self.threads)

    def peak(self, block: Block, behind: set[SSAValue], parent: Operation) -> Pressure:
        """Returns the highest pressure in a block.

        Args:
            block: the block.
            behind: the tiles that are live behind it.
            parent: the operation that it belongs to.
        """
        live = {_held(value) for value in behind}
        most = self._pressure(live, parent)
        for op in reversed(list(block.ops)):
            # A result may take the registers of an operand that ends here.
            most = max(most, self._pressure(live, op), key=_registers_of)
            live -= set(op.results)
            if op.regions and not isinstance(op, tile.MapOp):
                inside = {
                    _held(value)
                    for inner in op.walk() if inner is not op for value in inner.operands
                    if not _is_defined_in(value, op)
                }  # fmt: skip
                for region in op.regions:
                    found = self.peak(region.block, live | inside, op)
                    most = max(most, found, key=_registers_of)
            live |= {_held(value) for value in op.operands}
            most = max(most, self._pressure(live, op), key=_registers_of)
        return most

    def _pressure(self, live: set[SSAValue], op: Operation) -> Pressure:
        sizes = {value: self.registers(value) for value in live}
        tiles = sorted((v for v in sizes if sizes[v]), key=lambda v: -sizes[v])
        return Pressure(sum(sizes.values()), tiles, op)


def _registers_of(pressure: Pressure) -> int:
    return pressure.registers


def _held(value: SSAValue) -> SSAValue:
    """Returns the tile whose registers hold a value: it may repeat or rename another one."""
    while isinstance(value.owner, tile.BroadcastOp | tile.RenameOp):
        value = value.owner.operands[0]
    return value


def _is_elsewhere(value: SSAValue) -> bool:
    """Returns whether a tile is not held in registers."""
    owner = value.owner
    if isinstance(owner, tile.RangeOp | tile.JoinedRangeOp | tile.MaskOp | tile.FillOp):
        return True
    return isinstance(owner, tile.LoadOp) and all(
        isinstance(user, tile.DotOp) for user in _users(value)
    )


def _users(value: SSAValue) -> list[Operation]:
    """Returns the operations that use a tile, also where it is transposed."""
    found: list[Operation] = []
    for use in value.uses:
        op = use.operation
        views = isinstance(op, tile.TransposeOp | tile.RenameOp)
        found += _users(op.results[0]) if views else [op]
    return found


def _is_defined_in(value: SSAValue, op: Operation) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        return owner.parent is not None and op.is_ancestor(owner)
    return op is not owner and op.is_ancestor(owner)
