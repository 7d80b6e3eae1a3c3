"""Habits of C and Python programmers, each with its form in DT."""

from __future__ import annotations

import re
from typing import NamedTuple


class Habit(NamedTuple):
    """A form of another language.

    `before` matches the end of the statement in front of the place where it cannot be read on,
    `at` the text from there; the message and the hint may use groups of either by name.
    """

    before: str
    at: str
    message: str
    hint: str


_METHODS = "sum|prod|max|min|mean|any|all|argmax|argmin|dot"
_VALUE = r"\]\s*=(?!=).*"
"""The statement is a definition, and the place in its expression."""
_OPERAND = r"[\])\w]\s*"
_NAMES = r"(?P<name>[A-Za-z_]\w*)\s*=\s*"

HABITS = tuple(
    Habit(*row)
    for row in (
        (
            _VALUE + _OPERAND + r"\bif\s+", r"",
            "there is no conditional expression 'a if c else b'", "write 'where(c, a, b)'",
        ),
        (
            _VALUE + r"\bif\s*\(.*\)\s*", r"[\w(]",
            "there is no conditional expression 'if (c) a else b'", "write 'where(c, a, b)'",
        ),
        (_VALUE + _OPERAND, r"\?", "there is no operator '? :'", "write 'where(c, a, b)'"),
        (_VALUE + r"&", r"&", "there is no operator '&&'", "write 'and'"),
        (_VALUE + r"\|", r"\|", "there is no operator '||'", "write 'or'"),
        (_VALUE, r"!(?!=)", "there is no operator '!'", "write 'not'"),
        (
            _VALUE + _OPERAND, r"@",
            "there is no operator '@'",
            "a product names the label that it sums over: 'rdot(A[x, k], B[k, y], k)'",
        ),
        (
            _VALUE + r"\]\s*", rf"\.\s*(?P<method>{_METHODS})\b",
            "an expression has no methods",
            "write 'r{method}(…, k)' with the labels to reduce over",
        ),
        (
            r"^\s*[A-Za-z_]\w*\s*\[[^\]=]*\]\s*", r"(?:[-+*/%&|^]|//|\*\*|<<|>>)=",
            "a function is defined once, and nothing is assigned to",
            "write 'f[…] = …'; a sum over a label is 'rsum(…, k)'",
        ),
        (
            r"^\s*" + _NAMES + r"[A-Za-z_]\w*\s*", r"[\[(]",
            "the definition of '{name}' lacks the labels of its axes",
            "write '{name}[x, …] = …', or '{name}[] = …' for a single element",
        ),
        (
            r"^\s*" + _NAMES, r"[-+~(\d.]",
            "the definition of '{name}' lacks the labels of its axes",
            "write '{name}[x, …] = …', or '{name}[] = …' for a single element",
        ),
        (
            r"^\s*\w+\s*\.\s*\w+\s*\(.*\b(?P<label>[A-Za-z_]\w*)\s*", r"=",
            "an argument of a directive follows a colon", "write '{label}:…'",
        ),
        (
            r"^\s*(?P<function>\w+)\s*\.\s*(?P<directive>\w+)\s*", r"=",
            "a directive is called", "write '{function}.{directive}(…)'",
        ),
        (_VALUE + r"[\])\w]\s*", r"=>", "there is no operator '=>'", "write '>='"),
        (_VALUE + r"[\])\w]\s*", r"=<", "there is no operator '=<'", "write '<='"),
        (
            _VALUE + r"[(,]\s*[A-Za-z_]\w*\s*", r"=(?!=)",
            "operands have no names", "give them in their order, labels last",
        ),
        (_VALUE + _OPERAND, r"=(?!=)", "'=' does not compare", "write '=='"),
    )
)  # fmt: skip


def habit_at(text: str, place: int) -> tuple[str, str] | None:
    """The message and the hint for a text that cannot be read on at a place, if it is a habit."""
    before = re.sub(r"#[^\n]*", "", text[:place][-4000:])
    statement, at = before.rpartition(";")[2], text[place : place + 40]
    # A statement may end without a semicolon, at the end of a line.
    for start in (statement, statement.rpartition("\n")[2]):
        for habit in HABITS:
            behind = re.search(f"(?:{habit.before})$", start.lstrip("\n"), re.DOTALL)
            ahead = re.match(habit.at, at)
            if behind is not None and ahead is not None:
                groups = {**behind.groupdict(), **ahead.groupdict()}
                return habit.message.format(**groups), habit.hint.format(**groups)
    return None
