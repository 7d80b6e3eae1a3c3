"""A host function for kernels that stand by themselves, so that they can run."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, UnitAttr
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from dt_mlir.analysis.joined_labels import joined_labels
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, loop, tile
from dt_mlir.dialects.kernel import KernelOp, argument_attributes
from dt_mlir.traversal import operations


def runnable_function(module: ModuleOp) -> host.FuncOp | None:
    """The host function of a module; where kernels stand alone, one that is made up for them.

    It launches the kernels one after the other, each with tensors of its own: what a kernel writes
    is allocated and returned, what it only reads is an argument. Where there are several kernels,
    their names come before those of the tensors (`kernel.A`).

    Returns:
        The function, which the module need not contain; None if there is no kernel either.

    Raises:
        CompileError: if a kernel writes a tensor that has an axis without a label, or none writes.
    """
    function = host.function_of(module)
    if function is not None:
        return function
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    return _made_up(kernels) if kernels else None


def _written(kernel: KernelOp) -> set[SSAValue]:
    return {
        op.base
        for op in operations(kernel)
        if isinstance(op, tile.StoreOp | loop.WriteOp) and isinstance(op.base, BlockArgument)
    }


def _made_up(kernels: list[KernelOp]) -> host.FuncOp:
    prefixes = [f"{kernel.sym_name.data}__" if len(kernels) > 1 else "" for kernel in kernels]
    labels = list(dict.fromkeys(label.data for kernel in kernels for label in kernel.labels))
    block = Block()
    sizes: dict[str, SSAValue] = {}
    attributes: list[DictionaryAttr] = []
    results: list[SSAValue] = []
    for label in labels:
        size = host.SizeOp(label)
        block.add_op(size)
        sizes[label] = size.result
    for item in dict.fromkeys(item for kernel in kernels for item in joined_labels(kernel)):
        block.add_op(host.DefineOp(item))
    for kernel, prefix in zip(kernels, prefixes):
        written = _written(kernel)
        values: list[SSAValue] = []
        for argument, name in zip(kernel.args, kernel.argument_names):
            axes, type = kernel.axes_of(argument), argument.type
            if argument not in written:
                attributes.append(argument_attributes(prefix + name, axes))
                values.append(block.insert_arg(type, len(block.args)))
                continue
            assert isinstance(type, MemRefType)
            unknown = [label for label in axes if label not in sizes]
            if unknown:
                raise CompileError(
                    f"the kernel writes '{name}', but says no label for each of its axes", kernel,
                    f"give '{host.AXES}' labels of the kernel",
                )  # fmt: skip
            extents = [sizes[label] for label in axes]
            alloc = host.AllocOp(prefix + name, axes, extents, type.element_type)
            alloc.location = kernel.location
            alloc.summed = UnitAttr() if name in kernel.summed_names else None
            block.add_op(alloc)
            values.append(alloc.result)
            results.append(alloc.result)
        block.add_op(host.LaunchOp(kernel.sym_name.data, values))
    if not results:
        raise CompileError("the kernel writes nothing, so there is nothing to compare", kernels[0])
    block.add_op(host.ReturnOp(results))
    return host.FuncOp("kernels", attributes, Region(block), labels)
