"""Prints one kernel of the `warp` level as functions of Gluon."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, SSAValue

from dt_mlir.backend.gluon.partition import PartitionPrinter
from dt_mlir.backend.gluon.types import shared_layout
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.scalars import INDEX, triton_type
from dt_mlir.backend.triton.signature import GRID_WAIT, Signature
from dt_mlir.dialects import tile, warp
from dt_mlir.traversal import operations, operations_of

RESERVED = (
    "gl", "gluon", "mbarrier", "tma", "fence_async_shared", "warpgroup_mma", "warpgroup_mma_wait",
    "TensorDescriptor",
)  # fmt: skip
"""Names that modules of Gluon use for themselves, beside those of Triton's."""

TRITON_ONLY = ("PropagateNan", "extra")
"""Names of Triton's language that Gluon takes as they are, and does not have itself."""


@dataclass
class GluonSignature:
    """The parameters of a kernel.

    Descriptors come first, then pointers to what threads load and store, scalars, sizes by label in
    declared order, strides, and whether scalars are of moderate size.
    """

    common: Signature
    """The names that kernels of all backends have."""
    descriptors: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The parameter of each descriptor."""
    accessed: list[BlockArgument] = field(default_factory=list[BlockArgument])
    """The tensors that threads load from and store to."""
    scalars: list[BlockArgument] = field(default_factory=list[BlockArgument])
    """The scalars."""

    @staticmethod
    def of(kernel: warp.KernelOp, common: Signature) -> GluonSignature:
        """The parameters of a kernel.

        Args:
            kernel: the kernel.
            common: the names that kernels of all backends have.
        """
        found = GluonSignature(common)
        for op in operations_of(kernel, warp.TmaDescriptorOp):
            name = op.result.name_hint or "box"
            found.descriptors[op.result] = common.names.fresh(name)
        bases = {op.base for op in operations(kernel) if isinstance(op, tile.AccessOp)}
        found.accessed = [arg for arg in kernel.args if arg in bases]
        found.scalars = [arg for arg in kernel.args if not isinstance(arg.type, MemRefType)]
        return found

    @property
    def constants(self) -> list[str]:
        """The parameters that are constants of the compiled kernel."""
        strides = (stride for arg in self.accessed for stride in self.common.strides[arg])
        return [*self.common.sizes.values(), *strides, *self.common.moderate.values()]

    @property
    def arguments(self) -> list[code.Parameter]:
        """The parameters of pointers and scalars."""
        given = self.common.variables, self.common.annotations
        return [
            code.Parameter(given[0][arg], given[1].get(arg))
            for arg in (*self.accessed, *self.scalars)
        ]

    def parameters(self) -> list[code.Parameter]:
        """The parameters as a function's definition has them."""
        constant = code.path("gl.constexpr")
        return [
            *map(code.Parameter, self.descriptors.values()),
            *self.arguments,
            *(code.Parameter(name, constant) for name in self.constants),
        ]


