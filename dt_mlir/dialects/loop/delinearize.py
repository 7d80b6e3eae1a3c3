"""Indices of joined loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names, parse_names
from dt_mlir.dialects.identifiers import Identifiers
from dt_mlir.dialects.loop.nests import LoopLike
from dt_mlir.dialects.values import parse_value


@irdl_op_definition
class DelinearizeOp(IRDLOperation):
    """Takes the index of a joined loop apart, into an index for each of the loops that it joins.

    The last label is the fastest: `%y` is `%xy mod len(y)`, and `%x` is `%xy floordiv len(y)`. The
    joined loop makes a trip for each point of the box of the labels. As MLIR's
    `affine.delinearize_index`.

    `%x, %y = loop.delinearize %xy by [x, y]`
    """

    name = "loop.delinearize"
    GRAMMAR: ClassVar = "value `by` `[` label, … `]` attr-dict"

    index = operand_def(IndexType())
    """The index of the joined loop."""
    labels = prop_def(Identifiers)
    """The labels of the loops that it joins."""
    indices = var_result_def(IndexType())
    """An index for each label."""

    traits = traits_def(Pure())

    def __init__(self, index: SSAValue, labels: Sequence[str]) -> None:
        super().__init__(
            operands=[index],
            properties={"labels": name_array(labels)},
            result_types=[[IndexType()] * len(labels)],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of the loops that the loop joins."""
        return names(self.labels)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = parse_value(parser)
        parser.parse_keyword("by")
        op = cls(index, names(parse_names(parser)))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(f" by [{', '.join(self.label_names)}]")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        owner = self.index.owner
        if not isinstance(owner, Block) or not isinstance(owner.parent_op(), LoopLike):
            raise VerifyException("only the index of a loop is taken apart")
        if len(self.labels) < 2 or len(set(self.label_names)) < len(self.labels):
            raise VerifyException("a joined loop joins two or more loops over different labels")
        if len(self.labels) != len(self.indices):
            raise VerifyException("a joined loop has an index for each label")


def is_induction_variable(value: SSAValue) -> bool:
    """Returns whether a value is the index of a loop, or of one that a loop joins."""
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), LoopLike)
    return isinstance(owner, DelinearizeOp)
