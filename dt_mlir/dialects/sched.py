"""The `sched` dialect: a schedule as data, beside the algorithm until it is applied.

Each directive has an operation, `sched.block` for `f.block(…)`, which is derived from its name, so
that a package outside adds a directive without extending the dialect. The directive's class, a
`dt_mlir.scheduling.Directive`, knows its parameters; `verify-schedule` and `apply-schedule` ask it.

A schedule may be a space: an argument that is a set, a knob that several arguments share, and
alternatives, as in MLIR's `transform.tune` dialect. `sched-select` decides them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, Region
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    traits_def,
    var_region_def,
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

from dt_mlir.dialects.identifiers import IdentifierRef, Symbol
from dt_mlir.traversal import operations, operations_of


@dataclass(frozen=True)
class Options:
    """A set of options for an argument: `{64, 128}`."""

    values: tuple[int | str, ...]
    """Numbers and names, all different."""

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.values))}}}"


@dataclass(frozen=True)
class KnobReference:
    """A reference to a knob, whose options several arguments share."""

    name: str

    def __str__(self) -> str:
        return self.name


Open = Options | KnobReference
"""A set of options, or a knob's."""


class Argument(NamedTuple):
    """An argument of a directive as the source has it: `64`, `x`, `x:128`, `x:x1/8`.

    In the schedule of a space, sets and knobs stand for numbers and names.
    """

    key: str | None
    """The label before the colon."""
    value: int | str | Open
    """A number or a name."""
    factor: int | Open | None = None
    """The number after a slash."""

    @property
    def is_open(self) -> bool:
        """True if a set or a knob stands where a number or a name will."""
        return isinstance(self.value, Open) or isinstance(self.factor, Open)

    def __str__(self) -> str:
        head = "" if self.key is None else f"{self.key}:"
        tail = "" if self.factor is None else f"/{self.factor}"
        return f"{head}{self.value}{tail}"


def _as_attribute(value: int | str | Open | None) -> Attribute:
    match value:
        case None:
            return NoneAttr()
        case int():
            return IntegerAttr(value, i64)
        case str():
            return StringAttr(value)
        case Options(values):
            return ArrayAttr([_as_attribute(item) for item in values])
        case KnobReference(name):
            return SymbolRefAttr(name)


def _as_value(attr: Attribute) -> int | str | Open | None:
    match attr:
        case IntegerAttr():
            return attr.value.data
        case StringAttr():
            return attr.data
        case ArrayAttr():
            return Options(tuple(_as_option(item) for item in attr))
        case SymbolRefAttr():
            return KnobReference(attr.root_reference.data)
        case _:
            return None


def _as_option(attr: Attribute) -> int | str:
    value = _as_value(attr)
    assert isinstance(value, int | str)
    return value


_VALUE = (
    BaseAttr(StringAttr)
    | BaseAttr(IntegerAttr)
    | BaseAttr(ArrayAttr)
    | BaseAttr(SymbolRefAttr)
    | BaseAttr(NoneAttr)
)


