"""`tile-use-descriptors`: marks the accesses that go through descriptors."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr
from xdsl.ir import BlockArgument, Operation
from xdsl.passes import ModulePass

from dt_mlir.analysis.boxes import Boxes
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.diagnostics import CompileError, Note, directive_location, has_location
from dt_mlir.dialects import tile
from dt_mlir.element_types import is_bool
from dt_mlir.traversal import operations


def refused(kernel: tile.KernelOp, message: str, hint: str, op: Operation) -> CompileError:
    """Returns the refusal to use descriptors, at the directive.

    Args:
        kernel: the kernel.
        message: what stands in the way.
        hint: what would be right.
        op: the access.
    """
    place = directive_location(kernel.location)
    known = has_location(op) and directive_location(op.location) != place
    notes = [Note("this is where", op.location)] if known else []
    return CompileError(f"{kernel.root.data}.descriptor: {message}", place, hint, notes)


def use_descriptors(kernel: tile.KernelOp) -> None:
    """Marks the accesses of a kernel that go through descriptors.

    Args:
        kernel: the kernel; tensors that it names in `descriptors` are accessed so.

    Raises:
        CompileError: at the directive, if an access is not a box of its tensor.
    """
    boxes = Boxes(kernel, lambda message, hint, op: refused(kernel, message, hint, op))
    wanted = {
        arg for arg, name in zip(kernel.args, kernel.argument_names)
        if name in kernel.described_names
    }  # fmt: skip
    for op in operations(kernel):
        if not isinstance(op, tile.LoadOp | tile.StoreOp) or op.base not in wanted:
            continue
        assert isinstance(op.base, BlockArgument)
        assert isinstance(op.base.type, MemRefType)
        if is_bool(op.base.type.element_type):
            raise refused(
                kernel, "descriptors are of numbers, and not of truth values",
                "leave this tensor out", op,
            )  # fmt: skip
        if kernel.warp_specialize is not None and boxes.is_reordered(op):
            # Shared memory takes its axes in another order, and Triton's kernel addresses.
            continue
        boxes.of_access(op)
        op.attributes[tile.DESCRIPTOR] = UnitAttr()


@dataclass(frozen=True)
class TileUseDescriptorsPass(ModulePass):
    """Marks the accesses that go through descriptors, as `descriptor` of a schedule asks for.

    Such an access is a box of its tensor: each axis is indexed by neighbours, or by a number. What
    is outside of the tensor is read as zero, and not written, as its masks say. Triton's kernel
    takes a descriptor for each, or none where the device or a tensor does not allow it. Boxes that
    are copied with their axes in another order are left to kernels whose warps are specialized.

    ```
    tile.kernel @f_kernel(…) attributes {descriptors = ["A"], …} {
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask] pad 0.0
        ->
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask] pad 0.0 {triton.descriptor}
    ```
    """

    name = "tile-use-descriptors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.descriptors is not None:
                use_descriptors(kernel)
