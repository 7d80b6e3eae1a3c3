"""The `host` dialect: sizes of labels and tensors of functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import (
    NameDirective,
    name_array,
    names,
    parse_names,
)
from dt_mlir.dialects.identifiers import (
    Identifier,
    Identifiers,
)
from dt_mlir.dialects.values import parse_value
from dt_mlir.element_types import is_element_type


@cache
def memory_type(element: Attribute, rank: int) -> MemRefType:
    """Returns the type of a tensor of any extents in memory.

    To make one takes as long as to make several operations.
    """
    return MemRefType(element, [DYNAMIC_INDEX] * rank)


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label, as the inputs' shapes (or the caller) say."""

    name = "host.size"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IndexType())
    """Its size."""

    assembly_format = "custom<NameDirective>($label) attr-dict"
    custom_directives = (NameDirective,)
    traits = traits_def(Pure())

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])


@irdl_op_definition
class RoundUpOp(IRDLOperation):
    """The least multiple of a number that is no less than a size: an extent of aligned storage."""

    name = "host.round_up"
    GRAMMAR: ClassVar = "value `to` integer attr-dict"

    size = operand_def(IndexType())
    """The size."""
    multiple = prop_def(IntegerAttr.constr(i64))
    """The number."""
    result = result_def(IndexType())
    """The extent."""

    traits = traits_def(Pure())

    def __init__(self, size: SSAValue, multiple: int) -> None:
        super().__init__(
            operands=[size],
            properties={"multiple": IntegerAttr(multiple, i64)},
            result_types=[IndexType()],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        size = parse_value(parser)
        parser.parse_keyword("to")
        op = cls(size, parser.parse_integer())
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.size)
        printer.print_string(f" to {self.multiple.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.multiple.value.data < 1:
            raise VerifyException("a size is rounded up to a multiple of a positive number")
        if not isinstance(self.size.owner, SizeOp):
            raise VerifyException("what is rounded up is the size of a label")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Allocates the tensor of a function.

    Its extents are the sizes of its labels, or those rounded up, of which the rest is padding. Its
    axes lie in memory in their order, the last one fastest, or in another one.

    `%f = host.alloc f[x, y](%x, %y) order [y, x] : memref<?x?xf32>`

    With `summed` it has one element for all indices of the first axis, 0 at first, to which all
    that is written to them is added, in whatever order. It is read at index 0:

    `%parts = host.alloc parts[k_part, x](%k_part, %x) summed : memref<?x?xf32>`
    """

    name = "host.alloc"
    GRAMMAR: ClassVar = (
        "name `[` label, … `]` `(` values `)` (`order` `[` label, … `]`)? `summed`? attr-dict `:` "
        "type"
    )

    tensor = prop_def(Identifier)
    """The name of the function."""
    axes = prop_def(Identifiers)
    """The labels of its axes."""
    order = opt_prop_def(Identifiers)
    """The labels in the order in which the axes lie in memory, the slowest first."""
    summed = opt_prop_def(UnitAttr)
    """Present where the indices of the first axis share an element."""
    extents = var_operand_def(IndexType())
    """The extent of each axis in storage."""
    result = result_def(MemRefType)
    """The tensor."""

    def __init__(
        self, name: str, axes: Sequence[str], extents: Sequence[SSAValue], element: Attribute
    ) -> None:
        super().__init__(
            operands=[extents],
            properties={"tensor": StringAttr(name), "axes": name_array(axes)},
            result_types=[memory_type(element, len(extents))],
        )

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The labels of the axes."""
        return names(self.axes)

    @property
    def storage_order(self) -> list[int]:
        """The numbers of the axes in the order in which they lie in memory, the slowest first."""
        if self.order is None:
            return list(range(len(self.axes)))
        return [self.axis_names.index(label) for label in names(self.order)]

    @property
    def alignment(self) -> tuple[int, ...]:
        """The number of which each axis' extent is a multiple; 1 where it is not padded."""
        owners = [extent.owner for extent in self.extents]
        return tuple(op.multiple.value.data if isinstance(op, RoundUpOp) else 1 for op in owners)

    @property
    def is_padded(self) -> bool:
        """True if the tensor takes more storage than it has elements."""
        return any(multiple > 1 for multiple in self.alignment)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_identifier("a name")
        axes = names(parse_names(parser))
        place = parser.pos
        extents = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_value(parser)
        )
        order = parse_names(parser) if parser.parse_optional_keyword("order") else None
        summed = parser.parse_optional_keyword("summed") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, MemRefType) or type.get_shape() != (DYNAMIC_INDEX,) * len(extents):
            shape = "?x" * len(extents)
            parser.raise_error(f"expected a type of the form 'memref<{shape}f32>'", place)
        op = cls(name, axes, extents, type.element_type)
        op.order = order
        op.summed = UnitAttr() if summed else None
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.tensor.data}[{', '.join(self.axis_names)}](")
        printer.print_list(self.extents, printer.print_ssa_value)
        printer.print_string(")")
        if self.order is not None:
            printer.print_string(f" order [{', '.join(names(self.order))}]")
        if self.summed is not None:
            printer.print_string(" summed")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        type = self.result.type
        if self.order is not None and sorted(names(self.order)) != sorted(set(self.axis_names)):
            raise VerifyException("the order of an allocation names each label of its axes once")
        if type.get_shape() != (DYNAMIC_INDEX,) * len(self.extents):
            shape = "?x" * len(self.extents)
            raise VerifyException(
                f"the type of an allocation is of the form 'memref<{shape}f32>', not '{type}'"
            )
        if not is_element_type(type.element_type):
            raise VerifyException(f"'{self.tensor.data}' has elements of {type.element_type}")
        if self.summed is not None and (self.order is not None or not self.extents):
            raise VerifyException("what is summed has axes, which lie in memory in their order")
        if tuple(map(_label_of, self.extents)) != self.axis_names:
            raise VerifyException(
                "the extents of an allocation are the sizes of its labels, or those rounded up"
            )


def _label_of(extent: SSAValue) -> str | None:
    op = extent.owner
    if isinstance(op, RoundUpOp):
        op = op.size.owner
    return op.label.data if isinstance(op, SizeOp) else None


def alignment_of(tensor: SSAValue) -> tuple[int, ...]:
    """Returns for each axis of a tensor the number whose multiple its extent in storage is."""
    if isinstance(tensor.owner, AllocOp):
        return tensor.owner.alignment
    assert isinstance(tensor.type, MemRefType)
    return (1,) * tensor.type.get_num_dims()


def storage_order_of(tensor: SSAValue) -> list[int]:
    """Returns the axes of a tensor in the order in which they lie in memory, the slowest first.

    An argument of the host function is taken to be row-major.
    """
    if isinstance(tensor.owner, AllocOp):
        return tensor.owner.storage_order
    assert isinstance(tensor.type, MemRefType)
    return list(range(tensor.type.get_num_dims()))
