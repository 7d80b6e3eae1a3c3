"""Loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self, TypeVar

from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.numbers import Number, constant, parse_optional_number, print_number
from dt_mlir.dialects.tile.formats import parse_result_type, print_result_type
from dt_mlir.dialects.tile.types import (
    Axis,
    TileType,
    axes_of,
    axis_names,
    check_tile,
    common_layout,
    element_of,
    tile_type,
)
from dt_mlir.dialects.values import parse_value, parse_values, print_values
from dt_mlir.element_types import value_type

EVICT_FIRST, EVICT_LAST = "evict_first", "evict_last"
"""Eviction policies: evict elements before others, or after them (Triton's names)."""


class AccessOp(IRDLOperation):
    """The common part of `tile.load` and `tile.store`: a tile of a tensor's elements."""

    base = operand_def(MemRefType)
    """The tensor."""
    indices = var_operand_def()
    """The index, or the tile of indices, of each axis of the tensor."""
    masks = var_operand_def(TileType)
    """Masks that must all be true for an element to be touched."""
    eviction_policy = opt_prop_def(StringAttr)
    """The eviction policy: `evict_first` or `evict_last`."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def access_axes(self) -> tuple[str, ...]:
        """The names of the axes that the indices have between them."""
        found: list[str] = []
        for index in self.indices:
            found.extend(n for n in axis_names(index.type) if n not in found)
        return tuple(found)

    def check_access(self, value: Attribute) -> None:
        """Checks indices, masks and the tile's type.

        Raises:
            VerifyException: where they do not fit.
        """
        assert isinstance(self.base.type, MemRefType)
        policy = self.eviction_policy
        if policy is not None and policy.data not in (EVICT_FIRST, EVICT_LAST):
            raise VerifyException(
                f"'{policy.data}' is not an eviction policy; "
                f"there are {EVICT_FIRST} and {EVICT_LAST}"
            )
        if len(self.indices) != self.base.type.get_num_dims():
            raise VerifyException(
                f"a tensor of {self.base.type.get_num_dims()} axes has {len(self.indices)} indices"
            )
        known: dict[str, Axis] = {}
        for index in self.indices:
            check_tile(index.type)
            if not isinstance(element_of(index.type), IndexType):
                raise VerifyException("an index is an 'index' or a tile of them")
            known.update({axis.name: axis for axis in axes_of(index.type)})
        for mask in self.masks:
            check_tile(mask.type)
            if element_of(mask.type) != i1:
                raise VerifyException("a mask is a tile of 'i1'")
            if not set(axis_names(mask.type)) <= set(known):
                raise VerifyException("a mask has an axis that the indices have not")
        check_tile(value)
        for axis in axes_of(value):
            if known.get(axis.name) != axis:
                raise VerifyException(f"the tile has an axis '{axis.name}' that no index has")
        if element_of(value) != value_type(self.base.type.element_type):
            raise VerifyException(
                f"an element of {self.base.type} is not of type {element_of(value)}"
            )


    def print_access(
        self,
        printer: Printer,
        pad: Number | None = None,
        inside: Sequence[SSAValue] = (),
        fill: Number | None = None,
    ) -> None:
        """Prints ` %A[%x, %y] inside [%i] fill 1.0 masked [%m] pad 0.0 eviction_policy … {…}`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.base)
        print_values(printer, self.indices)
        if inside:
            printer.print_string(" inside ")
            print_values(printer, inside)
        if fill is not None:
            printer.print_string(" fill ")
            print_number(printer, fill)
        if self.masks:
            printer.print_string(" masked ")
            print_values(printer, self.masks)
        if pad is not None:
            printer.print_string(" pad ")
            print_number(printer, pad)
        if self.eviction_policy is not None:
            printer.print_string(" eviction_policy ")
            printer.print_attribute(self.eviction_policy)
        printer.print_op_attributes(self.attributes)


OpT = TypeVar("OpT", bound=AccessOp)


class _Access(NamedTuple):
    """A parsed access."""

    base: SSAValue[MemRefType]
    indices: list[SSAValue]
    masks: list[SSAValue]
    pad: Number | None
    inside: list[SSAValue]
    fill: Number | None
    eviction_policy: StringAttr | None
    attributes: dict[str, Attribute]

    def finish(self, op: OpT) -> OpT:
        """Gives an operation what its constructor does not take."""
        op.eviction_policy = self.eviction_policy
        op.attributes.update(self.attributes)
        return op


def _spanned(element: Attribute, indices: Sequence[SSAValue]) -> Attribute:
    """Returns the type of a tile with the axes that indices have between them, in their order."""
    axes = [axis for index in indices for axis in axes_of(index.type)]
    layout = common_layout([index.type for index in indices])
    return tile_type(element, list(dict.fromkeys(axes)), layout)


