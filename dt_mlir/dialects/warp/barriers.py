"""Barriers in shared memory.

Their names are those of MLIR's `nvgpu` dialect.
"""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.values import parse_value
from dt_mlir.dialects.warp.types import BarrierType


@irdl_op_definition
class MBarrierCreateOp(IRDLOperation):
    """Allocates barriers and initialises each with the number of arrivals that end a phase."""

    name = "warp.mbarrier_create"

    arrivals = prop_def(IntegerAttr)
    """The arrivals that end a phase of each."""
    result = result_def(BarrierType)
    """The barriers."""

    GRAMMAR: ClassVar = "integer `arrivals` integer attr-dict"

    def __init__(self, depth: int, arrivals: int) -> None:
        super().__init__(
            properties={"arrivals": IntegerAttr(arrivals, i64)},
            result_types=[BarrierType.new([IntAttr(depth)])],
        )

    @property
    def depth(self) -> int:
        """The number of barriers."""
        assert isinstance(self.result.type, BarrierType)
        return self.result.type.depth.data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        depth = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("arrivals")
        op = cls(depth, parser.parse_integer(allow_boolean=False))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.depth} arrivals {self.arrivals.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.arrivals.value.data < 1:
            raise VerifyException("a barrier counts an arrival at least")


@irdl_op_definition
class GridWaitOp(IRDLOperation):
    """Waits until the kernel before this one has ended, and what it has written can be read.

    It stands in front of the partitions of a kernel with `dependent_launch`, which may begin before
    that. NVVM: `nvvm.griddepcontrol.wait`.
    """

    name = "warp.grid_wait"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class BarrierOp(IRDLOperation):
    """The common part of what is done with one of several barriers."""

    barriers = operand_def(BarrierType)
    """The barriers."""
    index = operand_def(IndexType())
    """The number of the one that is meant."""


def parse_barrier(parser: Parser) -> tuple[SSAValue, SSAValue]:
    """Parses `%barriers[%index]`."""
    barriers = parse_value(parser)
    parser.parse_punctuation("[")
    index = parse_value(parser)
    parser.parse_punctuation("]")
    return barriers, index


def print_barrier(printer: Printer, barriers: SSAValue, index: SSAValue) -> None:
    """Prints `%barriers[%index]`."""
    printer.print_ssa_value(barriers)
    printer.print_string("[")
    printer.print_ssa_value(index)
    printer.print_string("]")


@irdl_op_definition
class MBarrierWaitOp(BarrierOp):
    """Waits until the phase of a parity has ended.

    A barrier begins as if a phase of parity 1 had ended: a producer that waits for the parity that
    is opposite to its consumers' passes the first time.
    """

    name = "warp.mbarrier_wait"
    GRAMMAR: ClassVar = "value `[` value `]` `parity` value attr-dict"

    parity = operand_def(IndexType())
    """The parity of the phase, 0 or 1."""

    def __init__(self, barriers: SSAValue, index: SSAValue, parity: SSAValue) -> None:
        # What a derived class declares comes first.
        super().__init__(operands=[parity, barriers, index])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        barriers, index = parse_barrier(parser)
        parser.parse_keyword("parity")
        op = cls(barriers, index, parse_value(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_barrier(printer, self.barriers, self.index)
        printer.print_string(" parity ")
        printer.print_ssa_value(self.parity)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class MBarrierArriveOp(BarrierOp):
    """Arrives at a barrier once, for all warps of the partition."""

    name = "warp.mbarrier_arrive"
    GRAMMAR: ClassVar = "value `[` value `]` attr-dict"

    def __init__(self, barriers: SSAValue, index: SSAValue) -> None:
        super().__init__(operands=[barriers, index])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(*parse_barrier(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_barrier(printer, self.barriers, self.index)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class MBarrierExpectOp(BarrierOp):
    """Arrives at a barrier, whose phase then ends only when so many bytes have come as well.

    MLIR: `nvgpu.mbarrier.arrive.expect_tx`.
    """

    name = "warp.mbarrier_expect"
    GRAMMAR: ClassVar = "value `[` value `]` `bytes` integer attr-dict"

    bytes = prop_def(IntegerAttr)
    """The bytes that copies bring."""

    def __init__(self, barriers: SSAValue, index: SSAValue, bytes: int) -> None:
        super().__init__(
            operands=[barriers, index], properties={"bytes": IntegerAttr(bytes, i64)}
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        barriers, index = parse_barrier(parser)
        parser.parse_keyword("bytes")
        op = cls(barriers, index, parser.parse_integer(allow_boolean=False))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_barrier(printer, self.barriers, self.index)
        printer.print_string(f" bytes {self.bytes.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.bytes.value.data < 1:
            raise VerifyException("a barrier expects a byte at least")
