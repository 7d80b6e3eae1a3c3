"""What people write who come from C or Python, and what DT has instead."""

from __future__ import annotations

import re
from typing import NamedTuple


class Habit(NamedTuple):
    """A form of another language.

    `before` matches the end of the text in front of the place where it cannot be read on, `at` the
    text from there; the message and the hint may use groups of either by name.
    """

    before: str
    at: str
    message: str
    hint: str


_METHODS = "sum|prod|max|min|mean|any|all|argmax|argmin|dot"

HABITS = tuple(
    Habit(*row)
    for row in (
        (
            r"\bif\s*", r"",
            "there is no conditional expression 'a if c else b'", "write 'where(c, a, b)'",
        ),
        (r"", r"\?", "there is no operator '? :'", "write 'where(c, a, b)'"),
        (r"&", r"&", "there is no operator '&&'", "write 'and'"),
        (r"\|", r"\|", "there is no operator '||'", "write 'or'"),
        (r"", r"!(?!=)", "there is no operator '!'", "write 'not'"),
        (
            r"", r"@",
            "there is no operator '@'",
            "a product names the label that it sums over: 'rdot(A[x, k], B[k, y], k)'",
        ),
        (
            r"\]\s*", rf"\.\s*(?P<method>{_METHODS})\b",
            "an expression has no methods",
            "write 'r{method}(…, k)' with the labels to reduce over",
        ),
        (
            r"\]\s*", r"(?P<operator>[-+*/%&|^]|//|\*\*|<<|>>)=",
            "a function is defined once, and nothing is assigned to",
            "write 'f[…] = …'; a sum over a label is 'rsum(…, k)'",
        ),
        (
            r"(?:^|;|\n)\s*(?P<name>[A-Za-z_]\w*)\s*=\s*[A-Za-z_]\w*\s*", r"[\[(]",
            "the definition of '{name}' lacks the labels of its axes",
            "write '{name}[x, …] = …', or '{name}[] = …' for a single element",
        ),
        (
            r"(?:^|;|\n)\s*(?P<name>[A-Za-z_]\w*)\s*=\s*", r"[-+~(\d.]",
            "the definition of '{name}' lacks the labels of its axes",
            "write '{name}[x, …] = …', or '{name}[] = …' for a single element",
        ),
        (r"[^=<>!\s]\s*", r"=(?!=)", "'=' does not compare", "write '=='"),
    )
)  # fmt: skip


def habit_at(text: str, place: int) -> tuple[str, str] | None:
    """The message and the hint for a text that cannot be read on at a place, if it is a habit."""
    before, at = text[max(0, place - 200) : place], text[place : place + 40]
    for habit in HABITS:
        behind = re.search(f"(?:{habit.before})$", before)
        ahead = re.match(habit.at, at)
        if behind is not None and ahead is not None:
            groups = {**behind.groupdict(), **ahead.groupdict()}
            return habit.message.format(**groups), habit.hint.format(**groups)
    return None
