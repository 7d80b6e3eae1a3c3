"""The type of a tile: named axes and an element type.

A tile has one axis for each tiled loop that its elements depend on. The loop is what an axis is:
two loops over one label make two axes, and two axes of unknown extent never meet unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntAttr,
    NoneAttr,
    ShapedType,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import names
from dt_mlir.dialects.identifiers import check_identifier
from dt_mlir.element_types import ELEMENT_TYPES, value_type


class Axis(NamedTuple):
    """An axis of a tile."""

    name: str
    """The tiled loop that it comes from: its label, numbered where several loops walk it."""
    extent: int | str
    """The number of its elements, or the label whose whole extent it spans."""

    @property
    def is_symbolic(self) -> bool:
        """True if the extent is known only when the kernel is specialised."""
        return isinstance(self.extent, str)

    def __str__(self) -> str:
        if isinstance(self.extent, int):
            return f"{self.name}: {self.extent}"
        return self.name if self.extent == self.name else f"{self.name} = {self.extent}"


def parse_axis(parser: AttrParser) -> Axis:
    """Parses an axis: `m: 16`, `l` (of the whole extent of the label `l`) or `l_1 = l`."""
    name = parser.parse_identifier("an axis")
    if parser.parse_optional_punctuation(":"):
        return Axis(name, parser.parse_integer(allow_boolean=False, allow_negative=False))
    whole = parser.parse_identifier("a label") if parser.parse_optional_punctuation("=") else name
    return Axis(name, whole)


_ELEMENTS: dict[str, Attribute] = {
    str(type): type for type in (IndexType(), *map(value_type, ELEMENT_TYPES.values()))
}
"""The element types of tiles by their names in IR: signless, as `arith` wants them."""


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """A tile: `!tile.of<m: 16, l, f32>` has an axis `m` of 16 elements, and an axis `l`.

    An axis without an extent spans the whole extent of a label, a constant that is known when the
    kernel is specialised: the label of its own name, or the one that is named, as in `l_1 = l`.

    `!tile.of<x: 64, f32 in #warp.mma<…>>` says how the threads of a program hold it in registers;
    without a layout that is Triton's business. A tile that lacks an axis of its layout is held as
    a slice of what has it.
    """

    name = "tile.of"

    axes: ArrayAttr[StringAttr] = param_def()
    """The names of the axes."""
    extents: ArrayAttr[IntAttr | StringAttr] = param_def()
    """Returns the extent of each axis, or the label whose whole extent it spans."""
    element_type: Attribute = param_def()
    """The type of the elements."""
    layout: Attribute = param_def()
    """The layout in which registers hold it; a `NoneAttr` where nothing is said of it."""

    def verify(self) -> None:
        if len(self.axes) != len(self.extents):
            raise VerifyException("each axis of a tile needs a name and an extent")
        if not self.axes.data:
            raise VerifyException("a tile has an axis at least: what has none is a scalar")
        if len(set(names(self.axes))) != len(self.axes):
            raise VerifyException("the axes of a tile must differ")
        for name in names(self.axes):
            check_identifier(name)
        for extent in self.extents:
            if isinstance(extent, StringAttr):
                check_identifier(extent.data)
            elif extent.data < 1:
                raise VerifyException("the extent of an axis must be positive")
        if self.element_type not in _ELEMENTS.values():
            known = ", ".join(_ELEMENTS)
            raise VerifyException(f"a tile has no elements of {self.element_type}, but of {known}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        axes: list[Axis] = []
        with parser.in_angle_brackets():
            while True:
                place = parser.pos
                item = parse_axis(parser)
                if not parser.parse_optional_punctuation(","):
                    break
                axes.append(item)
            # The last item has the form of an axis.
            if item.extent != item.name or item.name not in _ELEMENTS:
                known = ", ".join(_ELEMENTS)
                message = f"'{item}' is not an element type: there are {known}"
                parser.raise_error(message, place, parser.pos)
            layout: Attribute | None = None
            if parser.parse_optional_keyword("in"):
                layout = parser.parse_attribute()
        return _parameters(tuple(axes), _ELEMENTS[item.name], layout)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list([*axes_of(self), self.element_type], lambda x: _print(printer, x))
            if not isinstance(self.layout, NoneAttr):
                printer.print_string(" in ")
                printer.print_attribute(self.layout)


def _print(printer: Printer, item: Axis | Attribute) -> None:
    if isinstance(item, Attribute):
        printer.print_attribute(item)
    else:
        printer.print_string(str(item))


def _parameters(
    axes: Sequence[Axis], element: Attribute, layout: Attribute | None
) -> list[Attribute]:
    extents = [
        StringAttr(axis.extent) if isinstance(axis.extent, str) else IntAttr(axis.extent)
        for axis in axes
    ]
    names = ArrayAttr([StringAttr(axis.name) for axis in axes])
    return [names, ArrayAttr(extents), element, layout or NoneAttr()]


def tile_type(
    element: Attribute, axes: Sequence[Axis], layout: Attribute | None = None
) -> Attribute:
    """Returns the type of a tile with these axes; without any it is the scalar's.

    Args:
        element: the type of its elements.
        axes: its axes.
        layout: how registers hold it, if that is known.
    """
    return _tile(element, tuple(axes), layout) if axes else element


@lru_cache(maxsize=4096)
def _tile(element: Attribute, axes: tuple[Axis, ...], layout: Attribute | None) -> TileType:
    """A tile's type; making one verifies it, and kernels have few that differ."""
    return TileType.new(_parameters(axes, element, layout))


