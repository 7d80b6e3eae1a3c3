"""The parameters of a kernel: their names and their order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Attribute, BlockArgument, SSAValue

from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.boxes import Shape, described
from dt_mlir.backend.triton.clear import CLEAR
from dt_mlir.backend.triton.combine import COMBINE
from dt_mlir.backend.triton.helpers import support_names
from dt_mlir.backend.triton.initial_values import HIDDEN
from dt_mlir.backend.triton.product_waits import Wait, waiting_loops
from dt_mlir.backend.triton.scalars import INDEX, triton_type
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of, values_of

HOPPER = "HOPPER"
"""The name of the parameter that says whether a GPU has asynchronous products."""
DEPENDENT = "DEPENDENT"
"""The name of the parameter that says whether a kernel may start before the last one has ended."""
GRID_WAIT = "tl.extra.cuda.gdc_wait"
"""Triton's function that waits for the end of the kernel before."""
RESERVED = (
    "tl", "triton", "torch", "libdevice", "contextlib", "numbers", INDEX, HOPPER, DEPENDENT,
    *Wait, HIDDEN, CLEAR, *COMBINE, *support_names(),
)  # fmt: skip
"""Names that generated code uses for itself."""


@dataclass
class Signature:
    """The parameters of a kernel.

    Pointers come first, then scalars, descriptors, each of which may be none, sizes by label in
    declared order, strides tensor by tensor, then constants: the padded extent of each label that a
    tile holds whole, what is known of scalars and of the GPU, and the type of indices.
    """

    name: str
    dynamic: bool
    names: code.Names
    variables: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The parameter of each argument."""
    annotations: dict[SSAValue, ast.expr] = field(default_factory=dict[SSAValue, ast.expr])
    """The types of the scalars."""
    sizes: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter of each label's size."""
    strides: dict[SSAValue, list[str]] = field(default_factory=dict[SSAValue, list[str]])
    """The parameters of each tensor's strides."""
    tiles: dict[str, str] = field(default_factory=dict[str, str])
    """The parameter of the padded extent of each label that a tile holds whole."""
    boxes: dict[Shape, str] = field(default_factory=dict[Shape, str])
    """The parameter of each tensor's descriptor, by the extents of its boxes."""
    moderate: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The parameter that says of a scalar whether it is positive and of moderate size."""
    index: str = INDEX
    hopper: str = ""
    """The parameter that says whether products are asynchronous, if that matters."""
    dependent: str = ""
    """The parameter that says whether the last kernel may still run, if that may be."""

    @staticmethod
    def of(kernel: GridKernelOp, name: str, taken: set[str]) -> Signature:
        """The parameters of a kernel.

        Args:
            kernel: the kernel.
            name: the name of its function in the module.
            taken: names that the module uses.
        """
        names = code.Names({*RESERVED, *taken})
        result = Signature(name, kernel.dynamic is not None, names)
        arguments = list(zip(kernel.args, kernel.argument_names))
        tensors = [(arg, n) for arg, n in arguments if isinstance(arg.type, MemRefType)]
        for arg, argument in tensors:
            result.variables[arg] = names.fresh(f"{argument}_ptr")
        for arg, argument in arguments:
            if not isinstance(arg.type, MemRefType):
                result.variables[arg] = names.fresh(argument)
                result.annotations[arg] = _annotation(arg.type)
        boxes = described(kernel)
        for arg, extents, ends in boxes.shapes:
            assert isinstance(arg, BlockArgument)
            tensor = kernel.argument_names[arg.index]
            result.boxes[arg, extents, ends] = names.fresh(f"{tensor}_box")
        for label in kernel.labels:
            result.sizes[label.data] = names.fresh(f"{label.data}_SIZE")
        for arg, argument in tensors:
            result.strides[arg] = [
                names.fresh(f"{argument}_{axis or number}_stride")
                for number, axis in enumerate(kernel.axes_of(arg))
            ]
        for label in whole_labels(kernel):
            result.tiles[label] = names.fresh(f"{label}_TILE")
        for op in operations_of(kernel, tile.FactorsOp):
            if op.scalar in result.variables and op.scalar not in result.moderate:
                name = names.fresh(f"{result.variables[op.scalar]}_IS_MODERATE")
                result.moderate[op.scalar] = name
        if waiting_loops(kernel, boxes.boxes):
            result.hopper = HOPPER
        if kernel.dependent_launch is not None:
            result.dependent = DEPENDENT
        return result

    def parameters(self) -> list[code.Parameter]:
        """The parameters as a function's definition has them."""
        constant = code.path("tl.constexpr")
        kind = None if self.dynamic else constant
        numbers = [*self.sizes.values(), *(s for strides in self.strides.values() for s in strides)]
        return [
            *(code.Parameter(v, self.annotations.get(arg)) for arg, v in self.variables.items()),
            *map(code.Parameter, self.boxes.values()),
            *(code.Parameter(number, kind) for number in numbers),
            *(code.Parameter(extent, constant) for extent in self.tiles.values()),
            *(code.Parameter(name, constant) for name in self.moderate.values()),
            # Who launches a kernel has to know, as neither answer is right on all GPUs.
            *([code.Parameter(self.hopper, constant)] if self.hopper else []),
            code.Parameter(self.index, constant, code.path("tl.int64")),
            *(
                [code.Parameter(self.dependent, constant, code.constant(False))]
                if self.dependent else []
            ),
        ]  # fmt: skip


def signatures_of(
    kernels: Sequence[GridKernelOp], wrapper: str, reserved: Sequence[str] = ()
) -> tuple[str, dict[str, Signature]]:
    """The names of a module's functions.

    A program may call its functions what it likes; the module's own names come first.

    Args:
        kernels: the kernels.
        wrapper: the symbol of the host function.
        reserved: names that the module uses for itself, beside those of all modules.

    Returns:
        The wrapper's name, and the signatures of the kernels by their symbols.
    """
    names = code.Names([*RESERVED, *reserved])
    functions = {op.sym_name.data: names.fresh(op.sym_name.data) for op in kernels}
    wrapper = names.fresh(wrapper)
    taken = {*functions.values(), wrapper, *reserved}
    return wrapper, {
        op.sym_name.data: Signature.of(op, functions[op.sym_name.data], taken) for op in kernels
    }


def whole_labels(kernel: GridKernelOp) -> list[str]:
    """The labels that some tile of a kernel holds whole, in order of occurrence."""
    found: dict[str, None] = {}
    for value in values_of(kernel):
        for axis in axes_of(value.type):
            if isinstance(axis.extent, str):
                found[axis.extent] = None
    return list(found)


def _annotation(type: Attribute) -> ast.expr:
    if isinstance(type, IntegerType) and type.width.data <= 32:
        # Some of Triton's launchers take no narrow ones, or no negative ones.
        return code.path("tl.int32")
    return triton_type(type)