@irdl_attr_definition
class ArgumentAttr(ParametrizedAttribute):
    """An argument of a directive: `64`, `x`, `x: 128` or `x: x1 by 8`.

    Where a number or a name may stand there may be a set `{64, 128}` or a knob `@BM`.
    """

    name = "sched.arg"

    key: StringAttr | NoneAttr = param_def()
    value: Attribute = param_def(_VALUE)
    factor: Attribute = param_def(_VALUE)

    @staticmethod
    def get(argument: Argument) -> ArgumentAttr:
        """The attribute that holds an argument."""
        return ArgumentAttr(
            NoneAttr() if argument.key is None else StringAttr(argument.key),
            _as_attribute(argument.value),
            _as_attribute(argument.factor),
        )

    @property
    def data(self) -> Argument:
        """The argument."""
        value, factor = _as_value(self.value), _as_value(self.factor)
        assert value is not None
        assert not isinstance(factor, str)
        return Argument(self.key.data if isinstance(self.key, StringAttr) else None, value, factor)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_argument(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(_show(self.data))


def _parse_option(parser: AttrParser) -> int | str:
    number = parser.parse_optional_integer(allow_boolean=False)
    return parser.parse_identifier() if number is None else number


def _parse_open(parser: AttrParser) -> Open | None:
    """Parses `{64, 128}` or `@BM`, if one of them follows."""
    symbol = parser.parse_optional_symbol_name()
    if symbol is not None:
        return KnobReference(symbol.data)
    if parser.parse_optional_punctuation("{") is None:
        return None
    values = [_parse_option(parser)]
    while parser.parse_optional_punctuation(","):
        values.append(_parse_option(parser))
    parser.parse_punctuation("}")
    return _options(parser, values)


def _options(parser: AttrParser, values: Sequence[int | str]) -> Options:
    if len(set(values)) < len(values):
        parser.raise_error("the options of a set must be different")
    return Options(tuple(values))


def parse_argument(parser: AttrParser) -> ArgumentAttr:
    """Parses `64`, `x`, `x: 128`, `x: x1 by 8`, `x: {64, 128}`, `x: @BM`."""
    key: str | None = None
    value: int | str | Open | None = _parse_open(parser)
    if value is None:
        value = _parse_option(parser)
        if isinstance(value, str) and parser.parse_optional_punctuation(":"):
            key = value
            value = _parse_open(parser)
            if value is None:
                value = _parse_option(parser)
    factor: int | Open | None = None
    if isinstance(value, str) and parser.parse_optional_keyword("by"):
        factor = _parse_open(parser)
        if factor is None:
            factor = parser.parse_integer(allow_boolean=False)
    return ArgumentAttr.get(Argument(key, value, factor))


def _shown(value: int | str | Open) -> str:
    return f"@{value.name}" if isinstance(value, KnobReference) else str(value)


def _show(argument: Argument) -> str:
    head = "" if argument.key is None else f"{argument.key}: "
    tail = "" if argument.factor is None else f" by {_shown(argument.factor)}"
    return f"{head}{_shown(argument.value)}{tail}"


@irdl_custom_directive
class ArgumentsDirective(CustomDirective):
    """Arguments in parentheses: `(x: 128, y)`."""

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


@irdl_custom_directive
class OptionsDirective(CustomDirective):
    """The options of a knob: `{64, 128}`."""

    options: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        found = _parse_open(parser)
        if not isinstance(found, Options):
            parser.raise_error("a knob needs options, as in '{64, 128}'")
        self.options.set(state, _as_attribute(found))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, KnobOp)
        printer.print_string(f" {op.option_set}")
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class ScheduleOp(IRDLOperation):
    """Holds the directives of a program's schedule; in that of a space knobs and alternatives."""

    name = "sched.schedule"

    body = region_def("single_block")
    """The directives."""

    assembly_format = "attr-dict-with-keyword $body"
    traits = traits_def(NoTerminator())

    def __init__(self, body: Region) -> None:
        super().__init__(regions=[body])

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, DirectiveOp | KnobOp | AlternativesOp):
                raise VerifyException(f"a schedule holds directives, not '{op.name}'")
        known = [op.sym_name.data for op in self.body.block.ops if isinstance(op, KnobOp)]
        if len(set(known)) < len(known):
            raise VerifyException("two knobs of a schedule have one name")
        for op in operations(self):
            for argument in op.argument_list if isinstance(op, DirectiveOp) else ():
                for part in (argument.value, argument.factor):
                    if isinstance(part, KnobReference) and part.name not in known:
                        raise VerifyException(f"there is no knob '{part.name}'")

    def directives(self) -> list[DirectiveOp]:
        """All directives, those of alternatives too, in the order of the text."""
        return operations_of(self, DirectiveOp)


@irdl_op_definition
class KnobOp(IRDLOperation):
    """A parameter of a space of schedules, which several arguments share.

    `sched.knob @BM {64, 128}`
    """

    name = "sched.knob"

    sym_name = prop_def(Symbol)
    """The knob's name."""
    options = prop_def(ArrayAttr[StringAttr | IntegerAttr])
    """The options: numbers and names."""

    assembly_format = "$sym_name custom<OptionsDirective>($options) attr-dict"
    custom_directives = (OptionsDirective,)
    traits = traits_def(HasParent(ScheduleOp))

    def __init__(self, name: str, options: Options) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name), "options": _as_attribute(options)}
        )

    @property
    def option_set(self) -> Options:
        """The options."""
        return Options(tuple(_as_option(item) for item in self.options))

    def verify_(self) -> None:
        values = self.option_set.values
        if not values or len(set(values)) < len(values):
            raise VerifyException("a knob needs options that are all different")