def _parse_access(parser: Parser, pads: bool) -> _Access:
    place = parser.pos
    base = parse_value(parser)
    if not isinstance(base.type, MemRefType):
        parser.raise_error(f"expected a tensor in memory, not a value of {base.type}", place)
    element = value_type(base.type.element_type)
    indices = parse_values(parser)
    inside: list[SSAValue] = []
    fill: Number | None = None
    if pads and parser.parse_optional_keyword("inside"):
        inside = parse_values(parser)
        parser.parse_keyword("fill")
        fill = _parse_number(parser, element)
    masks = parse_values(parser) if parser.parse_optional_keyword("masked") else []
    pad = _parse_number(parser, element) if pads and parser.parse_optional_keyword("pad") else None
    policy = None
    if parser.parse_optional_keyword("eviction_policy"):
        policy = StringAttr(parser.parse_str_literal())
    attributes = parser.parse_optional_attr_dict()
    tensor = SSAValue.get(base, type=MemRefType)
    return _Access(tensor, indices, masks, pad, inside, fill, policy, attributes)


def _parse_number(parser: Parser, element: Attribute) -> Number:
    place = parser.pos
    number = parser.expect(lambda: parse_optional_number(parser), "expected a number")
    try:
        return constant(number, element)
    except VerifyException as error:
        parser.raise_error(str(error), place)


@irdl_op_definition
class LoadOp(AccessOp):
    """Loads a tile of a tensor's elements.

    An index without axes is one place, a tile of indices is one for each of its elements. Where
    a mask is false nothing is read, and the lane holds `pad`: what that is a pass may choose, since
    nothing that the program computes depends on such a lane. `inside` tells where indices are in
    bounds. Elsewhere nothing is read, and the element is `fill`, which is part of the algorithm
    (a boundary condition). What a kernel loads from it never stores to, so that a load may be moved
    and merged like any pure operation.

    `%a = tile.load %A[%i] inside [%in] fill 1.0 masked [%x_mask] pad 0.0`
    """

    name = "tile.load"
    GRAMMAR: ClassVar = (
        "value `[` values `]` (`inside` `[` values `]` `fill` number)? "
        "(`masked` `[` values `]` `pad` number)? "
        "(`eviction_policy` string)? attr-dict (`:` type)?"
    )

    inside = var_operand_def()
    """Predicates that are all true where the indices are in bounds."""
    pad = opt_prop_def(FloatAttr | IntegerAttr)
    """The number that lanes hold where a mask is false."""
    fill = opt_prop_def(FloatAttr | IntegerAttr)
    """The value of elements out of bounds."""
    result = result_def()
    """The tile, its axes in any order."""

    traits = traits_def(Pure())

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        axes: Sequence[Axis],
        masks: Sequence[SSAValue] = (),
        pad: Attribute | None = None,
        inside: Sequence[SSAValue] = (),
        fill: Attribute | None = None,
    ) -> None:
        assert isinstance(base.type, MemRefType)
        layout = common_layout([index.type for index in indices])
        super().__init__(
            operands=[inside, base, indices, masks],
            properties={"pad": pad, "fill": fill},
            result_types=[tile_type(value_type(base.type.element_type), axes, layout)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        found = _parse_access(parser, pads=True)
        element = value_type(found.base.type.element_type)
        place = parser.pos
        type = parse_result_type(parser, lambda: _spanned(element, found.indices), start)
        if element_of(type) != element:
            parser.raise_error(f"an element of {found.base.type} is not of {type}", place)
        return found.finish(
            cls(
                found.base, found.indices, axes_of(type), found.masks, found.pad, found.inside,
                found.fill,
            )
        )  # fmt: skip

    def print(self, printer: Printer) -> None:
        self.print_access(printer, self.pad, self.inside, self.fill)
        type = self.result.type
        print_result_type(printer, type, lambda: _spanned(element_of(type), self.indices))

    def verify_(self) -> None:
        self.check_access(self.result.type)
        if set(axis_names(self.result.type)) != set(self.access_axes()):
            raise VerifyException("the tile must have the axes that the indices have")
        if bool(self.masks) != (self.pad is not None):
            raise VerifyException("a load has a pad where it has masks, and only there")
        if bool(self.inside) != (self.fill is not None):
            raise VerifyException("a load has a fill where it has bounds, and only there")
        for name, number in (("pad", self.pad), ("fill", self.fill)):
            if number is not None and number.type != element_of(self.result.type):
                raise VerifyException(f"the {name} must be of type {element_of(self.result.type)}")
        for bound in self.inside:
            check_tile(bound.type)
            if element_of(bound.type) != i1:
                raise VerifyException("a bound is an 'i1' or a tile of them")
            if not set(axis_names(bound.type)) <= set(self.access_axes()):
                raise VerifyException("a bound has an axis that the indices have not")


@irdl_op_definition
class StoreOp(AccessOp):
    """Stores a tile, its axes in any order; where a mask is false, nothing is written."""

    name = "tile.store"
    GRAMMAR: ClassVar = (
        "value `,` value `[` values `]` (`masked` `[` values `]`)? (`eviction_policy` "
        "string)? attr-dict"
    )

    value = operand_def()
    """The tile."""

    def __init__(
        self,
        value: SSAValue,
        base: SSAValue,
        indices: Sequence[SSAValue],
        masks: Sequence[SSAValue] = (),
    ) -> None:
        super().__init__(operands=[value, base, indices, masks])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_punctuation(",")
        found = _parse_access(parser, pads=False)
        return found.finish(cls(value, found.base, found.indices, found.masks))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(",")
        self.print_access(printer)

    def verify_(self) -> None:
        self.check_access(self.value.type)
        if set(axis_names(self.value.type)) != set(self.access_axes()):
            raise VerifyException("the tile must have the axes that the indices have")
