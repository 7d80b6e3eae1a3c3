"""The `host` dialect: the function that is the wrapper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from dt_mlir.diagnostics import MalformedError
from dt_mlir.dialects.formats import (
    is_name_array,
    name_array,
    names,
    symbols_in,
)
from dt_mlir.dialects.functions import BodyIsCallable, parse_function, print_function
from dt_mlir.dialects.host.launches import LaunchOp
from dt_mlir.dialects.host.sizes import DefineOp, InBoundsOp
from dt_mlir.dialects.host.tensors import AllocOp, RoundUpOp, SizeOp
from dt_mlir.dialects.identifiers import (
    Identifier,
    Identifiers,
    Symbol,
    check_identifier,
)
from dt_mlir.dialects.sizes import Bound, Definition
from dt_mlir.dialects.values import parse_optional_value
from dt_mlir.element_types import is_element_type

NAME = "host.name"
"""Argument attribute: the tensor's or scalar's name in the source."""
AXES = "host.axes"
"""Argument attribute: each axis' label, "" if it is read by numbers only."""
MINIMUMS = "host.minimums"
"""Argument attribute: the least extent of each axis that reading by numbers needs."""


@irdl_attr_definition
class AtLeastAttr(ParametrizedAttribute):
    """The least size of a label: `#host.at_least<l, 1, "maximum in 'largest'">`."""

    name = "host.at_least"

    label: StringAttr = param_def(Identifier)
    """The label."""
    size: IntAttr = param_def()
    """The least size."""
    reason: StringAttr = param_def()
    """The use that needs it."""

    def __init__(self, label: str, size: int, reason: str) -> None:
        super().__init__(StringAttr(label), IntAttr(size), StringAttr(reason))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            label = parser.parse_identifier("a label")
            parser.parse_punctuation(",")
            size = parser.parse_integer()
            parser.parse_punctuation(",")
            return [StringAttr(label), IntAttr(size), StringAttr(parser.parse_str_literal())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.label.data}, {self.size.data}, ")
            printer.print_attribute(self.reason)


_Statements = ArrayAttr[StringAttr]
_NONE = ArrayAttr[StringAttr]([])


class Argument(NamedTuple):
    """An argument of a host function."""

    value: SSAValue
    """The argument."""
    name: str
    """Its name in the source."""
    axes: tuple[str, ...]
    """The labels of its axes, "" for one that is read at numbers only; none for a scalar."""
    minimums: tuple[int, ...]
    """The least extent of each axis that reading at numbers needs."""


