"""Parses `.dt` text into a syntax tree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.visitors import v_args

from dt_mlir.cache_folder import private_file
from dt_mlir.diagnostics import CompileError, make_location
from dt_mlir.dialects.sched import Argument, KnobReference, Options
from dt_mlir.frontend.habits import habit_at
from dt_mlir.frontend.syntax import (
    Alternatives,
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    KnobDefinition,
    Name,
    Number,
    Position,
    Prefix,
    Read,
    SyntaxTree,
)

_EXPECTED = {
    "NAME": "a name",
    "INT": "a number",
    "FLOAT": "a number",
    "KIND": "a declaration",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUAL": "'='",
    "DOT": "'.'",
    "SEMICOLON": "';'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "BAR": "'|'",
    "NONE": "'none'",
    "SLASH": "'/'",
    "MINUS": "'-'",
    "$END": "the end of the program",
}
_OPERATORS = frozenset(
    "OR AND COMPARE SHIFT FLOORDIV POWER PLUS STAR SLASH PERCENT BAR HAT AMPERSAND".split()
)
_OPERANDS = frozenset("FLOAT INT NAME LPAR TILDE NOT PLUS MINUS".split())
_STATEMENT = frozenset("KIND NAME NONE LPAR SEMICOLON $END".split())


@cache
def _grammar() -> Lark:
    """The parser; making its tables takes longer than most programs do, so that they are kept."""
    tables = private_file("grammar.tables")
    return Lark(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        maybe_placeholders=True,
        transformer=_Builder(),
        cache=False if tables is None else str(tables),
    )


MOST_CHARACTERS = 2**20
"""The longest text that is taken for a program."""


def parse_program(text: str, file: str) -> SyntaxTree:
    """Parses a program.

    Args:
        text: the program.
        file: what to call the text in messages.

    Raises:
        CompileError: at the first place where the text is not a program.
    """
    if len(text) > MOST_CHARACTERS:
        raise CompileError(
            f"the text has {len(text)} characters, and a program has {MOST_CHARACTERS} at most",
            make_location(file, 1, 1), "compile it in parts",
        )  # fmt: skip
    try:
        # Rules are turned into the syntax tree as they are met.
        program: Any = _grammar().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, file) from None
    except _Refused as error:
        token = error.token
        location = make_location(file, token.line or 1, token.column or 1)
        raise CompileError(error.message, location, error.hint) from None
    assert isinstance(program, SyntaxTree)
    program.file = file
    return program


class _Refused(Exception):
    """A token that no program has, though the grammar takes it."""

    def __init__(self, message: str, token: Token, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.token, self.hint = message, token, hint


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> CompileError:
    place = error.pos_in_stream
    habit = None if place is None else habit_at(text, place)
    if habit is not None:
        message, hint = habit
        return CompileError(message, make_location(file, error.line, error.column), hint)
    match error:
        case UnexpectedCharacters():
            location = make_location(file, error.line, error.column)
            character = text[error.pos_in_stream or 0]
            return CompileError(f"unexpected character {character!r}", location)
        case UnexpectedToken():
            token = error.token
            if token.type == "$END":
                # It stands where the last token ends.
                location = make_location(file, token.end_line or 1, token.end_column or 1)
                found = "end of the program"
            else:
                location = make_location(file, token.line or 1, token.column or 1)
                found = f"'{token}'"
            expected = _expectation(set(error.accepts or error.expected))
            return CompileError(f"unexpected {found}: expected {expected}", location)
        case _:
            return CompileError("this is no DT program", make_location(file, 1, 1))


def _expectation(accepts: set[str]) -> str:
    parts: list[str] = []
    if len(accepts & _OPERATORS) > 3:
        parts.append("an operator")
        accepts = accepts - _OPERATORS - {"MINUS"}
        # Where an expression may end, so may the statement.
        if accepts >= _STATEMENT:
            parts.append("';'")
            accepts = accepts - _STATEMENT
    if accepts >= {"FLOAT", "INT", "NAME", "LPAR"}:
        parts.append("an expression")
        accepts = accepts - _OPERANDS
    if accepts >= _STATEMENT:
        parts.append("a statement")
        accepts = accepts - _STATEMENT
    parts.extend(sorted({_EXPECTED.get(name, f"'{name.lower()}'") for name in accepts}))
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " or " + parts[-1]


def _at(token: Token) -> Position:
    return Position(token.line or 0, token.column or 0)


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """Builds the syntax tree bottom up; each method is named after its rule."""

    def start(
        self,
        *statements: list[Declaration] | Definition | DirectiveCall | KnobDefinition | Alternatives,
    ) -> SyntaxTree:
        program = SyntaxTree("")
        for statement in statements:
            match statement:
                case Definition():
                    program.definitions.append(statement)
                case DirectiveCall():
                    program.directives.append(statement)
                case KnobDefinition():
                    program.knobs.append(statement)
                case Alternatives():
                    program.alternatives.append(statement)
                case _:
                    program.declarations.extend(statement)
        return program

    def declaration(
        self, kind: Token, *items: tuple[Token, Token | None, Expr | None]
    ) -> list[Declaration]:
        return [
            Declaration(
                str(kind),
                str(name),
                None if type is None else str(type),
                _at(name),
                _at(type or name),
                size,
            )
            for name, type, size in items
        ]

    def item(
        self, name: Token, type: Token | None, size: Expr | None
    ) -> tuple[Token, Token | None, Expr | None]:
        return name, type, size

    def labels(self, *items: Token) -> list[Token]:
        return list(items)

    def definition(self, name: Token, labels: list[Token] | None, value: Expr) -> Definition:
        found = labels or []
        return Definition(
            str(name), tuple(map(str, found)), value, _at(name), tuple(map(_at, found))
        )

    def directive(self, target: Token, name: Token, *items: Argument | None) -> DirectiveCall:
        arguments = tuple(item for item in items if item is not None)
        return DirectiveCall(str(target), str(name), arguments, _at(target), _at(name))

    def _number(self, token: Token, most: int = 2**63 - 1) -> int:
        digits = token.lstrip("0") or "0"
        # Python takes long for very long numbers, or refuses them.
        if len(digits) > 19 or int(digits) > most:
            raise _Refused("the number does not fit in 64 bits", token)
        return int(digits)

    def number_option(self, value: Token) -> int:
        return self._number(value)

    def negative_option(self, value: Token) -> int:
        return -self._number(value, 2**63)

    def name_option(self, value: Token) -> str:
        return str(value)

    def options(self, brace: Token, *values: int | str) -> Options:
        if len(set(values)) < len(values):
            raise _Refused("the options of a set must be different", brace)
        return Options(values)

    def bare_argument(self, value: int | str | Options) -> Argument:
        return Argument(None, value)

    def keyed_argument(self, key: Token, value: int | str | Options) -> Argument:
        return Argument(str(key), value)

    def keyed_split(self, key: Token, value: Token, factor: int | str | Options) -> Argument:
        if isinstance(factor, str):
            return Argument(str(key), str(value), KnobReference(factor))
        return Argument(str(key), str(value), factor)

    def knob(self, name: Token, value: Options | Alternatives) -> KnobDefinition | Alternatives:
        if isinstance(value, Options):
            return KnobDefinition(str(name), value, _at(name))
        return replace(value, name=str(name), at=_at(name))

    def branch(
        self, first: DirectiveCall | Token, *rest: DirectiveCall
    ) -> tuple[Position, tuple[DirectiveCall, ...]]:
        """Returns the start of a branch and its directives, without `none` and parentheses."""
        if isinstance(first, Token):
            return _at(first), rest
        return first.at, (first, *rest)

    def choice(self, *branches: tuple[Position, tuple[DirectiveCall, ...]]) -> Alternatives:
        return Alternatives(None, tuple(calls for _, calls in branches), branches[0][0])

    def float(self, token: Token) -> Expr:
        value = float(token)
        if value == inf:
            raise _Refused("the number does not fit in f64", token, "write inf")
        return Number(value, _at(token))

    def integer(self, token: Token) -> Expr:
        # One more than the largest may be the least one, behind a minus sign.
        return Number(self._number(token, 2**63), _at(token))

    def name(self, token: Token) -> Expr:
        return Name(str(token), _at(token))

    def read(self, name: Token, *indices: Expr | None) -> Expr:
        return Read(str(name), tuple(i for i in indices if i is not None), _at(name))

    def call(self, name: Token, *arguments: Expr | None) -> Expr:
        return Call(str(name), tuple(a for a in arguments if a is not None), _at(name))

    def prefix(self, operator: Token, operand: Expr) -> Expr:
        if operator == "+":
            return operand
        if operator == "-" and isinstance(operand, Number):
            return Number(-operand.value, _at(operator))
        return Prefix(str(operator), operand, _at(operator))

    def _chain(self, first: Expr, *rest: Token | Expr) -> Expr:
        result = first
        for operator, right in zip(rest[::2], rest[1::2]):
            assert isinstance(operator, Token)
            assert not isinstance(right, Token)
            result = Infix(str(operator), result, right, _at(operator))
        return result

    disjunction = conjunction = bit_or = bit_xor = bit_and = _chain
    shift = sum = product = power = _chain

    def comparison(self, first: Expr, *rest: Token | Expr) -> Expr:
        result: Expr | None = None
        left = first
        for operator, right in zip(rest[::2], rest[1::2]):
            assert isinstance(operator, Token)
            assert not isinstance(right, Token)
            link = Infix(str(operator), left, right, _at(operator))
            result = link if result is None else Infix("and", result, link, _at(operator))
            left = right
        assert result is not None
        return result
