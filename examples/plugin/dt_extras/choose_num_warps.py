"""`tile-choose-num-warps`: a pass of the `tile` level that asks an analysis of its own."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.tile_sizes import static_elements
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import values_of

ELEMENTS_OF_A_THREAD = 16
"""The number of elements of the largest tile that one thread is to hold."""


class LargestTile:
    """Answers how many elements the largest tile of a kernel has.

    Args:
        kernel: a kernel of the `tile` level; the answers hold until it is changed.
    """

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.elements = max(static_elements(axes_of(value.type)) for value in values_of(kernel))
        """The number of elements, unknown extents counted as one."""

    def warps(self) -> int:
        """Returns the number of warps, from 1 to 16, whose threads hold the tile evenly."""
        wanted = self.elements // (32 * ELEMENTS_OF_A_THREAD)
        return min(16, 1 << max(0, wanted.bit_length() - 1))


@dataclass(frozen=True)
class ChooseNumWarpsPass(ModulePass):
    """Chooses the number of warps of kernels whose schedule leaves it open.

    ```
    %a = tile.load %A[%x] : !tile.of<x: 4096, f32>   ->   tile.kernel … num_warps = 8
    ```
    """

    name = "tile-choose-num-warps"
    after = "tile-place-evictions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.int_hint("num_warps") is None:
                kernel.set_hint("num_warps", LargestTile(kernel).warps())
