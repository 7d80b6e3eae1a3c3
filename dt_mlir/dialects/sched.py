"""The `sched` dialect: a schedule as data, beside the algorithm until it is applied.

One generic operation serves every directive, so that a package outside can add a directive
without extending a dialect. What a directive's arguments must be, its class says
(`dt_mlir.scheduling.Directive`); `verify-schedule` and `apply-schedule` ask it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    param_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException


class Argument(NamedTuple):
    """An argument of a directive as the source has it: `64`, `x`, `x:128`, `x:x1/8`."""

    key: str | None
    """What stands before the colon."""
    value: int | str
    """A number or a name."""
    factor: int | None = None
    """What stands after a slash."""

    def __str__(self) -> str:
        head = "" if self.key is None else f"{self.key}:"
        tail = "" if self.factor is None else f"/{self.factor}"
        return f"{head}{self.value}{tail}"


@irdl_attr_definition
class ArgumentAttr(ParametrizedAttribute):
    """An argument of a directive: `64`, `x`, `x : 128` or `x : x1 / 8`."""

    name = "sched.arg"

    key: StringAttr | NoneAttr = param_def()
    value: StringAttr | IntegerAttr = param_def()
    factor: IntegerAttr | NoneAttr = param_def()

    @staticmethod
    def get(argument: Argument) -> ArgumentAttr:
        """The attribute that holds an argument."""
        return ArgumentAttr(
            NoneAttr() if argument.key is None else StringAttr(argument.key),
            IntegerAttr(argument.value, i64)
            if isinstance(argument.value, int)
            else StringAttr(argument.value),
            NoneAttr() if argument.factor is None else IntegerAttr(argument.factor, i64),
        )

    @property
    def data(self) -> Argument:
        """The argument."""
        value = self.value
        return Argument(
            self.key.data if isinstance(self.key, StringAttr) else None,
            value.data if isinstance(value, StringAttr) else value.value.data,
            self.factor.value.data if isinstance(self.factor, IntegerAttr) else None,
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_argument(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_show(self.data))


def parse_argument(parser: AttrParser) -> ArgumentAttr:
    """Parse `64`, `x`, `x : 128`, `x : x1 / 8`."""
    key: str | None = None
    value: int | str | None = parser.parse_optional_integer(allow_boolean=False)
    if value is None:
        value = parser.parse_identifier()
        if parser.parse_optional_punctuation(":"):
            key = value
            value = parser.parse_optional_integer(allow_boolean=False)
            if value is None:
                value = parser.parse_identifier()
    factor = None
    if isinstance(value, str) and parser.parse_optional_keyword("by"):
        factor = parser.parse_integer(allow_boolean=False)
    return ArgumentAttr.get(Argument(key, value, factor))


def _show(argument: Argument) -> str:
    head = "" if argument.key is None else f"{argument.key} : "
    tail = "" if argument.factor is None else f" by {argument.factor}"
    return f"{head}{argument.value}{tail}"


@irdl_custom_directive
class ArgumentsDirective(CustomDirective):
    """Arguments in parentheses: `(x : 128, y)`."""

    arguments: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        items = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_argument(parser)
        )
        self.arguments.set(state, ArrayAttr(items))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, DirectiveOp)
        shown = ", ".join(_show(argument) for argument in op.argument_list)
        printer.print_string(f"({shown})")
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class ScheduleOp(IRDLOperation):
    """Holds the directives of a program's schedule."""

    name = "sched.schedule"

    body = region_def("single_block")
    """The directives."""

    assembly_format = "attr-dict-with-keyword $body"
    traits = traits_def(NoTerminator())

    def __init__(self, body: Region) -> None:
        super().__init__(regions=[body])

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, DirectiveOp):
                raise VerifyException(f"a schedule holds directives, not '{op.name}'")


@irdl_op_definition
class DirectiveOp(IRDLOperation):
    """One scheduling directive, `target.directive(arguments)` in the source.

    `sched.directive "block" @mm(x : 128, y : 128)`; a split is written `x : x1 by 8`.
    """

    name = "sched.directive"

    directive = prop_def(StringAttr)
    """The directive's name."""
    target = prop_def(FlatSymbolRefAttrConstr)
    """The function that it is applied to."""
    arguments = prop_def(ArrayAttr[ArgumentAttr])
    """Its arguments, in the order of the source."""

    assembly_format = "$directive $target custom<ArgumentsDirective>($arguments) attr-dict"
    custom_directives = (ArgumentsDirective,)
    traits = traits_def(HasParent(ScheduleOp))

    def __init__(self, directive: str, target: str, arguments: Sequence[Argument]) -> None:
        super().__init__(
            properties={
                "directive": StringAttr(directive),
                "target": SymbolRefAttr(target),
                "arguments": ArrayAttr([ArgumentAttr.get(a) for a in arguments]),
            }
        )

    @property
    def target_name(self) -> str:
        """The function that the directive is applied to."""
        return self.target.root_reference.data

    @property
    def argument_list(self) -> list[Argument]:
        """The arguments, in the order of the source."""
        return [attr.data for attr in self.arguments]


Sched = Dialect("sched", [ScheduleOp, DirectiveOp], [ArgumentAttr])
