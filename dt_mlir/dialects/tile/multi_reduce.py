"""Reductions of tiles along several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.identifiers import Identifiers
from dt_mlir.dialects.tile.types import (
    TileType,
    axes_of,
    axis_names,
    check_tile,
    element_of,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.values import parse_value


@irdl_op_definition
class MultiReduceOp(IRDLOperation):
    """Reduces a tile along several axes at once, as MLIR's `vector.multi_reduction`.

    The axes are neighbours in the tile, in whatever order they are named. A thread combines what it
    has of all of them before it exchanges anything with others.

    `tile.multi_reduce add %a along x, y`
    """

    name = "tile.multi_reduce"
    GRAMMAR: ClassVar = "kind value `along` axis-name `,` axis-name … attr-dict"

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements; not `dot`, `argmax` or `argmin`."""
    value = operand_def(TileType)
    """The tile."""
    axes = prop_def(Identifiers)
    """The axes that are reduced, two or more."""
    result = result_def()
    """The tile without them."""

    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, axes: Sequence[str]) -> None:
        super().__init__(
            operands=[value],
            properties={"kind": ReductionKindAttr(kind), "axes": name_array(axes)},
            result_types=[_without(value.type, axes)],
        )

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes that are reduced."""
        return names(self.axes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = ReductionKindAttr.parse_parameter(parser)
        value = parse_value(parser)
        parser.parse_keyword("along")
        axes = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parser.parse_identifier("an axis")
        )
        op = cls(kind, value, axes)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" along {', '.join(self.axis_names)}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' has an operation of its own")
        axes = self.axis_names
        if len({*axes}) < max(len(axes), 2):
            raise VerifyException("it reduces along two or more axes, each named once")
        check_tile(self.value.type)
        known = axis_names(self.value.type)
        for axis in axes:
            if axis not in known:
                raise VerifyException(f"there is no axis '{axis}' to reduce along")
        places = [known.index(axis) for axis in axes]
        if max(places) - min(places) >= len(places):
            shown = ", ".join(axes)
            raise VerifyException(
                f"the axes {shown} are no neighbours in a tile of {', '.join(known)}"
            )
        check_tile(self.result.type)
        if axes_of(_without(self.value.type, axes)) != axes_of(self.result.type):
            raise VerifyException(f"the result must have the axes without {', '.join(axes)}")
        check_reduction(kind, [element_of(self.value.type)], element_of(self.result.type))


def _without(type: Attribute, axes: Sequence[str]) -> Attribute:
    kept = [axis for axis in axes_of(type) if axis.name not in axes]
    return tile_type(element_of(type), kept, layout_of(type))
