"""The type of a tile: a builtin tensor whose encoding names its axes.

A tile has one axis for each tiled loop that its elements depend on. The loop is what an axis is:
two loops over one label make two axes, and two axes of unknown extent never meet unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, StringAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.identifiers import check_identifier


class Axis(NamedTuple):
    """An axis of a tile."""

    name: str
    """The tiled loop that it comes from: its label, numbered where several loops walk it."""
    extent: int | str
    """The number of its elements, or the label whose whole extent it spans."""

    @property
    def is_symbolic(self) -> bool:
        """Whether the extent is known only when the kernel is specialised."""
        return isinstance(self.extent, str)


@irdl_attr_definition
class AxesAttr(ParametrizedAttribute):
    """The axes of a tile: `#tile.axes<x, l = l>`. `= l` says that the axis spans the whole
    extent of the label `l`, a constant that is known when the kernel is specialised."""

    name = "tile.axes"

    names: ArrayAttr[StringAttr] = param_def()
    whole: ArrayAttr[StringAttr] = param_def()

    def verify(self) -> None:
        if len(self.names) != len(self.whole):
            raise VerifyException("each axis needs a name and an extent")
        if len(set(names(self.names))) != len(self.names):
            raise VerifyException("the axes of a tile must differ")
        for name in (*names(self.names), *filter(None, names(self.whole))):
            check_identifier(name)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def axis() -> tuple[str, str]:
            name = parser.parse_identifier()
            whole = parser.parse_identifier() if parser.parse_optional_punctuation("=") else ""
            return name, whole

        found = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, axis)
        return [name_array([n for n, _ in found]), name_array([w for _, w in found])]

    def print_parameters(self, printer: Printer) -> None:
        def axis(item: tuple[str, str]) -> None:
            printer.print_string(item[0] if not item[1] else f"{item[0]} = {item[1]}")

        with printer.in_angle_brackets():
            printer.print_list(zip(names(self.names), names(self.whole)), axis)


def tile_type(element: Attribute, axes: Sequence[Axis]) -> Attribute:
    """The type of a tile with these axes; without any it is the scalar's."""
    return _tensor(element, tuple(axes)) if axes else element


@lru_cache(maxsize=4096)
def _tensor(element: Attribute, axes: tuple[Axis, ...]) -> Attribute:
    """A tile's type; making one verifies it, and kernels have few that differ."""
    shape = [DYNAMIC_INDEX if isinstance(a.extent, str) else a.extent for a in axes]
    encoding = AxesAttr(
        name_array([a.name for a in axes]),
        name_array([a.extent if isinstance(a.extent, str) else "" for a in axes]),
    )
    return TensorType(element, shape, encoding)


_KNOWN: dict[int, tuple[Attribute, tuple[Axis, ...]]] = {}
"""The axes of types that were asked for, by the type's identity: hashing a type takes long."""


def axes_of(type: Attribute) -> tuple[Axis, ...]:
    """The axes of a tile's type; none for a scalar's."""
    known = _KNOWN.get(id(type))
    # Where the type was kept, its identity cannot be another's.
    if known is not None:
        return known[1]
    if len(_KNOWN) >= 4096:
        _KNOWN.clear()
    _KNOWN[id(type)] = type, _axes(type) if isinstance(type, TensorType) else ()
    return _KNOWN[id(type)][1]


def _axes(type: TensorType) -> tuple[Axis, ...]:
    encoding = type.encoding
    assert isinstance(encoding, AxesAttr)
    return tuple(
        Axis(name, whole or extent)
        for name, whole, extent in zip(
            names(encoding.names), names(encoding.whole), type.get_shape()
        )
    )


def axis_names(type: Attribute) -> tuple[str, ...]:
    """The names of the axes of a tile's type."""
    return tuple(axis.name for axis in axes_of(type))


def element_of(type: Attribute) -> Attribute:
    """The element type of a tile's type; a scalar's type itself."""
    return type.element_type if isinstance(type, TensorType) else type


def check_tile(type: Attribute) -> None:
    """Check that a type is a scalar's or a well-formed tile's.

    Raises:
        VerifyException: if it is not.
    """
    if not isinstance(type, TensorType):
        return
    if not isinstance(type.encoding, AxesAttr):
        raise VerifyException(f"{type} does not name its axes")
    shape = type.get_shape()
    if len(shape) != len(type.encoding.names) or not shape:
        raise VerifyException(f"{type} needs a name for each of its axes")
    for extent, whole in zip(shape, names(type.encoding.whole)):
        if (extent == DYNAMIC_INDEX) != bool(whole):
            raise VerifyException(f"{type} needs a label for each unknown extent, and only there")
        if extent != DYNAMIC_INDEX and extent < 1:
            raise VerifyException(f"{type} has an empty axis")


def is_subsequence(inner: Sequence[Axis], outer: Sequence[Axis]) -> bool:
    """Whether axes occur among others in the same order."""
    rest = iter(outer)
    return all(axis in rest for axis in inner)
