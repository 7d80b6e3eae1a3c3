"""Kernels whose warps do different things."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException

from dt_mlir.diagnostics import MalformedError
from dt_mlir.dialects import tile
from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.warp.barriers import GridWaitOp
from dt_mlir.dialects.warp.copies import TmaDescriptorOp
from dt_mlir.dialects.warp.types import BarrierType, DescriptorType, RingType
from dt_mlir.traversal import operations

REGISTERS = 65536
"""The registers of a multiprocessor."""
LEAST_REGISTERS = 24
"""The fewest registers that a thread can be given."""
THREADS = 32
"""The threads of a warp."""


@irdl_op_definition
class KernelOp(GridKernelOp):
    """A kernel as what each group of warps of a program instance does.

    Its body allocates buffers and barriers, and ends with `warp.specialize`.
    """

    name = "warp.kernel"
    GRAMMAR: ClassVar = "symbol `(` argument, … `)` (`attributes` attr-dict)? region"

    @property
    def specialize(self) -> SpecializeOp:
        """The partitions of the groups of warps."""
        last = self.body.block.last_op
        assert isinstance(last, SpecializeOp)
        return last

    def verify_(self) -> None:
        super().verify_()
        if not isinstance(self.body.block.last_op, SpecializeOp):
            raise VerifyException("the body of a 'warp.kernel' ends with 'warp.specialize'")
        partitions = self.specialize.partitions
        if partitions and self.int_hint("num_warps") != partitions[0].warps.value.data:
            raise VerifyException("'num_warps' is the number of warps of the first partition")
        known = {label.data for label in self.labels}
        walks = False
        for op in operations(self):
            walks |= isinstance(op, tile.NumProgramsOp)
            if isinstance(op, tile.SizeOp) and op.label.data not in known:
                raise VerifyException(f"'{op.label.data}' is not a label of the kernel")
            if isinstance(op, TmaDescriptorOp) and isinstance(op.base, BlockArgument):
                for label, axis in zip(op.end_labels, self.axes_of(op.base)):
                    if label not in ("", axis):
                        raise VerifyException(f"a tensor does not end at '{label}' along '{axis}'")
        if walks != (self.programs is not None):
            raise VerifyException("'programs' and 'tile.num_programs' go together")
        waits = [op for op in self.body.block.ops if isinstance(op, GridWaitOp)]
        if len(waits) != (self.dependent_launch is not None):
            raise VerifyException(
                "a kernel with 'dependent_launch', and no other, has one 'warp.grid_wait'"
            )


@irdl_op_definition
class SpecializeOp(IRDLOperation):
    """Lets groups of warps each run a partition of the kernel at the same time.

    Triton: `warp_specialize`.
    """

    name = "warp.specialize"

    body = region_def("single_block")
    """The partitions."""

    assembly_format = "attr-dict-with-keyword $body"
    traits = traits_def(NoTerminator(), HasParent(KernelOp))

    def __init__(self, body: Region) -> None:
        super().__init__(regions=[body])

    @property
    def partitions(self) -> list[PartitionOp]:
        """The partitions."""
        return [op for op in self.body.block.ops if isinstance(op, PartitionOp)]

    @property
    def registers(self) -> int:
        """The registers that all partitions take."""
        groups = [p for p in self.partitions for _ in range(p.count)]
        # The first group gets what the others leave.
        taken = sum(
            p.warps.value.data * THREADS * p.registers.value.data
            for p in groups[1:] if p.registers is not None
        )  # fmt: skip
        first = groups[0]
        wanted = LEAST_REGISTERS if first.registers is None else first.registers.value.data
        return taken + first.warps.value.data * THREADS * wanted

    def verify_(self) -> None:
        partitions = self.partitions
        if not partitions or len(partitions) != len(list(self.body.block.ops)):
            raise VerifyException("what is specialized are partitions, one at least")
        names = [partition.sym_name.data for partition in partitions]
        if len(set(names)) != len(names):
            raise VerifyException("partitions have different names")
        taken = self.registers
        if taken > REGISTERS:
            raise VerifyException(
                f"the partitions take {taken} registers, and a multiprocessor has {REGISTERS}"
            )


@irdl_op_definition
class PartitionOp(IRDLOperation):
    """The task of one group of warps, or of several groups that have a number each.

    `warp.partition consumer (%i to 2) warps 4 registers 240 { … }`: two groups of four warps, in
    which `%i` is 0 and 1. A partition uses buffers, barriers, descriptors, arguments, sizes and
    constants from around it; it computes everything else itself.
    """

    name = "warp.partition"
    GRAMMAR: ClassVar = (
        "identifier (`(` value `to` integer `)`)? `warps` integer (`registers` integer)? "
        "(`attributes` attr-dict)? region"
    )

    sym_name = prop_def(Identifier)
    """Its name."""
    replicas = opt_prop_def(IntegerAttr)
    """The number of groups; one without a number, if there is none."""
    warps = prop_def(IntegerAttr)
    """The warps of a group."""
    registers = opt_prop_def(IntegerAttr)
    """The registers of each of its threads."""
    body = region_def("single_block")
    """The body of a group."""

    traits = traits_def(NoTerminator(), HasParent(SpecializeOp))

    def __init__(
        self, name: str, warps: int, registers: int | None, replicas: int | None, body: Region
    ) -> None:
        def number(value: int | None) -> IntegerAttr | None:
            return None if value is None else IntegerAttr(value, i64)

        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "warps": number(warps),
                "registers": number(registers),
                "replicas": number(replicas),
            },
            regions=[body],
        )

    @property
    def count(self) -> int:
        """The number of groups."""
        return 1 if self.replicas is None else self.replicas.value.data

    def verify_(self) -> None:
        expected = [] if self.replicas is None else [IndexType()]
        if [arg.type for arg in self.body.block.args] != expected:
            raise VerifyException("a partition of several groups has the number of the group")
        if self.count < 1 or self.warps.value.data not in (1, 2, 4, 8, 16):
            raise VerifyException("a group has a power of two of warps, 16 at most")
        registers = 24 if self.registers is None else self.registers.value.data
        if registers % 8 or not 24 <= registers <= 256:
            raise VerifyException("a thread has a multiple of 8 registers, from 24 to 256")
        for op in operations(self):
            for value in op.operands:
                if not self.is_ancestor(_home(value)) and not _may_be_shared(value):
                    raise MalformedError(
                        "a partition uses a value from around it that is none of buffers, "
                        "barriers, descriptors, arguments, sizes and constants", op,
                    )  # fmt: skip

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_identifier("a name")
        args: list[Parser.Argument] = []
        replicas = None
        if parser.parse_optional_punctuation("("):
            args.append(parser.parse_argument(expect_type=False).resolve(IndexType()))
            parser.parse_keyword("to")
            replicas = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(")")
        parser.parse_keyword("warps")
        warps = parser.parse_integer(allow_boolean=False)
        registers = None
        if parser.parse_optional_keyword("registers"):
            registers = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, warps, registers, replicas, parser.parse_region(args))
        op.attributes.update(attributes.data if attributes else {})
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.sym_name.data}")
        if self.replicas is not None:
            printer.print_string(" (")
            printer.print_ssa_value(self.body.block.args[0])
            printer.print_string(f" to {self.count})")
        printer.print_string(f" warps {self.warps.value.data}")
        if self.registers is not None:
            printer.print_string(f" registers {self.registers.value.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _home(value: SSAValue) -> Block:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def _may_be_shared(value: SSAValue) -> bool:
    """Returns whether a group of warps may use a value of another one."""
    if isinstance(value.type, RingType | BarrierType | DescriptorType | MemRefType):
        return True
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), KernelOp)
    return isinstance(owner, arith.ConstantOp | tile.SizeOp)
