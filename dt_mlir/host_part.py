"""The host part of a module: what the wrapper around the kernels does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host
from dt_mlir.dialects.formats import is_name_array, names, symbols_in
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier
from dt_mlir.dialects.kernel import KernelOp


def _names(attr: Attribute | None, least: int = 0) -> bool:
    return is_name_array(attr) and len(attr) >= least and all(map(is_identifier, names(attr)))


def _axes(attr: Attribute | None, rank: int) -> bool:
    """Whether an attribute labels so many axes; "" labels one that is read by numbers only."""
    return (
        is_name_array(attr)
        and len(attr) == rank
        and all(not label or is_identifier(label) for label in names(attr))
    )


def _name(attr: Attribute | None) -> bool:
    return isinstance(attr, StringAttr) and is_identifier(attr.data)


def _integers(attr: Attribute | None) -> bool:
    return isinstance(attr, ArrayAttr) and all(isinstance(x, IntegerAttr) for x in attr)


def _groups(attr: Attribute | None) -> bool:
    return isinstance(attr, ArrayAttr) and all(_names(x, least=2) for x in attr)


def _conditions(attr: Attribute | None) -> bool:
    return isinstance(attr, ArrayAttr) and all(
        isinstance(x, DictionaryAttr)
        and _name(x.data.get("label"))
        and isinstance(x.data.get("least"), IntegerAttr)
        and isinstance(x.data.get("reason"), StringAttr)
        for x in attr
    )


def _sizes(attr: Attribute | None) -> bool:
    return isinstance(attr, DictionaryAttr) and all(
        is_identifier(label) and isinstance(x, IntegerAttr) and x.value.data > 0
        for label, x in attr.data.items()
    )


_FUNCTION_ATTRIBUTES: dict[str, tuple[bool, Callable[[Attribute | None], bool]]] = {
    host.ALGORITHM: (True, is_name_array),
    host.SCHEDULE: (True, is_name_array),
    host.OUTPUTS: (True, is_name_array),
    host.LABELS: (True, _names),
    host.SAME: (False, _groups),
    host.NONEMPTY: (False, _conditions),
    host.SIZES: (False, _sizes),
}
"""The attributes of a host function: whether it must have them, and what they must be."""


def check_host_part(function: func.FuncOp) -> None:
    """Check that a function is what the passes and the wrapper take for a host part.

    Raises:
        CompileError: at the first thing that is missing or malformed.
    """
    if not is_identifier(function.sym_name.data):
        raise CompileError(
            f"{function.sym_name.data!r} is not a name of a function", function, NAMES_HINT
        )
    for name, (needed, check) in _FUNCTION_ATTRIBUTES.items():
        attr = function.attributes.get(name)
        if (needed or attr is not None) and not check(attr):
            raise CompileError(f"the host function needs a well-formed '{name}'", function)
    args = function.body.block.args if function.body.blocks else ()
    attrs = list(function.arg_attrs) if function.arg_attrs is not None else []
    if len(attrs) != len(args):
        raise CompileError("the arguments of the host function need attributes", function)
    for arg, found in zip(args, attrs):
        rank = arg.type.get_num_dims() if isinstance(arg.type, MemRefType) else 0
        axes, least = found.data.get(host.AXES), found.data.get(host.MINIMUMS)
        if (
            not _name(found.data.get(host.NAME))
            or not _axes(axes, rank)
            or (least is not None and not (_integers(least) and len(least) == rank))  # pyright: ignore
        ):
            raise CompileError(
                f"argument {arg.index} of the host function needs a well-formed "
                f"'{host.NAME}' and '{host.AXES}'",
                function,
            )
    launched: list[host.LaunchOp] = []
    known: set[SSAValue] = set(args)
    results: set[SSAValue] = set()
    for op in function.body.block.ops if function.body.blocks else ():
        match op:
            case host.SizeOp():
                continue
            case host.RoundUpOp():
                if not isinstance(op.size.owner, host.SizeOp):
                    raise CompileError("what is rounded up is the size of a label", op)
            case memref.AllocOp():
                type = op.memref.type
                axes = op.attributes.get(host.AXES)
                if not _name(op.attributes.get(host.NAME)) or not _axes(
                    axes, type.get_num_dims()
                ):
                    raise CompileError(
                        f"an allocation needs a well-formed '{host.NAME}' and '{host.AXES}'", op
                    )
                if [_extent_label(extent) for extent in op.dynamic_sizes] != list(names(axes)):  # pyright: ignore
                    raise CompileError(
                        "the extents of an allocation are the sizes of its labels, or those "
                        "rounded up", op,
                    )  # fmt: skip
                results.add(op.memref)
            case host.LaunchOp():
                if not set(op.arguments) <= known | results:
                    raise CompileError("a launch takes arguments and allocations", op)
                launched.append(op)
            case func.ReturnOp():
                if not op.arguments or not set(op.arguments) <= results:
                    raise CompileError("the host function returns what it allocates", op)
                for value in op.arguments:
                    if is_padded(value):
                        raise CompileError(
                            f"the storage of '{value_name(value)}' is padded, but it is returned",
                            op,
                        )
            case _:
                raise CompileError(f"'{op.name}' cannot stand in the host function", op)
    _check_launches(function, launched)


def _extent_label(extent: SSAValue) -> str | None:
    op = extent.owner
    if isinstance(op, host.RoundUpOp):
        op = op.size.owner
    return op.label.data if isinstance(op, host.SizeOp) else None


def alignment_of(value: SSAValue) -> tuple[int, ...]:
    """For each axis of a tensor of a host function the number whose multiple its extent in storage
    is; 1 where it is not padded."""
    if not isinstance(value.owner, memref.AllocOp):
        assert isinstance(value.type, MemRefType)
        return (1,) * value.type.get_num_dims()
    extents = [extent.owner for extent in value.owner.dynamic_sizes]
    return tuple(
        op.multiple.value.data if isinstance(op, host.RoundUpOp) else 1 for op in extents
    )


def is_padded(value: SSAValue) -> bool:
    """Whether a tensor of a host function takes more storage than it has elements."""
    return any(multiple > 1 for multiple in alignment_of(value))


def shown_indices(axis: int, number: int, rank: int) -> str:
    """The indices of a tensor that is read at a number along one of its axes: `_, 3`."""
    # In ASCII, since attributes keep it: xDSL reads strings with other characters as bytes.
    return ", ".join(str(number) if i == axis else "_" for i in range(rank))


def value_name(value: SSAValue) -> str | None:
    """The name in the source of an argument or an allocation of a host function."""
    name = _attributes_of(value).get(host.NAME)
    return name.data if isinstance(name, StringAttr) else None


def _attributes_of(value: SSAValue) -> Mapping[str, Attribute]:
    if isinstance(value.owner, memref.AllocOp):
        return value.owner.attributes
    assert isinstance(value, BlockArgument)
    function = value.block.parent_op()
    assert isinstance(function, func.FuncOp)
    assert function.arg_attrs is not None
    return function.arg_attrs.data[value.index].data


def value_axes(value: SSAValue) -> tuple[str, ...]:
    """The labels of the axes of an argument or an allocation of a host function."""
    axes = _attributes_of(value).get(host.AXES)
    assert is_name_array(axes)
    return names(axes)


def _check_launches(function: func.FuncOp, launched: list[host.LaunchOp]) -> None:
    """Check that each kernel is launched once, on the tensors and scalars that it names."""
    module = function.parent_op()
    kernels = {} if module is None else symbols_in(module)
    labels = set(names(function.attributes[host.LABELS]))  # pyright: ignore
    counts: dict[str, int] = {}
    for op in launched:
        kernel = kernels.get(op.kernel_name)
        counts[op.kernel_name] = counts.get(op.kernel_name, 0) + 1
        if isinstance(kernel, KernelOp):
            found = tuple(map(value_name, op.arguments))
            if found != kernel.argument_names:
                raise CompileError(
                    f"'{op.kernel_name}' is launched on {', '.join(map(str, found))}, "
                    f"but its arguments are {', '.join(kernel.argument_names)}",
                    op,
                )
            for value, argument, name in zip(op.arguments, kernel.args, found):
                if value_axes(value) != kernel.axes_of(argument):
                    raise CompileError(
                        f"the axes of '{name}' have other labels here than in '{op.kernel_name}'",
                        op, "give both the same 'host.axes'",
                    )  # fmt: skip
    for kernel in kernels.values():
        if isinstance(kernel, KernelOp):
            if counts.get(kernel.sym_name.data, 0) != 1:
                raise CompileError(
                    f"'{kernel.sym_name.data}' is launched {counts.get(kernel.sym_name.data, 0)} "
                    "times, not once",
                    kernel,
                )
            grid = kernel.properties.get("grid_labels")
            blocked = names(grid) if isinstance(grid, ArrayAttr) else ()  # pyright: ignore
            unknown = {*blocked, *(label.data for label in kernel.labels)} - labels
            if unknown:
                raise CompileError(f"'{unknown.pop()}' is no label of the host function", kernel)


@dataclass
class HostPart:
    """What the host part of a module says."""

    function: func.FuncOp
    inputs: list[tuple[SSAValue, str, tuple[str, ...], DictionaryAttr]] = field(
        default_factory=list[tuple[SSAValue, str, tuple[str, ...], DictionaryAttr]]
    )
    allocations: list[memref.AllocOp] = field(default_factory=list[memref.AllocOp])
    launches: list[host.LaunchOp] = field(default_factory=list[host.LaunchOp])
    outputs: list[SSAValue] = field(default_factory=list[SSAValue])

    @staticmethod
    def of(function: func.FuncOp) -> HostPart:
        """Read a host function.

        Raises:
            CompileError: if it is malformed.
        """
        result = HostPart(function)
        check_host_part(function)
        for arg, attrs in zip(function.body.block.args, function.arg_attrs or ()):
            name, axes = attrs.data[host.NAME], attrs.data[host.AXES]
            assert isinstance(name, StringAttr)
            assert isinstance(axes, ArrayAttr)
            found = names(axes)  # pyright: ignore[reportArgumentType]
            result.inputs.append((arg, name.data, found, attrs))
        for op in function.body.block.ops:
            match op:
                case memref.AllocOp():
                    result.allocations.append(op)
                case host.LaunchOp():
                    result.launches.append(op)
                case func.ReturnOp():
                    result.outputs = list(op.arguments)
                case _:
                    pass
        return result

    def strings(self, attribute: str) -> list[str]:
        """An attribute of the host function that is an array of strings."""
        attr = self.function.attributes.get(attribute)
        return list(names(attr)) if isinstance(attr, ArrayAttr) else []  # pyright: ignore

    def program(self) -> list[str]:
        """The program in canonical DT."""
        return [
            *self.strings(host.ALGORITHM),
            *self.strings(host.SCHEDULE),
            *self.strings(host.OUTPUTS),
        ]

    @property
    def kernel_only(self) -> bool:
        """Whether only the kernels are wanted."""
        return host.KERNEL_ONLY in self.function.attributes

    def fixed_sizes(self) -> dict[str, int]:
        """The sizes of labels that the program is compiled for."""
        attr = self.function.attributes.get(host.SIZES)
        found: dict[str, int] = {}
        for label, size in attr.data.items() if isinstance(attr, DictionaryAttr) else ():
            assert isinstance(size, IntegerAttr)
            found[label] = size.value.data
        return found

    def same(self) -> dict[str, str]:
        """For each label the first of those that have its size."""
        attr = self.function.attributes.get(host.SAME)
        found: dict[str, str] = {}
        for group in attr if isinstance(attr, ArrayAttr) else ():
            first, *rest = names(group)  # pyright: ignore[reportArgumentType]
            found.update(dict.fromkeys(rest, first))
        return found
