"""Loops over labels."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.loop.parts import PartOp


class LoopLike(IRDLOperation):
    """The common part of `loop.for` and `loop.reduce`: a loop over one label.

    It may walk a part of its label that values say: `%k = k in %first to %end`.
    """

    label = prop_def(Identifier)
    """The label that is walked."""
    function = prop_def(Identifier)
    """The function whose loop it is."""
    step = prop_def(IntegerAttr)
    """The number of elements of a step; 0 for the loop's whole extent."""
    tile = opt_prop_def(UnitAttr)
    """True if the elements of one step are computed at once, as one axis of a tile."""
    limit = opt_operand_def(IndexType())
    """The index behind the last one, if a value says it; at most the label's end."""
    origin = opt_operand_def(IndexType())
    """The first index; 0 without it."""
    extent = opt_prop_def(IntegerAttr)
    """The extent from there, up to the label's end; all of it without a number."""
    body = region_def("single_block")
    """The body of the loop."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def label_name(self) -> str:
        """The label that is walked."""
        return self.label.data

    @property
    def function_name(self) -> str:
        """The function whose loop it is."""
        return self.function.data

    @property
    def iv(self) -> BlockArgument:
        """The index."""
        return self.body.block.args[0]

    @property
    def step_size(self) -> int:
        """The number of elements of a step; 0 for the whole extent."""
        return self.step.value.data

    @property
    def extent_size(self) -> int | None:
        """The loop's extent where it does not go to its label's end."""
        return None if self.extent is None else self.extent.value.data

    @property
    def end(self) -> SSAValue | None:
        """The index behind the last one, where a value says it."""
        return self.limit

    @property
    def is_tile(self) -> bool:
        """True if a step's elements are computed at once."""
        return self.tile is not None

    @property
    def has_one_trip(self) -> bool:
        """True if the loop is known to run at most once."""
        return self.step_size == 0 or (
            self.extent_size is not None and self.extent_size <= self.step_size
        )

    @property
    def is_outer(self) -> bool:
        """True if the loop only says where an inner one over its label starts."""
        return self.step_size > 1 and not self.is_tile

    def set_step(self, step: int) -> None:
        """Steps the loop by tiles of so many elements, 0 for its whole extent."""
        if step == 0 and self.extent_size is not None:
            step = self.extent_size
        self.step = IntegerAttr(step, i64)
        # A tile of one element is a scalar; there is no axis to compute at once.
        self.tile = UnitAttr() if step != 1 else None

    def set_range(self, origin: SSAValue | None, extent: int | None) -> None:
        """Makes the loop walk `extent` elements from `origin`, or its whole label."""
        self.set_origin(origin)
        self.extent = None if extent is None else IntegerAttr(extent, i64)

    def set_origin(self, origin: SSAValue | None) -> None:
        """Makes the loop start at a value, or at 0."""
        self._set_ends(origin, None)

    def set_part(self, first: SSAValue, end: SSAValue) -> None:
        """Makes the loop walk the indices from one value to before another."""
        self.extent = None
        self._set_ends(first, end)

    def _set_ends(self, origin: SSAValue | None, limit: SSAValue | None) -> None:
        """Sets the first index of the loop, and the one behind the last."""
        ends = (limit, origin)
        self.operands = [value for value in ends if value is not None]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, [int(value is not None) for value in ends]
        )

    def verify_(self) -> None:
        if not self.body.block.args or any(
            not isinstance(arg.type, IndexType) for arg in self.body.block.args
        ):
            raise VerifyException("the body of a loop takes its index, an 'index'")
        if len(self.body.block.args) != 1:
            raise VerifyException("the body of a loop takes one index")
        if self.step_size < 0:
            raise VerifyException("the step of a loop must be positive, or 0 for its whole extent")
        if self.extent_size is not None and self.extent_size < 1:
            raise VerifyException("the extent of a loop must be positive")
        if (self.origin is None) != (self.extent is None and self.end is None):
            raise VerifyException("a loop has both an origin and an extent, or neither")
        part = None if self.end is None else self.end.owner
        whole = isinstance(part, Operation) and part.properties.get("whole") is not None
        if self.step_size == 0 and self.origin is not None and not whole:
            raise VerifyException("a loop that walks a part of its label has a step of its own")
        if self.step_size == 0 and not self.is_tile:
            raise VerifyException("a step of the whole extent must be a tile")
        if self.limit is not None:
            self._check_part(self.limit)

    def _check_part(self, limit: SSAValue) -> None:
        part = limit.owner
        if self.extent is not None or self.is_outer:
            raise VerifyException("a loop over a part has no extent, and no pieces")
        if (
            not isinstance(part, PartOp)
            or self.origin is not part.first
            or limit is not part.end
            or part.label.data != self.label_name
        ):
            raise VerifyException(
                "a loop that ends at a value walks a part of its label, as 'loop.part' gives it"
            )

    def _print_range(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.iv)
        printer.print_string(f" = {self.label_name}")
        if self.origin is not None:
            printer.print_string(" in ")
            printer.print_ssa_value(self.origin)
            if self.end is None:
                printer.print_string(f" size {self.extent_size}")
            else:
                printer.print_string(" to ")
                printer.print_ssa_value(self.end)
        if self.step_size != 1:
            printer.print_string(" step ")
            printer.print_string(str(self.step_size) if self.step_size else "full")
        if self.is_tile:
            printer.print_string(" tile")
        printer.print_string(f" of {self.function_name}")

    @staticmethod
    def _parse_range(
        parser: Parser,
    ) -> tuple[Parser.Argument, dict[str, Attribute], list[SSAValue]]:
        iv = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"label": StringAttr(parser.parse_identifier())}
        operands: list[SSAValue] = []
        if parser.parse_optional_keyword("in"):
            operands.append(parser.resolve_operand(parser.parse_unresolved_operand(), IndexType()))
            if parser.parse_optional_keyword("to"):
                end = parser.parse_unresolved_operand()
                operands.append(parser.resolve_operand(end, IndexType()))
            else:
                parser.parse_keyword("size")
                extent = parser.parse_integer(allow_boolean=False)
                properties["extent"] = IntegerAttr(extent, i64)
        step = 1
        if parser.parse_optional_keyword("step"):
            full = parser.parse_optional_keyword("full") is not None
            step = 0 if full else parser.parse_integer(allow_boolean=False)
        properties["step"] = IntegerAttr(step, i64)
        if parser.parse_optional_keyword("tile"):
            properties["tile"] = UnitAttr()
        parser.parse_keyword("of")
        properties["function"] = StringAttr(parser.parse_identifier())
        return iv, properties, operands


@irdl_op_definition
class ForOp(LoopLike):
    """A sequential loop over a label.

    `loop.for %x = x in %x0 size 128 step 32 tile of mm {…}`: from the origin `%x0` over 128
    elements, at most to the label's end, in tiles of 32. Without `in` it walks the whole label;
    `step full` is one tile of the whole extent. `of mm` names the function whose loop it is.
    `%x = x in %first to %end` walks a part, as `loop.part` gives it.
    """

    name = "loop.for"
    GRAMMAR: ClassVar = "value `=` range (`attributes` attr-dict)? region"
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, label: str, function: str, body: Region) -> None:
        super().__init__(
            operands=[[], []],
            properties={
                "label": StringAttr(label),
                "function": StringAttr(function),
                "step": IntegerAttr(1, i64),
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        iv, properties, ends = cls._parse_range(parser)
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([iv])
        # The end of a loop stands in front of its first index.
        operands = [*ends[1:], *ends[:1]]
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, [int(len(ends) > 1), int(bool(ends))]
        )
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        self._print_range(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