@irdl_op_definition
class AlternativesOp(IRDLOperation):
    """Directives of which a schedule of the space has one group; a group may be empty.

    `sched.alternatives @fused { sched.fuse_at @g(f, x) } { }`
    """

    name = "sched.alternatives"
    GRAMMAR: ClassVar = "symbol? region region … (`attributes` attr-dict)?"

    sym_name = opt_prop_def(Symbol)
    """The choice's name."""
    branches = var_region_def("single_block")
    """The groups of directives, numbered from 0."""

    traits = traits_def(NoTerminator(), HasParent(ScheduleOp))

    def __init__(self, name: str | None, branches: Sequence[Region]) -> None:
        properties = {} if name is None else {"sym_name": StringAttr(name)}
        super().__init__(properties=properties, regions=[branches])

    def verify_(self) -> None:
        if len(self.branches) < 2:
            raise VerifyException("there is nothing to choose from: two branches are needed")
        for branch in self.branches:
            for op in branch.block.ops:
                if not isinstance(op, DirectiveOp):
                    raise VerifyException(f"alternatives are directives, not '{op.name}'")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_optional_symbol_name()
        branches = [parser.parse_region()]
        while (branch := parser.parse_optional_region()) is not None:
            branches.append(branch)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        for branch in branches:
            if not branch.blocks:
                branch.add_block(Block())
        op = cls(None if name is None else name.data, branches)
        op.attributes.update(attributes.data if attributes is not None else {})
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_name is not None:
            printer.print_string(" ")
            printer.print_symbol_name(self.sym_name.data)
        for branch in self.branches:
            printer.print_string(" ")
            printer.print_region(branch, print_empty_block=False)
        printer.print_op_attributes(self.attributes, print_keyword=True)


class DirectiveOp(IRDLOperation):
    """One scheduling directive, `f.block(x:128)` in the source. Each directive has an operation.

    `sched.block @mm(x: 128, y: 128)`; a split is written `sched.map @mm(x: x1 by 8, y, x1)`.
    """

    function = prop_def(IdentifierRef)
    """The function that the directive is applied to."""
    arguments = prop_def(ArrayAttr[ArgumentAttr])
    """Its arguments, in the order of the source."""

    assembly_format = "$function custom<ArgumentsDirective>($arguments) attr-dict"
    custom_directives = (ArgumentsDirective,)
    traits = traits_def(HasParent(ScheduleOp, AlternativesOp))

    @classmethod
    def make(cls, directive: str, function: str, arguments: Sequence[Argument]) -> DirectiveOp:
        """Makes the operation of a directive.

        Args:
            directive: the directive's name, as in programs.
            function: the function that it is applied to.
            arguments: the arguments, in the order of the source.
        """
        return directive_op(directive)(
            properties={
                "function": SymbolRefAttr(function),
                "arguments": ArrayAttr([ArgumentAttr.get(a) for a in arguments]),
            }
        )

    @property
    def directive_name(self) -> str:
        """The directive's name, as in programs."""
        return self.name.removeprefix(_PREFIX)

    @property
    def function_name(self) -> str:
        """The function that the directive is applied to."""
        return self.function.root_reference.data

    @property
    def argument_list(self) -> list[Argument]:
        """The arguments, in the order of the source."""
        return [attr.data for attr in self.arguments]

    @property
    def reason(self) -> str:
        """Why a schedule that the compiler wrote has it; empty without one."""
        found = self.attributes.get("reason")
        return found.data if isinstance(found, StringAttr) else ""

    def set_reason(self, reason: str) -> None:
        """Notes why a schedule has it, unless the reason is empty."""
        if reason:
            self.attributes["reason"] = StringAttr(reason)

    def set_arguments(self, arguments: Sequence[Argument]) -> None:
        """Gives it other arguments."""
        self.arguments = ArrayAttr([ArgumentAttr.get(argument) for argument in arguments])


_PREFIX = "sched."
OUTER = "_outer"
"""The end of the name by which directives call the outer loop of a label that is split."""
RESERVED = frozenset({"schedule", "knob", "alternatives"})
"""The names that no directive can have: those of the dialect's other operations."""


@cache
def directive_op(directive: str) -> type[DirectiveOp]:
    """Returns the operation of a directive, by the directive's name in programs."""
    fields = {
        "name": f"{_PREFIX}{directive}",
        "__doc__": DirectiveOp.__doc__,
        "__module__": __name__,
        "assembly_format": DirectiveOp.assembly_format,
        "custom_directives": DirectiveOp.custom_directives,
        "traits": DirectiveOp.traits,
    }
    words = "".join(word.capitalize() for word in directive.split("_"))
    return irdl_op_definition(type(f"{words}Op", (DirectiveOp,), fields))


def dialect_of(directives: Iterable[str]) -> Dialect:
    """Returns the dialect with the operations of some directives, by their names in programs."""
    operations: list[type[Operation]] = [ScheduleOp, KnobOp, AlternativesOp]
    operations += [directive_op(name) for name in directives]
    return Dialect("sched", operations, [ArgumentAttr])