_KNOWN: dict[int, tuple[Attribute, tuple[Axis, ...]]] = {}
"""The axes of types that were asked for, by the type's identity: hashing a type takes long."""


def axes_of(type: Attribute) -> tuple[Axis, ...]:
    """Returns the axes of a tile's type; none for a scalar's."""
    known = _KNOWN.get(id(type))
    # Where the type was kept, its identity cannot be another's.
    if known is not None:
        return known[1]
    if len(_KNOWN) >= 4096:
        _KNOWN.clear()
    _KNOWN[id(type)] = type, _axes(type) if isinstance(type, TileType) else ()
    return _KNOWN[id(type)][1]


def _axes(type: TileType) -> tuple[Axis, ...]:
    return tuple(
        Axis(name.data, extent.data) for name, extent in zip(type.axes, type.extents)
    )


def axis_names(type: Attribute) -> tuple[str, ...]:
    """Returns the names of the axes of a tile's type."""
    return tuple(axis.name for axis in axes_of(type))


def element_of(type: Attribute) -> Attribute:
    """Returns the element type of a tile's type; a scalar's type itself."""
    return type.element_type if isinstance(type, TileType) else type


def check_tile(type: Attribute) -> None:
    """Checks that a type is a scalar's or a tile's.

    Raises:
        VerifyException: if it is not.
    """
    if isinstance(type, ShapedType):
        raise VerifyException(f"{type} is neither a tile nor a scalar")


def is_subsequence(inner: Sequence[Axis], outer: Sequence[Axis]) -> bool:
    """Returns whether axes occur among others in the same order."""
    rest = iter(outer)
    return all(axis in rest for axis in inner)


def layout_of(type: Attribute) -> Attribute | None:
    """Returns how registers hold a tile of a type; None where nothing is said of it."""
    if isinstance(type, TileType) and not isinstance(type.layout, NoneAttr):
        return type.layout
    return None


def common_layout(types: Sequence[Attribute]) -> Attribute | None:
    """Returns the layout of tiles that are combined elementwise; None where nothing is said of it.

    Raises:
        VerifyException: where two of them differ.
    """
    layouts = {layout_of(type) for type in types if axes_of(type)}
    if len(layouts) > 1:
        raise VerifyException("tiles of different layouts are combined: convert one of them")
    return next(iter(layouts), None)
