"""Parts of a label that is reduced in parts."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.values import parse_value


@irdl_op_definition
class PartOp(IRDLOperation):
    """The indices of a part of a label: from the first one to before the second.

    A label is cut into a number of parts, each of as many whole steps as the first one, or into
    parts of a number of indices. The last parts have fewer indices, or none: their first index may
    lie behind the label's end, and their end is not beyond it.

    `%first, %end = loop.part %p of k in 8 step 64`: part `p` of 8, each of
    `(len(k) ceildiv 64) ceildiv 8` steps of 64 indices.
    `%first, %end = loop.part %p of k size 4096`: part `p` of those of 4096 indices.
    `%first, %end = loop.part %p of k in 8 whole k_in`: part `p` of 8, which are as long as the
    label `k_in`, so that a tile may hold one whole.
    `%first, %end = loop.part %p of x in 8 step 64 as sums`: part `p` of 8, those that the function
    `sums` reduces, whose steps they have.
    """

    name = "loop.part"
    GRAMMAR: ClassVar = (
        "value `of` label (`in` integer (`step` integer | `whole` label)? | `size` integer) "
        "(`as` function)? attr-dict"
    )

    index = operand_def(IndexType())
    """The number of the part."""
    label = prop_def(Identifier)
    """The label."""
    count = opt_prop_def(IntegerAttr)
    """The number of parts, if it is given."""
    step = prop_def(IntegerAttr)
    """The number of indices in a step, if the number of parts is given; else in a part."""
    whole = opt_prop_def(Identifier)
    """The label that has the size of a part, where a tile holds one."""
    function = opt_prop_def(Identifier)
    """The function that reduces the same parts, where it is another one."""
    first = result_def(IndexType())
    """The first index of the part."""
    end = result_def(IndexType())
    """The index behind its last one."""

    traits = traits_def(Pure())

    def __init__(
        self,
        index: SSAValue,
        label: str,
        count: int | None,
        step: int,
        function: str | None = None,
    ) -> None:
        super().__init__(
            operands=[index],
            properties={
                "label": StringAttr(label),
                "count": None if count is None else IntegerAttr(count, i64),
                "step": IntegerAttr(step, i64),
                "function": None if function is None else StringAttr(function),
            },
            result_types=[IndexType(), IndexType()],
        )

    @property
    def parts(self) -> int | None:
        """The number of parts, if it is given."""
        return None if self.count is None else self.count.value.data

    @property
    def step_size(self) -> int:
        """The number of indices in a step, if the number of parts is given; else in a part."""
        return self.step.value.data

    def set_whole(self, label: str) -> None:
        """Lets a tile hold a part, of which a label has the size."""
        assert self.count is not None
        self.whole = StringAttr(label)

    def set_step(self, step: int) -> None:
        """Makes a part hold whole steps of so many indices."""
        assert self.count is not None
        self.step = IntegerAttr(step, i64)

    def indices(self, part: int, size: int) -> range:
        """Returns the indices of a part.

        Args:
            part: its number.
            size: the size of the label.
        """
        length = self.step_size
        if self.parts is not None:
            steps = (size + length - 1) // length
            length *= (steps + self.parts - 1) // self.parts
        return range(part * length, min(size, (part + 1) * length))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = parse_value(parser)
        parser.parse_keyword("of")
        label = parser.parse_identifier("a label")
        count: int | None = None
        step, whole = 1, None
        if parser.parse_optional_keyword("in"):
            count = parser.parse_integer(allow_boolean=False)
            if parser.parse_optional_keyword("step"):
                step = parser.parse_integer(allow_boolean=False)
            elif parser.parse_optional_keyword("whole"):
                whole = parser.parse_identifier("a label")
        else:
            parser.parse_keyword("size")
            step = parser.parse_integer(allow_boolean=False)
        op = cls(index, label, count, step)
        op.whole = None if whole is None else StringAttr(whole)
        if parser.parse_optional_keyword("as"):
            op.function = StringAttr(parser.parse_identifier("a function"))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(f" of {self.label.data} ")
        if self.parts is None:
            printer.print_string(f"size {self.step_size}")
        else:
            printer.print_string(f"in {self.parts}")
            if self.step_size != 1:
                printer.print_string(f" step {self.step_size}")
            if self.whole is not None:
                printer.print_string(f" whole {self.whole.data}")
        if self.function is not None:
            printer.print_string(f" as {self.function.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.step_size < 1 or (self.parts is not None and self.parts < 1):
            raise VerifyException("the numbers of a part must be positive")
        if self.whole is not None and (self.parts is None or self.step_size != 1):
            raise VerifyException("a part that a tile holds is one of a number of parts")
