"""Tokens and statements of any text agree with what the compiler's parser says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor_texts import all_texts, broken_texts
from lark import Lark

import dt_mlir
from dt_mlir.diagnostics import CompileError
from dt_mlir.editor.statements import parse_statements
from dt_mlir.editor.tokens import reserved_words, scan
from dt_mlir.frontend.parser import parse_program


def agree(text: str) -> None:
    """Checks that statements have the tree of the program, or its first message."""
    found = parse_statements(text, "p")
    wanted, refusal = None, None
    try:
        wanted = parse_program(text, "p")
    except CompileError as error:
        refusal = error.message, error.location, error.hint
    first = found.errors[0] if found.errors else None
    assert refusal == (first and (first.message, first.location, first.hint)), text
    # Places are compared too.
    assert wanted is None or repr(found.tree) == repr(wanted)
    covered = [token for item in found.statements for token in item.tokens]
    assert covered == [token for token in found.tokens if token.type != "COMMENT"]


def test_tokens_are_those_of_the_grammar() -> None:
    path = Path(dt_mlir.__file__).parent / "frontend" / "grammar.lark"
    lexer = Lark(path.read_text(encoding="utf-8"), parser=None, lexer="basic")
    compared = 0
    for text in all_texts().values():
        try:
            wanted = [
                (token.type, str(token), token.start_pos)
                for token in lexer.lex(text, dont_ignore=True) if not token.type.startswith("_")
            ]  # fmt: skip
        except Exception:
            continue
        assert [(t.type, t.text, t.start) for t in scan(text)] == wanted
        compared += 1
    assert compared > 600


def test_reserved_words_are_those_of_the_grammar() -> None:
    words = {word: kind for kind, found in reserved_words().items() for word in found}
    assert set(words) == {"Func", "In", "SIn", "Var", "RVar", "and", "or", "not", "none"}
    for word, kind in words.items():
        assert [token.type for token in scan(word)] == [kind]
        assert [token.type for token in scan(f"{word}s")] == ["NAME"]


def test_programs() -> None:
    for text in all_texts().values():
        agree(text)


def test_broken_programs() -> None:
    for _, text in broken_texts(seed=1, each=3):
        agree(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f[x] = A[x] +", "f[x] = A[x];"),
        ("f[x] = exp(A[x, y]) * rsum(B[x, k], k", "f[x] = exp(A[x, y]) * rsum(B[x, k], k);"),
        ("f.block(x:64, y:", "f.block(x:64, y);"),
        ("Var x, y, ;", "Var x, y;"),
        ("f[x, y] = where(A[x] > 0, 1,", "f[x, y] = where(A[x] > 0, 1);"),
        ("f.block(x:64", "f.block(x:64);"),
        ("+ f", ""),
    ],
)
def test_the_beginning_of_a_broken_statement(text: str, said: str) -> None:
    found = parse_statements(f"Func g;\n{text}\ng.compile();\n", "p")
    assert len(found.statements) == 3
    assert len(found.errors) == 1
    tree, wanted = found.statements[1].tree, parse_program(said, "p")
    assert [d.name for d in tree.declarations] == [d.name for d in wanted.declarations]
    assert [(d.name, d.labels, d.expression) for d in tree.definitions] == [
        (d.name, d.labels, d.expression) for d in wanted.definitions
    ]
    assert [(d.function, d.name, d.arguments) for d in tree.directives] == [
        (d.function, d.name, d.arguments) for d in wanted.directives
    ]


def test_a_bracket_that_is_not_closed_ends_at_the_next_statement() -> None:
    text = "f[x] = exp(A[x\ng[x] = f[x];\nf.block(x:64\ng.compile();\nC = (f.block(x:2);\nf.map(x)) | none;\n"
    found = parse_statements(text, "p")
    assert [text[item.start : item.end] for item in found.statements] == [
        "f[x] = exp(A[x", "g[x] = f[x];", "f.block(x:64", "g.compile();",
        "C = (f.block(x:2);\nf.map(x)) | none;",
    ]  # fmt: skip
    assert [item.error is not None for item in found.statements] == [True, False, True, False, False]
