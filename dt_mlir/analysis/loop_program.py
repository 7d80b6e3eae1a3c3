"""A module of the `loop` level by the names of its kernels, functions and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    LocationAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.nests import check_writes, locals_of
from dt_mlir.copying import copy_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.dialects.sizes import Definition


class LoopProgram:
    """A module of the `loop` level, with its kernels, functions and tensors by name.

    What a directive moves between kernels it tells with `fused` and `drop_tensor`; looking things
    up takes the same time in a program of any size.

    Raises:
        CompileError: if the module is not of that level.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        functions = [op for op in module.ops if isinstance(op, host.FuncOp)]
        if len(functions) != 1 or not any(isinstance(op, loop.KernelOp) for op in module.ops):
            raise CompileError(
                "the module is not of the 'loop' level: it needs kernels and one host function",
                module,
                "run convert-dt-to-loop first",
            )
        self.host = functions[0]
        self._roots: dict[str, loop.KernelOp] = {}
        self._homes: dict[str, loop.KernelOp] = {}
        for kernel in module.ops:
            if isinstance(kernel, loop.KernelOp):
                check_writes(kernel)
                self._roots[kernel.root.data] = kernel
        for root, kernel in self._roots.items():
            self._homes[root] = kernel
            for op in locals_of(kernel):
                self._homes.setdefault(op.function.data, kernel)
        self._launches = {op.kernel_name: op for op in self.host.launches()}
        self._tensors = self._named_values()
        self._places = {name: i for i, name in enumerate(self._tensors)}
        self._inlined: set[str] = set()
        self.gathered: dict[str, str] = {}
        """The functions that are computed with the reductions of others, by name."""
        self.parts: dict[tuple[str, str], str] = {}
        """The functions that reduce parts, by the functions that combine them and the labels of
        the loops that these no longer have."""
        self.copies: dict[tuple[str, str], str] = {}
        """The functions by way of which functions read tensors, by the names of both."""
        self.places: dict[tuple[str, str], Attribute] = {}
        """The place of the first directive of a name on a function, by both names."""
        self._applied = dict.fromkeys(names(self.host.schedule))

    def copy(self) -> LoopProgram:
        """Returns the program with a module of its own, and with what its directives told it."""
        return self.in_module(copy_of(self.module))

    def in_module(self, module: ModuleOp) -> LoopProgram:
        """Returns another module as a program, with what the directives of this one told it.

        Args:
            module: a module that holds the kernels of this one, and may hold others.

        Raises:
            CompileError: if the module is not of the `loop` level.
        """
        found = LoopProgram(module)
        found._inlined = set(self._inlined)
        found.gathered = dict(self.gathered)
        found.parts, found.copies = dict(self.parts), dict(self.copies)
        found.places, found._applied = dict(self.places), dict(self._applied)
        return found

    @property
    def kernels(self) -> list[loop.KernelOp]:
        """The kernels."""
        return list(self._roots.values())

    def kernel_of(self, function: str) -> loop.KernelOp | None:
        """The kernel of a root; None if the function is not one."""
        return self._roots.get(function)

    def home_of(self, function: str) -> loop.KernelOp | None:
        """The kernel that computes a function, as its root or fused."""
        return self._homes.get(function)

    def functions(self) -> list[str]:
        """The functions that kernels compute, roots and fused ones."""
        return list(self._homes)

    def labels(self) -> list[str]:
        """The program's labels in declared order."""
        return list(self.host.label_names)

    def tensor_values(self) -> Mapping[str, SSAValue]:
        """Returns the operands that the host part passes to a kernel, in argument order."""
        return self._tensors

    def in_argument_order(self, tensors: Iterable[str]) -> list[str]:
        """Tensors and scalars in the order of a kernel's arguments, those that there are."""
        return sorted(filter(self._tensors.__contains__, tensors), key=self._places.__getitem__)

    def launch_of(self, kernel: loop.KernelOp) -> host.LaunchOp:
        """The launch of a kernel."""
        return self._launches[kernel.sym_name.data]

    def pass_arguments(self, kernel: loop.KernelOp) -> None:
        """Passes to a kernel, where it is launched, the arguments that it has."""
        values = [self._tensors[name] for name in kernel.argument_names]
        self.launch_of(kernel).operands = values

    def users_of(self, tensor: str) -> list[loop.KernelOp]:
        """The kernels that a tensor or a scalar is passed to."""
        value = self._tensors.get(tensor)
        launches = [] if value is None else [use.operation for use in value.uses]
        passed = {op.kernel_name for op in launches if isinstance(op, host.LaunchOp)}
        return [kernel for kernel in self.kernels if kernel.sym_name.data in passed]

    def outputs(self) -> set[str]:
        """The functions that the program returns."""
        return {host.tensor_name(value) for value in self.host.returned()}

    def declare(self, definition: Definition, location: LocationAttr) -> None:
        """Adds a label whose size follows from others, behind the labels that there are."""
        op = host.DefineOp(definition)
        op.location = location
        self.host.define(op)
        self.host.labels = name_array([*self.labels(), definition.label])

    def declare_same(self, name: str, label: str) -> None:
        """Adds a label of the size of another one, behind the labels that there are."""
        groups = [names(group) for group in self.host.same or ()]
        first = self.host.first_of_same().get(label, label)
        grown = [(*group, name) if group[0] == first else group for group in groups]
        if grown == groups:
            grown.append((label, name))
        self.host.same = ArrayAttr([name_array(group) for group in grown])
        self.host.labels = name_array([*self.labels(), name])

    def is_laid_out(self, function: str) -> bool:
        """Returns whether the axes of a function's tensor are padded, or have another order."""
        alloc = self._tensors[function].owner
        assert isinstance(alloc, host.AllocOp)
        padded = any(not isinstance(extent.owner, host.SizeOp) for extent in alloc.extents)
        return padded or alloc.order is not None

    def rename_axes(self, function: str, renamed: Mapping[str, str]) -> None:
        """Calls the axes of a function's tensor after other labels, of the same sizes, if it is not
        the caller's.

        Args:
            function: the root of a kernel.
            renamed: the other names of labels.
        """
        if function in self.outputs():
            return
        alloc = self._tensors[function].owner
        assert isinstance(alloc, host.AllocOp)
        before = names(alloc.axes)
        axes = [renamed.get(axis, axis) for axis in before]
        if axes == [*before]:
            return
        old = [extent.owner for extent in alloc.extents]
        alloc.operands = [self._size_of(axis, alloc, alloc.location) for axis in axes]
        alloc.axes = name_array(axes)
        self._drop_unused(old)
        for kernel in self.users_of(function):
            shown = [
                (name, axes if name == function else kernel.axes_of(argument))
                for name, argument in zip(kernel.argument_names, kernel.args)
            ]
            kernel.set_arguments(shown)
            known = {*names(kernel.labels), *axes}
            kernel.labels = name_array([label for label in self.labels() if label in known])

    def _size_of(self, label: str, place: Operation, location: LocationAttr) -> SSAValue:
        """Returns the size of a label in the host part, as it is known before an operation."""
        block, is_before = self.host.body.block, True
        for op in block.ops:
            is_before = is_before and op is not place
            if isinstance(op, host.SizeOp) and op.label.data == label:
                if not is_before:
                    op.detach()
                    block.insert_op_before(op, place)
                return op.result
        made = host.SizeOp(label)
        made.location = location
        made.result.name_hint = value_hint(label)
        block.insert_op_before(made, place)
        return made.result

    def _drop_unused(self, sizes: Iterable[object]) -> None:
        """Takes those of some sizes away that nothing needs."""
        for op in dict.fromkeys(sizes):
            if isinstance(op, host.SizeOp) and not op.result.uses:
                Rewriter.erase_op(op)

    def allocate(
        self,
        name: str,
        axes: Sequence[str],
        element: Attribute,
        location: LocationAttr,
        summed: bool = False,
    ) -> None:
        """Adds a tensor behind those that there are.

        Args:
            name: its name.
            axes: the labels of its axes.
            element: the type of its elements.
            location: the place in the source that asks for it.
            summed: whether the indices of its first axis share an element.
        """
        place = self.host.launches()[0]
        extents = [self._size_of(label, place, location) for label in axes]
        op = host.AllocOp(name, axes, extents, element)
        op.summed = UnitAttr() if summed else None
        op.location = location
        op.result.name_hint = value_hint(name)
        self.host.body.block.insert_op_before(op, place)
        self._tensors = self._named_values()
        self._places = {name: i for i, name in enumerate(self._tensors)}

    def add(self, kernel: loop.KernelOp, reader: loop.KernelOp) -> None:
        """Adds a kernel, which is launched before one that reads what it writes.

        Args:
            kernel: the kernel, which has its arguments.
            reader: the kernel that reads its results.
        """
        names = {op.sym_name.data for op in self.kernels} | set(self._homes)
        while kernel.sym_name.data in names:
            kernel.sym_name = StringAttr(kernel.sym_name.data + "_")
        self.module.body.block.insert_op_before(kernel, reader)
        values = [self._tensors[name] for name in kernel.argument_names]
        launch = host.LaunchOp(kernel.sym_name.data, values)
        launch.location = kernel.location
        self.host.body.block.insert_op_before(launch, self.launch_of(reader))
        self._launches[launch.kernel_name] = launch
        self._roots[kernel.root.data] = self._homes[kernel.root.data] = kernel

    def fused(self, function: str, home: loop.KernelOp) -> None:
        """Takes a root's kernel and its launch away, now that another kernel computes it."""
        producer = self._roots.pop(function)
        launch = self._launches.pop(producer.sym_name.data)
        self._homes.update({n: home for n, k in self._homes.items() if k is producer})
        for op in (launch, producer):
            Rewriter.erase_op(op)

    def inlined(self, function: str, home: loop.KernelOp) -> None:
        """Takes a function away that its readers compute, unless the program returns it.

        Args:
            function: the root of a kernel.
            home: a kernel that computes it now, and what is fused into it.
        """
        if function not in self.outputs():
            self.fused(function, home)
            self.drop_tensor(function)
            self._homes.pop(function)
            self._inlined.add(function)

    def is_inlined(self, function: str) -> bool:
        """Returns whether a function is computed by its readers, without loops of its own."""
        return function in self._inlined

    def drop_tensor(self, name: str) -> None:
        """Takes the storage of a function away, and the sizes that nothing else needs."""
        alloc = self._tensors.pop(name).owner
        assert isinstance(alloc, host.AllocOp)
        extents = [extent.owner for extent in alloc.extents]
        Rewriter.erase_op(alloc)
        self._drop_unused(extents)

    def record(self, directive: str) -> None:
        """Notes an applied directive, for the documentation of what is emitted."""
        self._applied[directive] = None

    def write_record(self) -> None:
        """Writes the directives that were noted into the host part."""
        self.host.schedule = name_array(list(self._applied))

    def _named_values(self) -> dict[str, SSAValue]:
        tensors: dict[str, SSAValue] = {}
        scalars: dict[str, SSAValue] = {}
        for arg in self.host.body.block.args:
            into = tensors if isinstance(arg.type, MemRefType) else scalars
            into[host.tensor_name(arg)] = arg
        tensors.update((op.tensor.data, op.result) for op in self.host.allocations())
        return {**tensors, **scalars}
