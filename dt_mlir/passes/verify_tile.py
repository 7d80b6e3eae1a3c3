"""`verify-tile`: checks that a module is of the `tile` level and physical."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.tile_sizes import TILE_LIMIT, check_sizes, padded, static_elements
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, tile
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import of_kind, operations, operations_of, values_of

BODY_DIALECTS = ("tile", "scf", "arith", "math", "elem")
"""The dialects that the body of a kernel is made of."""


def check_kernel(kernel: tile.KernelOp) -> None:
    """Checks that a kernel is one that the emitter takes.

    Raises:
        CompileError: at the first operation that is out of place.
    """
    if kernel.persistent is not None:
        raise CompileError(
            "the instances of a persistent kernel do not walk its blocks yet", kernel,
            "run tile-walk-blocks first",
        )
    everything = operations(kernel)
    for inner in everything[1:]:
        dialect = inner.name.split(".")[0]
        known = dialect in BODY_DIALECTS or inner.name == "builtin.unrealized_conversion_cast"
        if not known and tile.triton_printer(inner) is None:
            raise CompileError(f"'{inner.name}' cannot stand in a 'tile.kernel'", inner)
    for inner in of_kind(everything, tile.RangeOp):
        if inner.bound is not None:
            raise CompileError(
                f"the axis '{inner.axis.name}' still has a bound", inner,
                "run tile-place-masks first",
            )
    for inner in of_kind(everything, tile.JoinedRangeOp):
        if inner.bounds:
            raise CompileError(
                f"the axis '{inner.axis.name}' still has bounds", inner,
                "run tile-place-masks first",
            )  # fmt: skip
    for inner in of_kind(everything, scf.ForOp):
        walks = isinstance(inner.step.owner, tile.NumProgramsOp)
        if not walks and (constant_index(inner.step) or 0) < 1:
            raise CompileError(
                "the step of a loop must be a positive constant", inner,
                "fold what it is computed of, as canonicalize does",
            )
    loaded = {inner.base for inner in of_kind(everything, tile.LoadOp)}
    for inner in of_kind(everything, tile.StoreOp):
        if inner.base in loaded:
            raise CompileError("a kernel stores to a tensor that it loads from", inner)
    known = {label.data for label in kernel.labels}
    # A kernel has many values, but few types.
    for type in {id(value.type): value.type for value in values_of(kernel)}.values():
        if static_elements(axes_of(type)) > TILE_LIMIT:
            check_sizes(kernel)
        for axis in axes_of(type):
            if axis.extent not in known and isinstance(axis.extent, str):
                raise CompileError(f"'{axis.extent}' is not a label of the kernel", kernel)
            if isinstance(axis.extent, int) and padded(axis.extent) != axis.extent:
                raise CompileError(
                    f"the axis '{axis.name}' has {axis.extent} elements, "
                    "which is not a power of two",
                    kernel,
                    "run tile-place-masks first",
                )
    root = dict(zip(kernel.argument_names, kernel.args)).get(kernel.root.data)
    if root is None or not any(isinstance(u.operation, tile.StoreOp) for u in root.uses):
        raise CompileError(f"the kernel never stores '{kernel.root.data}'", kernel)


def check_launches(function: host.FuncOp) -> None:
    """Checks that no kernel loads from what is allocated before a kernel stores to it.

    Raises:
        CompileError: at the first launch of one that does.
    """
    known: set[SSAValue] = {*function.body.block.args}
    for launch in function.launches():
        for kernel in launch.kernel_ops():
            if not isinstance(kernel, tile.KernelOp):
                # It computes what a block program does that need not be there.
                known.update(launch.arguments)
                continue
            values: dict[SSAValue, SSAValue] = dict(zip(kernel.args, launch.arguments))
            for load in operations_of(kernel, tile.LoadOp):
                value = values.get(load.base)
                if value is not None and value not in known:
                    name = host.tensor_name(value)
                    raise CompileError(
                        f"'{kernel.root.data}' loads from '{name}', to which no kernel has stored",
                        launch, f"launch the kernel that stores to '{name}' before it",
                    )  # fmt: skip
            stores = operations_of(kernel, tile.StoreOp)
            known.update(values[store.base] for store in stores if store.base in values)


@dataclass(frozen=True)
class VerifyTilePass(ModulePass):
    """Checks that a module is what the emitter takes.

    Kernels are block programs without loops over labels, all extents are powers of two, no axis
    has a bound, and what a kernel loads an earlier one has stored, or it is an input.
    """

    name = "verify-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.ops:
            if inner.name not in ("host.func", "tile.kernel"):
                raise CompileError(f"'{inner.name}' is not of the 'tile' level", inner)
        for kernel in kernels_of(op):
            check_kernel(kernel)
        function = host.function_of(op)
        if function is not None:
            check_launches(function)
