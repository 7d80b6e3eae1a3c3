"""Formatting keeps what a program says and each of its comments."""

from __future__ import annotations

import random

import pytest
from editor_client import Client
from editor_texts import all_programs, said
from lsprotocol import types

from dt_mlir.diagnostics import CompileError
from dt_mlir.editor.formatting import format_program
from dt_mlir.editor.tokens import COMMENT, scan
from dt_mlir.frontend.parser import parse_program

OPTIONS = types.FormattingOptions(tab_size=4, insert_spaces=True)


def comments(text: str) -> list[str]:
    return [token.text.rstrip() for token in scan(text) if token.type == COMMENT]


def check(text: str) -> None:
    found = format_program(text)
    assert said(parse_program(found, "p")) == said(parse_program(text, "p")), text
    assert comments(found) == comments(text), text
    assert format_program(found) == found, text
    assert not any(line != line.rstrip() for line in found.split("\n"))


def test_programs_keep_their_meaning_and_their_comments() -> None:
    for text in all_programs().values():
        check(text)


def test_comments_may_stand_anywhere() -> None:
    rng = random.Random(5)
    for text in all_programs().values():
        tokens = scan(text)
        for number in sorted(rng.sample(range(len(tokens)), min(5, len(tokens))), reverse=True):
            at = tokens[number].start
            piece = rng.choice([f" # é {number}\n", "\n\n\n", f"\n  # own {number} \n", "   "])
            text = text[:at] + piece + text[at:]
        check(text)


def test_comments_may_stand_behind_names_that_are_words() -> None:
    check(
        "Func none, f; In A; Var x; none[x] = A[x]; f[x] = none[x];\n"
        "none  # The function,\n  # not\n.fuse_at(f, x) | none;\nf.compile();\n"
    )


def test_the_form() -> None:
    text = (
        "\n\n# A product,   of two.\n#\tIn halves.\nFunc mm ;In A:f16,B ; Var x,y;  RVar k;   # labels\n\n\n\n"
        "mm [x,y] = rdot( A[x,k] # the left one\n   , B[k,y],k)   ; # the algorithm\n"
        "mm.block( x:128,y : 128 );  # blocks\nmm.num_warps(4);# few\n"
        "  mm.compile() ;;\n# the end"
    )
    assert format_program(text) == (
        "# A product,   of two.\n#\tIn halves.\nFunc mm;\nIn A : f16, B;\nVar x, y;\nRVar k;  # labels\n\n"
        "# the left one\nmm[x, y] = rdot(A[x, k], B[k, y], k);  # the algorithm\n"
        "mm.block(x:128, y:128);                # blocks\n"
        "mm.num_warps(4);                       # few\n"
        "mm.compile();\n# the end\n"
    )
    assert format_program("") == format_program("\n \n") == ""
    assert format_program("# only\n\n\n# these") == "# only\n\n# these\n"
    with pytest.raises(CompileError, match="expected an expression"):
        format_program("f[x] = ;")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_through_the_protocol(client: Client, newline: str) -> None:
    text = "Func f ; In A ;# 𝄞\n\n\nVar x;\nf[x]=A[x]  ;f.compile( );"
    document = client.open(text.replace("\n", newline))
    (edit,) = document.ask("formatting", options=OPTIONS)
    made = document.applied([edit])
    wanted = "Func f;\nIn A;  # 𝄞\n\nVar x;\nf[x] = A[x];\nf.compile();\n"
    assert made == wanted.replace("\n", newline)
    document.change(made)
    assert not document.ask("formatting", options=OPTIONS)
    document.change(made + "f[x] = ;")
    assert document.ask("formatting", options=OPTIONS) is None