def print_kernel(
    kernel: warp.KernelOp,
    signature: GluonSignature,
    helpers: set[str],
    documentation: list[str],
    origins: Origins | None = None,
) -> list[ast.FunctionDef]:
    """The functions of a kernel: one for each partition and its groups, then the kernel.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        helpers: collects the names of the combine functions that it uses.
        documentation: the lines of the kernel's docstring.
        origins: collects the operations that code comes from, if they are wanted.
    """
    names, writer = signature.common.names, code.Writer()
    number = names.fresh("number")
    handles = dict(signature.descriptors)
    shared: list[SSAValue] = list(handles)
    for op in kernel.body.block.ops:
        first = len(writer.statements)
        match op:
            case warp.AllocOp():
                handles[op.result] = names.fresh(op.result.name_hint or "buffers")
                shared.append(op.result)
                type = op.result.type
                assert isinstance(type, warp.RingType)
                writer.assign(handles[op.result], code.call(
                    "gl.allocate_shared_memory", triton_type(type.element_type),
                    code.numbers([type.depth.data, *type.extents]), shared_layout(type),
                ))  # fmt: skip
            case warp.MBarrierCreateOp():
                name = handles[op.result] = names.fresh(op.result.name_hint or "barriers")
                shared.append(op.result)
                _create_barriers(writer, op, name, number)
            case warp.FenceAsyncOp():
                writer.expression(code.call("fence_async_shared"))
            case warp.GridWaitOp():
                writer.expression(code.call(GRID_WAIT))
            case warp.TmaDescriptorOp() | tile.SizeOp() | arith.ConstantOp() | warp.SpecializeOp():
                pass
            case _:
                raise AssertionError(f"'{op.name}' cannot stand in front of partitions")
        if origins is not None:
            origins.note(op, writer.statements[first:])
    constant = code.path("gl.constexpr")
    given = [
        *(code.Parameter(handles[value]) for value in shared),
        *(code.Parameter(argument.name) for argument in signature.arguments),
        *(code.Parameter(name, constant) for name in signature.constants),
    ]
    passed = [code.name(parameter.name) for parameter in given]
    functions: list[ast.FunctionDef] = []
    groups: list[str] = []
    for partition in kernel.specialize.partitions:
        name = names.fresh(f"{kernel.root.data}_{partition.sym_name.data}")
        printer = PartitionPrinter(kernel, signature.common, handles, helpers, origins)
        functions.append(printer.partition(partition, name, given))
        if partition.replicas is None:
            groups.append(name)
            continue
        for number in range(partition.count):
            group = names.fresh(f"{name}_{number}")
            functions.append(_group(group, name, number, given, passed))
            groups.append(group)
    writer.expression(_specialized(kernel, groups, passed))
    functions.append(code.function(
        signature.common.name, signature.parameters(), documentation, writer.statements,
        decorators=[code.path("gluon.jit")],
    ))  # fmt: skip
    for function in functions:
        _rename(function)
    return functions


def _create_barriers(
    writer: code.Writer, op: warp.MBarrierCreateOp, name: str, number: str
) -> None:
    writer.assign(name, code.call(
        "gl.allocate_shared_memory", code.path("gl.int64"), code.numbers([op.depth, 1]),
        code.call("mbarrier.MBarrierLayout"),
    ))  # fmt: skip
    with writer.loop(number, code.call("gl.static_range", code.constant(op.depth))):
        barrier = code.method(code.name(name), "index", code.name(number))
        count = code.constant(op.arrivals.value.data)
        writer.expression(code.call("mbarrier.init", barrier, count=count))


def _group(
    name: str, partition: str, number: int, given: list[code.Parameter], passed: list[ast.expr]
) -> ast.FunctionDef:
    """The function of one of several groups: that of all, with its number."""
    call = ast.Expr(code.call(partition, code.constant(number), *passed))
    return code.function(
        name, given, [f"Group {number} of {partition}."], [call],
        decorators=[code.path("gluon.jit")],
    )  # fmt: skip


def _specialized(kernel: warp.KernelOp, groups: list[str], passed: list[ast.expr]) -> ast.expr:
    # What runs on the warps of the launch has the registers that the others leave.
    workers = [p for p in kernel.specialize.partitions for _ in range(p.count)][1:]
    functions = [code.tuple_of([code.name(group), code.tuple_of(passed)]) for group in groups]
    warps = [p.warps.value.data for p in workers]
    registers = [24 if p.registers is None else p.registers.value.data for p in workers]
    return code.call(
        "gl.warp_specialize", ast.List(functions, ast.Load()), code.numbers(warps),
        code.numbers(registers),
    )  # fmt: skip


def _rename(function: ast.FunctionDef) -> None:
    """Calls Triton's language by the name of Gluon's, where that has what is used of it."""
    kept = {
        node.value for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in TRITON_ONLY
    }  # fmt: skip
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == "tl" and node not in kept:
            node.id = "gl"
        if isinstance(node, ast.expr):
            code.forget_text(node)
    _Indices().visit(function)


class _Indices(ast.NodeTransformer):
    """Gives indices their type, for which Triton's kernels have a parameter.

    Tensors with more elements than that counts have no such kernel.
    """

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replaces the name of the parameter."""
        return code.path("gl.int32") if node.id == INDEX else node
