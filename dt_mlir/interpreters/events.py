"""The events of an interpreted kernel, for whoever wants to hear of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.memory import Buffer
from dt_mlir.interpreters.warp_protocol import Action, Copy, Protocol


class Observer:
    """Hears of what kernels of the `tile` and of the `warp` level do; these methods do nothing."""

    def starts(self, kernel: GridKernelOp, instance: int, instances: int) -> None:
        """Hears that a program instance starts.

        Args:
            kernel: its kernel.
            instance: its program id.
            instances: the number of instances.
        """

    def trip(self, loop: Operation, index: int) -> None:
        """Hears that the current instance starts a trip of a loop.

        Args:
            loop: the loop.
            index: the value of its induction variable.
        """

    def leaves(self, loop: Operation) -> None:
        """Hears that the current instance has left a loop."""

    def access(
        self, op: Operation, buffer: Buffer, places: Sequence[Array], mask: Array
    ) -> None:
        """Hears that the current instance is about to load or store a tile.

        Args:
            op: the load, the store or the copy.
            buffer: the tensor.
            places: for each axis the indices; they broadcast with the mask.
            mask: the lanes that are not masked off.
        """

    def shares(self, protocol: Protocol) -> None:
        """Hears of the groups, buffers and barriers of the program instance that starts."""

    def acts(self, group: int, action: Action) -> None:
        """Hears that a group of warps has acted; one that has to wait has not."""

    def ends_copy(self, copy: Copy) -> None:
        """Hears that a copy into a buffer has ended."""
