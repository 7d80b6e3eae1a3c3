"""Writes the TextMate grammar of the language, from the compiler's grammar and word lists.

Nothing of the language spans lines but white space, so that the grammar is a list of patterns. A
directive, or a function that another package defines, is coloured by its place and not by its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from dt_mlir.editor.tokens import terminals
from dt_mlir.editor.words import constants, element_types, functions, kinds, operators

SCOPE = "source.dt"
"""The name of the grammar."""
_OPERATORS = (
    "SHIFT", "FLOORDIV", "POWER", "COMPARE", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "TILDE",
    "BAR", "HAT", "AMPERSAND",
)  # fmt: skip


def _words(words: Iterable[str]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


def grammar() -> dict[str, object]:
    """Returns the grammar."""
    known = terminals()
    name, number = known["NAME"], rf"{known['FLOAT']}|{known['INT']}"
    signs = "|".join(known[operator] for operator in _OPERATORS)
    types = _words(element_types())
    patterns: list[tuple[str, str | dict[int, str]]] = [
        (known["COMMENT"], "comment.line.number-sign"),
        (_words(kinds()), "storage.type"),
        (_words(operators()), "keyword.operator.word"),
        (
            rf"\b({name})\s*(\.)\s*({name})",
            {1: "entity.name.function", 2: "punctuation.accessor", 3: "support.function.directive"},
        ),
        (rf"\b{name}(?=\s*\[[^\]]*\]\s*=(?!=))", "entity.name.function"),
        (rf"(:)\s*({types})", {1: "punctuation.separator.type", 2: "support.type"}),
        (rf"(,)\s*({types})(?=\s*\))", {1: "punctuation.separator", 2: "support.type"}),
        (rf"{_words(functions())}(?=\s*\()", "support.function.builtin"),
        (rf"\b{name}(?=\s*\()", "support.function.other"),
        (rf"\b{name}(?=\s*\[)", "variable.other.tensor"),
        (rf"\b{name}(?=\s*:)", "variable.parameter"),
        (_words(constants()), "constant.language"),
        (rf"\b{name}", "variable.other"),
        (number, "constant.numeric"),
        (signs, "keyword.operator"),
        (known["EQUAL"], "keyword.operator.assignment"),
        (r"[()\[\]{}]", "punctuation.bracket"),
        (r"[,;:.]", "punctuation.separator"),
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "information_for_contributors": ["Written by docs/generate.py; not to be edited."],
        "name": "Decoupled Triton",
        "scopeName": SCOPE,
        "patterns": [_pattern(match, scope) for match, scope in patterns],
    }


def _pattern(match: str, scope: str | dict[int, str]) -> dict[str, object]:
    if isinstance(scope, str):
        return {"match": match, "name": f"{scope}.dt"}
    captures = {str(number): {"name": f"{name}.dt"} for number, name in scope.items()}
    return {"match": match, "captures": captures}


def grammar_text() -> str:
    """Returns the grammar as the text of its file."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"
