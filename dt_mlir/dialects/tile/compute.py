"""What is computed with tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.tile.types import (
    Axis,
    axes_of,
    axis_names,
    check_tile,
    element_of,
    is_subsequence,
    tile_type,
)

SCALAR_DIALECTS = ("arith", "math", "elem")
"""The dialects whose operations the body of a `tile.map` may hold."""


@irdl_op_definition
class MapOp(IRDLOperation):
    """Elementwise work on tiles and scalars: the body computes one element.

    Operands lack what axes they do not depend on, and are the same along them; the axes that
    they have are in the result's order.
    """

    name = "tile.map"

    inputs = var_operand_def()
    """The tiles and scalars."""
    body = region_def("single_block")
    """Computes one element from theirs."""
    result = result_def(TensorType)
    """The tile."""

    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(self, inputs: Sequence[SSAValue], type: Attribute, body: Region) -> None:
        super().__init__(operands=[inputs], result_types=[type], regions=[body])

    @property
    def yielded(self) -> SSAValue:
        """What the body yields."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.value

    def verify_(self) -> None:
        check_tile(self.result.type)
        axes = axes_of(self.result.type)
        args = self.body.block.args
        if len(args) != len(self.inputs):
            raise VerifyException("the body of a map takes one element of each operand")
        for arg, value in zip(args, self.inputs):
            check_tile(value.type)
            if arg.type != element_of(value.type):
                raise VerifyException(f"an element of {value.type} is no {arg.type}")
            if not is_subsequence(axes_of(value.type), axes):
                raise VerifyException(f"{value.type} does not broadcast to {self.result.type}")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.value.type != element_of(self.result.type):
            raise VerifyException("the body of a map must yield an element of its result")
        for op in self.body.block.ops:
            if op is not last and op.name.split(".")[0] not in SCALAR_DIALECTS:
                raise VerifyException(f"'{op.name}' cannot stand in the body of a map")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def item() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            arg = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            return arg, parser.resolve_operand(operand, parser.parse_type())

        items = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
        parser.parse_punctuation("->")
        type = parser.parse_type()
        attrs = parser.parse_optional_attr_dict_with_keyword()
        args = [arg.resolve(element_of(value.type)) for arg, value in items]
        body = parser.parse_region(args)
        op = cls([value for _, value in items], type, body)
        op.attributes |= dict(attrs.data) if attrs else {}
        return op

    def print(self, printer: Printer) -> None:
        def item(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        printer.print_string(" (")
        printer.print_list(zip(self.body.block.args, self.inputs), item)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a map with its element."""

    name = "tile.yield"

    value = operand_def()
    """The element."""

    assembly_format = "$value attr-dict `:` type($value)"
    traits = traits_def(IsTerminator(), HasParent(MapOp))

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value])


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduces a tile along one axis."""

    name = "tile.reduce"

    kind = prop_def(ReductionKindAttr)
    """How elements are combined; no `dot`, `argmax` or `argmin`."""
    value = operand_def(TensorType)
    """The tile."""
    axis = prop_def(Identifier)
    """The axis that is reduced."""
    result = result_def()
    """The tile without it."""

    assembly_format = (
        "$kind $value `along` $axis attr-dict `:` type($value) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, axis: str) -> None:
        super().__init__(
            operands=[value],
            properties={"kind": ReductionKindAttr(kind), "axis": StringAttr(axis)},
            result_types=[_without(value.type, axis)],
        )

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' has an operation of its own")
        _check_reduced(self.value.type, self.axis.data, self.result.type)
        check_reduction(kind, [element_of(self.value.type)], element_of(self.result.type))


@irdl_op_definition
class ArgReduceOp(IRDLOperation):
    """Finds the extreme element of a tile along one axis, and its index: the first of equals.

    NaN is more extreme than any number.
    """

    name = "tile.arg_reduce"

    kind = prop_def(ReductionKindAttr)
    """`argmax` or `argmin`."""
    value = operand_def(TensorType)
    """The tile."""
    index = operand_def(TensorType)
    """Its elements' indices, i64, of the same axes."""
    axis = prop_def(Identifier)
    """The axis that is reduced."""
    extreme = result_def()
    """The extreme elements."""
    position = result_def()
    """Their indices."""

    assembly_format = (
        "$kind $value `,` $index `along` $axis attr-dict "
        "`:` type($value) `,` type($index) `->` type($extreme) `,` type($position)"
    )
    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, index: SSAValue, axis: str) -> None:
        super().__init__(
            operands=[value, index],
            properties={"kind": ReductionKindAttr(kind), "axis": StringAttr(axis)},
            result_types=[_without(value.type, axis), _without(index.type, axis)],
        )

    def verify_(self) -> None:
        if not self.kind.data.is_arg:
            raise VerifyException(f"'{self.kind.data}' gives no index")
        _check_reduced(self.value.type, self.axis.data, self.extreme.type)
        _check_reduced(self.index.type, self.axis.data, self.position.type)
        if axes_of(self.value.type) != axes_of(self.index.type):
            raise VerifyException("elements and indices must have the same axes")
        if element_of(self.index.type) != i64 or element_of(self.position.type) != i64:
            raise VerifyException("an index is an 'i64'")
        if element_of(self.extreme.type) != element_of(self.value.type):
            raise VerifyException("an extreme element has the elements' type")


@irdl_op_definition
class DotOp(IRDLOperation):
    """A product of matrices, or of a batch of them, added to an accumulator where there is one.

    The axes of `lhs` are (batch…, m, k), those of `rhs` (batch…, k, n), those of the result
    (batch…, m, n).
    """

    name = "tile.dot"

    lhs = operand_def(TensorType)
    """The left matrix."""
    rhs = operand_def(TensorType)
    """The right matrix, of the same element type."""
    acc = opt_operand_def(TensorType)
    """What the product is added to."""
    result = result_def(TensorType)
    """The product, in the type that the elements are computed in."""

    assembly_format = (
        "$lhs `,` $rhs (`acc` $acc^ `:` type($acc))? attr-dict "
        "`:` type($lhs) `,` type($rhs) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue | None, type: Attribute
    ) -> None:
        super().__init__(operands=[lhs, rhs, acc], result_types=[type])

    def verify_(self) -> None:
        for type in (self.lhs.type, self.rhs.type, self.result.type):
            check_tile(type)
        lhs, rhs = axes_of(self.lhs.type), axes_of(self.rhs.type)
        result = axes_of(self.result.type)
        if len(lhs) < 2 or len(lhs) != len(rhs) or lhs[:-2] != rhs[:-2] or lhs[-1] != rhs[-2]:
            raise VerifyException("a dot multiplies tiles (batch…, m, k) and (batch…, k, n)")
        if result != (*lhs[:-1], rhs[-1]) or lhs[-2].name == rhs[-1].name:
            raise VerifyException("the result of a dot has the axes (batch…, m, n)")
        check_reduction(
            ReductionKind.DOT,
            [element_of(self.lhs.type), element_of(self.rhs.type)],
            element_of(self.result.type),
        )
        if self.acc is not None and self.acc.type != self.result.type:
            raise VerifyException("the accumulator of a dot has its result's type")


@irdl_op_definition
class FillOp(IRDLOperation):
    """A tile that holds one scalar throughout."""

    name = "tile.fill"

    value = operand_def()
    """The scalar."""
    result = result_def(TensorType)
    """The tile."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    def verify_(self) -> None:
        check_tile(self.result.type)
        if self.value.type != element_of(self.result.type):
            raise VerifyException("a tile is filled with a scalar of its element type")


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """Gives a tile axes along which it is the same."""

    name = "tile.broadcast"

    value = operand_def(TensorType)
    """The tile."""
    result = result_def(TensorType)
    """The tile with further axes."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if element_of(self.value.type) != element_of(self.result.type) or not is_subsequence(
            axes_of(self.value.type), axes_of(self.result.type)
        ):
            raise VerifyException(f"{self.value.type} does not broadcast to {self.result.type}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """A tile with its axes in another order."""

    name = "tile.transpose"

    value = operand_def(TensorType)
    """The tile."""
    result = result_def(TensorType)
    """The tile with its axes in the result's order."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, axes: Sequence[Axis]) -> None:
        super().__init__(
            operands=[value], result_types=[tile_type(element_of(value.type), axes)]
        )

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if sorted(axes_of(self.value.type), key=str) != sorted(
            axes_of(self.result.type), key=str
        ) or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("a transpose keeps the elements and the axes")


@irdl_op_definition
class RenameOp(IRDLOperation):
    """A tile whose axes stand for other loops of the same extents.

    Where what one loop produced is consumed by another, one axis takes the place of the other:
    the elements keep their places, and what lies beyond the new axis' bound is gone.
    """

    name = "tile.rename"

    value = operand_def(TensorType)
    """The tile."""
    ranges = var_operand_def(TensorType)
    """The ranges of the axes that take the others' places."""
    result = result_def(TensorType)
    """The tile with renamed axes, in the same order."""

    assembly_format = (
        "$value `to` $ranges attr-dict `:` type($value) `,` type($ranges) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, value: SSAValue, ranges: Sequence[SSAValue], axes: Sequence[Axis]
    ) -> None:
        super().__init__(
            operands=[value, ranges],
            result_types=[tile_type(element_of(value.type), axes)],
        )

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        before = [axis.extent for axis in axes_of(self.value.type)]
        after = [axis.extent for axis in axes_of(self.result.type)]
        if before != after or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("renaming axes keeps the elements and the extents")
        known = {*axes_of(self.value.type), *(a for r in self.ranges for a in axes_of(r.type))}
        if not set(axes_of(self.result.type)) <= known:
            raise VerifyException("renaming needs the range of each new axis")


def _without(type: Attribute, axis: str) -> Attribute:
    return tile_type(element_of(type), [a for a in axes_of(type) if a.name != axis])


def _check_reduced(value: Attribute, axis: str, result: Attribute) -> None:
    check_tile(value)
    check_tile(result)
    if axis not in axis_names(value):
        raise VerifyException(f"there is no axis '{axis}' to reduce along")
    if axes_of(_without(value, axis)) != axes_of(result):
        raise VerifyException(f"the result must have the axes without '{axis}'")