@irdl_op_definition
class FuncOp(IRDLOperation):
    """The wrapper: a function that takes the inputs and returns the outputs.

    Each argument has its name in the source (`host.name`) and the labels of its axes
    (`host.axes`), and where it is read at numbers the least extents that these need
    (`host.minimums`). The body allocates with `host.alloc` and launches each kernel of the module
    once, on the tensors and scalars that the kernel names.
    """

    name = "host.func"
    GRAMMAR: ClassVar = "symbol `(` argument, … `)` (`->` type)? (`attributes` attr-dict)? region"

    sym_name = prop_def(Symbol)
    """The name of the first output, or of what is compiled."""
    function_type = prop_def(FunctionType)
    """The types of the inputs and of the outputs."""
    arg_attrs = prop_def(ArrayAttr[DictionaryAttr])
    """The attributes of each argument."""
    labels = prop_def(Identifiers, default_value=_NONE)
    """The labels of the algorithm, in declared order."""
    algorithm = prop_def(_Statements, default_value=_NONE)
    """The algorithm in canonical DT, a statement each."""
    schedule = prop_def(_Statements, default_value=_NONE)
    """The directives that were applied, in canonical DT."""
    compiled = prop_def(_Statements, default_value=_NONE)
    """The directives that say what is compiled, in canonical DT."""
    same = opt_prop_def(ArrayAttr.constr(Identifiers))
    """Groups of labels that have one size."""
    nonempty = opt_prop_def(ArrayAttr[AtLeastAttr])
    """The least sizes of labels."""
    sizes = opt_prop_def(DictionaryAttr)
    """The sizes of labels that the program is compiled for."""
    kernel_only = opt_prop_def(UnitAttr)
    """Present where only the kernels are wanted, without the wrapper."""
    certificate = opt_prop_def(StringAttr)
    """The digest of the program's certificate, if it has one."""
    body = region_def("single_block")
    """The steps of the wrapper: allocations, launches and the return."""

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), BodyIsCallable())

    def __init__(
        self,
        name: str,
        arguments: Sequence[DictionaryAttr],
        body: Region,
        labels: Sequence[str],
        algorithm: Sequence[str] = (),
        compiled: Sequence[str] = (),
    ) -> None:
        last = body.block.last_op
        results = last.operand_types if isinstance(last, ReturnOp) else ()
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(body.block.arg_types, results),
                "arg_attrs": ArrayAttr(arguments),
                "labels": name_array(labels),
                "algorithm": name_array(algorithm),
                "schedule": name_array([]),
                "compiled": name_array(compiled),
            },
            regions=[body],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that the algorithm uses."""
        return names(self.labels)

    def fixed_sizes(self) -> dict[str, int]:
        """Returns the sizes of labels that the program is compiled for."""
        items = self.sizes.data.items() if self.sizes is not None else ()
        found = {label: n.value.data for label, n in items if isinstance(n, IntegerAttr)}
        for op in self.definitions():
            if set(op.sizes) <= found.keys():
                found.setdefault(op.label, op.value(found))
        return found

    def first_of_same(self) -> dict[str, str]:
        """Returns for each label the first of those that have its size, if it is another."""
        found: dict[str, str] = {}
        for group in self.same or ():
            first, *rest = names(group)
            found.update(dict.fromkeys(rest, first))
        return found

    def program(self) -> list[str]:
        """Returns the program in canonical DT, a statement each."""
        return [*names(self.algorithm), *names(self.schedule), *names(self.compiled)]

    def arguments(self) -> list[Argument]:
        """Returns the arguments with what is known of them."""
        found: list[Argument] = []
        for value, attrs in zip(self.body.block.args, self.arg_attrs):
            least = attrs.data.get(MINIMUMS)
            numbers = least.data if isinstance(least, ArrayAttr) else ()
            minimums = [n.value.data for n in numbers if isinstance(n, IntegerAttr)]
            axes = tensor_axes(value)
            minimums = minimums or [0] * len(axes)
            found.append(Argument(value, tensor_name(value), axes, tuple(minimums)))
        return found

    def definitions(self) -> list[Definition]:
        """Returns the sizes that follow from others."""
        return [op.definition for op in self.body.block.ops if isinstance(op, DefineOp)]

    def define(self, op: DefineOp) -> None:
        """Adds a size that follows from others, behind those that it may depend on."""
        block = self.body.block
        before = block.first_op
        while isinstance(before, DefineOp):
            before = before.next_op
        assert before is not None
        block.insert_op_before(op, before)

    def bounds(self) -> list[Bound]:
        """Returns the indices that are checked."""
        return [op.bound for op in self.body.block.ops if isinstance(op, InBoundsOp)]

    def allocations(self) -> list[AllocOp]:
        """Returns the allocations of outputs and intermediates."""
        return [op for op in self.body.block.ops if isinstance(op, AllocOp)]

    def launches(self) -> list[LaunchOp]:
        """Returns the launches of kernels in order."""
        return [op for op in self.body.block.ops if isinstance(op, LaunchOp)]

    def returned(self) -> list[SSAValue]:
        """Returns the outputs in order."""
        last = self.body.block.last_op
        return list(last.values) if isinstance(last, ReturnOp) else []

    def attributes_of(self, argument: BlockArgument) -> Mapping[str, Attribute]:
        """Returns the attributes of an argument."""
        return self.arg_attrs.data[argument.index].data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return parse_function(parser, cls)

    def print(self, printer: Printer) -> None:
        print_function(printer, self, self.function_type, self.arg_attrs, self.body)

    def verify_(self) -> None:
        block = self.body.block
        self._check_attributes()
        tensors: set[SSAValue] = set(block.args)
        named = {tensor_name(arg) for arg in block.args}
        defined: set[str] = set()
        returned: ReturnOp | None = None
        for op in block.ops:
            match op:
                case AllocOp():
                    if op.tensor.data in named:
                        raise MalformedError(f"there are two tensors '{op.tensor.data}'", op)
                    named.add(op.tensor.data)
                    tensors.add(op.result)
                case LaunchOp():
                    if not set(op.arguments) <= tensors:
                        raise MalformedError("a launch takes arguments and allocations", op)
                case ReturnOp():
                    returned = op
                case DefineOp():
                    label, sizes = op.definition.label, op.definition.sizes
                    if label in defined:
                        raise MalformedError(f"the size of '{label}' is given twice", op)
                    defined.add(label)
                    self._check_known(op, [label, *sizes])
                case InBoundsOp():
                    bound = op.bound
                    self._check_known(op, [bound.label, *bound.over, *bound.sizes])
                case SizeOp() | RoundUpOp():
                    pass
                case _:
                    raise MalformedError(f"'{op.name}' cannot stand in the host function", op)
        if returned is None:
            raise VerifyException("the host function ends with 'host.return'")
        if returned.operand_types != tuple(self.function_type.outputs):
            raise VerifyException("the type of a host function is that of what it returns")
        self._check_order_of_sizes()
        self._check_launches()

    def _check_order_of_sizes(self) -> None:
        """Checks that no size follows from itself.

        Raises:
            MalformedError: at one that does.
        """
        first = self.first_of_same()
        ops = {op.label.data: op for op in self.body.block.ops if isinstance(op, DefineOp)}
        order = TopologicalSorter[str]()
        for label, op in ops.items():
            sizes = [first.get(size, size) for size in op.definition.sizes]
            order.add(first.get(label, label), *sizes)
        try:
            order.prepare()
        except CycleError as error:
            cycle = {*error.args[1]}
            label = next(label for label in ops if first.get(label, label) in cycle)
            raise MalformedError(f"the size of '{label}' depends on itself", ops[label]) from None

    def _check_known(self, op: Operation, labels: Sequence[str]) -> None:
        """Checks that labels are those of the function, or of an argument's axes.

        Raises:
            MalformedError: at the first that is not.
        """
        known = {*self.label_names, *(a for item in self.arguments() for a in item.axes)}
        for label in labels:
            if label not in known:
                raise MalformedError(f"'{label}' is not a label of the host function", op)

    def _check_attributes(self) -> None:
        """Checks the attributes of the arguments, and the sizes of labels."""
        args = self.body.block.args
        if self.function_type.inputs.data != self.body.block.arg_types:
            raise VerifyException("the type of a host function is that of its arguments")
        if len(self.arg_attrs) != len(args):
            raise VerifyException("the arguments of a host function need attributes")
        for arg, attrs in zip(args, self.arg_attrs):
            rank = arg.type.get_num_dims() if isinstance(arg.type, MemRefType) else 0
            name, axes, least = (attrs.data.get(key) for key in (NAME, AXES, MINIMUMS))
            if not isinstance(name, StringAttr):
                raise VerifyException(f"argument {arg.index} needs a '{NAME}'")
            check_identifier(name.data)
            if not is_element_type(_element_of(arg.type)):
                raise VerifyException(f"argument '{name.data}' has elements of {arg.type}")
            if not is_name_array(axes) or len(axes) != rank:
                raise VerifyException(f"argument '{name.data}' needs {rank} labels in '{AXES}'")
            for label in filter(None, names(axes)):
                check_identifier(label)
            if least is not None and not (
                isinstance(least, ArrayAttr)
                and len(least) == rank
                and all(isinstance(number, IntegerAttr) for number in least)
            ):
                raise VerifyException(
                    f"argument '{name.data}' needs {rank} numbers in '{MINIMUMS}'"
                )
        if any(len(group) < 2 for group in self.same or ()):
            raise VerifyException("a group of labels of one size has two of them at least")
        for label, size in self.sizes.data.items() if self.sizes is not None else ():
            check_identifier(label)
            if not isinstance(size, IntegerAttr) or size.value.data < 1:
                raise VerifyException(f"the size of '{label}' must be a positive number")

    def _check_launches(self) -> None:
        """Checks that each kernel is launched once, on the tensors and scalars that it names."""
        module = self.parent_op()
        launched = self.launches()
        counts = Counter(op.kernel_name for op in launched)
        counts.update([name for op in launched if (name := op.specialized_name) is not None])
        for op in launched:
            _check_arguments(op)
            pairs = [label for pair in op.equal_labels for label in pair]
            self._check_known(op, [*pairs, *op.known_sizes])
        for kernel in symbols_in(module).values() if module is not None else ():
            if not kernel.name.endswith(".kernel"):
                continue
            name = kernel.properties["sym_name"]
            assert isinstance(name, StringAttr)
            if counts[name.data] != 1:
                raise MalformedError(
                    f"'{name.data}' is launched {counts[name.data]} times, not once", kernel
                )
            used: set[str] = set()
            for key in ("labels", "grid_labels"):
                labels = kernel.properties.get(key)
                used.update(names(labels) if is_name_array(labels) else ())
            unknown = sorted(used - {*self.label_names})
            if unknown:
                raise MalformedError(f"'{unknown[0]}' is not a label of the host function", kernel)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends the wrapper with the outputs."""

    name = "host.return"
    GRAMMAR: ClassVar = "values attr-dict"

    values = var_operand_def(MemRefType)
    """The outputs: allocations, as large as their labels."""

    traits = traits_def(IsTerminator(), HasParent(FuncOp))

    def __init__(self, values: Sequence[SSAValue]) -> None:
        super().__init__(operands=[values])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: list[SSAValue] = []
        while (value := parse_optional_value(parser)) is not None:
            values.append(value)
            if not parser.parse_optional_punctuation(","):
                break
        op = cls(values)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        if self.values:
            printer.print_string(" ")
            printer.print_list(self.values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if not self.values:
            raise VerifyException("a host function returns what it allocates")
        for value in self.values:
            op = value.owner
            if not isinstance(op, AllocOp):
                raise VerifyException("a host function returns what it allocates")
            if op.is_padded:
                raise VerifyException(
                    f"the storage of '{op.tensor.data}' is padded, but it is returned"
                )


def _check_arguments(launch: LaunchOp) -> None:
    """Checks that the arguments of a launch have the names and the axes that the kernel gives them.

    Raises:
        MalformedError: where they do not.
    """
    for kernel in launch.kernel_ops():
        attrs, symbol = kernel.properties.get("arg_attrs"), kernel.properties["sym_name"]
        assert isinstance(symbol, StringAttr)
        if not isinstance(attrs, ArrayAttr) or len(attrs) != len(launch.arguments):
            continue
        for value, found in zip(launch.arguments, attrs):
            assert isinstance(found, DictionaryAttr)
            name, axes = found.data.get(NAME), found.data.get(AXES)
            if name != StringAttr(tensor_name(value)):
                raise MalformedError(
                    f"'{symbol.data}' is launched on '{tensor_name(value)}', where it takes "
                    f"{name}", launch,
                )  # fmt: skip
            if axes != name_array(tensor_axes(value)):
                raise MalformedError(
                    f"the axes of '{tensor_name(value)}' have other labels here than in "
                    f"'{symbol.data}'", launch,
                )  # fmt: skip


def shown_indices(axis: int, number: int, rank: int) -> str:
    """Returns the indices of a tensor that is read at a number along one axis: `_, 3`."""
    # In ASCII, since attributes keep it: xDSL reads strings with other characters as bytes.
    return ", ".join(str(number) if i == axis else "_" for i in range(rank))


def tensor_name(value: SSAValue) -> str:
    """Returns the name in the source of an argument or an allocation of a host function."""
    if isinstance(value.owner, AllocOp):
        return value.owner.tensor.data
    name = _argument_attributes(value)[NAME]
    assert isinstance(name, StringAttr)
    return name.data


def tensor_axes(value: SSAValue) -> tuple[str, ...]:
    """Returns the labels of the axes of an argument or an allocation of a host function."""
    if isinstance(value.owner, AllocOp):
        return value.owner.axis_names
    axes = _argument_attributes(value)[AXES]
    assert is_name_array(axes)
    return names(axes)


def _argument_attributes(value: SSAValue) -> Mapping[str, Attribute]:
    assert isinstance(value, BlockArgument)
    function = value.block.parent_op()
    assert isinstance(function, FuncOp)
    return function.attributes_of(value)


def _element_of(type: Attribute) -> Attribute:
    return type.element_type if isinstance(type, MemRefType | UnrankedMemRefType) else type


def function_of(module: Operation) -> FuncOp | None:
    """Returns the host function of a module; None if it has none."""
    for op in module.regions[0].block.ops:
        if isinstance(op, FuncOp):
            return op
    return None
