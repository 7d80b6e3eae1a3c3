"""Reductions of all elements up to each index of a loop."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, UnitAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.loop.nests import ForOp
from dt_mlir.dialects.values import parse_value


@irdl_op_definition
class PrefixOp(IRDLOperation):
    """Combines the elements of a loop's trips up to the one that runs, its own included.

    `%s = loop.prefix add %a along %x : f32` in the loop over `%x`. `descending` lets the loop walk
    its label from the last index to the first, so that the elements from the trip's index on are
    combined. The loop walks the whole label, in one program instance; or with `chunked` a block of
    the grid, whose elements alone are combined.

    A sum may be multiplied by a factor in each trip, before its element is added: a linear
    recurrence, `%h = loop.prefix add %b by %a along %t : f32`. The factor of the first trip
    multiplies nothing.
    """

    name = "loop.prefix"
    GRAMMAR: ClassVar = (
        "kind value (`by` value)? `along` value `descending`? `chunked`? attr-dict `:` type"
    )

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements; not `dot`, `argmax` or `argmin`."""
    value = operand_def()
    """The element."""
    factor = opt_operand_def()
    """The factor of the sum of the trips before."""
    index = operand_def(IndexType())
    """The index of the loop."""
    descending = opt_prop_def(UnitAttr)
    """Present where the loop walks from the last index to the first."""
    chunked = opt_prop_def(UnitAttr)
    """Present where the loop may walk a block of the grid."""
    result = result_def()
    """The combination of the elements so far."""

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        kind: ReductionKind,
        value: SSAValue,
        index: SSAValue,
        type: Attribute,
        descending: bool = False,
        factor: SSAValue | None = None,
        chunked: bool = False,
    ) -> None:
        super().__init__(
            operands=[value, factor, index],
            properties={
                "kind": ReductionKindAttr(kind),
                "descending": UnitAttr() if descending else None,
                "chunked": UnitAttr() if chunked else None,
            },
            result_types=[type],
        )

    @property
    def loop(self) -> ForOp:
        """The loop whose trips are combined."""
        owner = self.index.owner
        assert isinstance(owner, Block)
        parent = owner.parent_op()
        assert isinstance(parent, ForOp)
        return parent

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_str_enum(ReductionKind)
        value = parse_value(parser)
        factor = parse_value(parser) if parser.parse_optional_keyword("by") else None
        parser.parse_keyword("along")
        index = parse_value(parser)
        descending = parser.parse_optional_keyword("descending") is not None
        chunked = parser.parse_optional_keyword("chunked") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(kind, value, index, parser.parse_type(), descending, factor, chunked)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        if self.factor is not None:
            printer.print_string(" by ")
            printer.print_ssa_value(self.factor)
        printer.print_string(" along ")
        printer.print_ssa_value(self.index)
        if self.descending is not None:
            printer.print_string(" descending")
        if self.chunked is not None:
            printer.print_string(" chunked")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' is not combined up to each index")
        check_reduction(kind, [self.value.type], self.result.type)
        if self.factor is not None and (
            kind is not ReductionKind.ADD or self.factor.type != self.value.type
        ):
            raise VerifyException("a sum is multiplied by a factor of its element's type")
        owner = self.index.owner
        parent = owner.parent_op() if isinstance(owner, Block) else None
        if not isinstance(parent, ForOp) or self.parent_op() is not parent:
            raise VerifyException("it stands in the body of the 'loop.for' along whose index it is")
        chunks = self.chunked is not None and self.factor is None
        if (parent.origin is not None and not chunks) or parent.is_outer:
            raise VerifyException(
                f"the loop over '{parent.label_name}' walks a part of its label, and the elements "
                "before that part are missing"
            )
        others = [op for op in parent.body.block.ops if isinstance(op, PrefixOp)]
        if len({op.descending is None for op in others}) > 1:
            raise VerifyException("a loop walks its label in one direction")


def prefixes_of(op: object) -> list[PrefixOp]:
    """Returns what a loop combines up to each of its indices."""
    if not isinstance(op, ForOp):
        return []
    return [inner for inner in op.body.block.ops if isinstance(inner, PrefixOp)]
