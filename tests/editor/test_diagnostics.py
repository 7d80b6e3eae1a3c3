"""Diagnostics and their remedies: texts, ranges, and what a remedy makes of the program."""

from __future__ import annotations

import pytest
from editor_client import Client, Document
from lsprotocol import types

PRODUCT = """Func mm;
In A, B;
Var x, y;
RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.block(x:128, y:128);
mm.compile();
"""


def shown(document: Document, ready: object = None) -> list[tuple[str, str]]:
    """Returns the text that each diagnostic is about, and its message."""
    return [(document.slice(d.range), d.message) for d in document.diagnostics(ready)]


def test_a_program_without_mistakes_has_none(client: Client) -> None:
    assert shown(client.open(PRODUCT)) == []


def test_messages_are_the_compilers_own(client: Client) -> None:
    document = client.open(PRODUCT.replace("B[k, y], k)", "B[k, y], j)"))
    (found,) = document.diagnostics()
    assert found.message == "label 'j' is not declared\nhelp: add 'Var j;', or use one of x, y, k"
    assert found.range == types.Range(types.Position(4, 34), types.Position(4, 35))
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.source == "dt"
    assert [*document.actions(found).items()] == [
        ("Add 'Var j;'", document.text.replace("RVar k;\n", "RVar k;\nVar j;\n")),
        ("Replace 'j' by 'x'", PRODUCT.replace("B[k, y], k)", "B[k, y], x)")),
        ("Replace 'j' by 'y'", PRODUCT.replace("B[k, y], k)", "B[k, y], y)")),
        ("Replace 'j' by 'k'", PRODUCT),
    ]


def test_several_mistakes_are_found_at_once(client: Client) -> None:
    document = client.open(
        "Func f, g;\nIn A : f17, B;\nVar x, y, x;\nRVar k;\n"
        "f[x, z] = exq(A[x, k]) + C[x];\n"
        "g[x] = rsum(f[x, k], k) + rsun(A[x, k], k);\n"
        "g.blok(x:1);\nq.block(x:2);\ng.num_warps(3);\ng.compile();\n"
    )
    assert shown(document) == [
        ("f17", "'f17' is not an element type\nhelp: did you mean 'f16'?"),
        ("x", "'x' is declared twice"),
        ("z", "label 'z' is not declared\nhelp: add 'Var z;', or use one of x, y, k"),
        ("exq", "'exq' is not a function\nhelp: did you mean 'exp'?"),
        ("k", "label 'k' is neither an axis of 'f' nor reduced here\n"
         "help: put it on the left or reduce over it, as in 'rsum(…, k)'"),
        ("C", "'C' is not declared\nhelp: add 'In C;'"),
        ("rsun", "'rsun' is not a function\nhelp: did you mean 'rsum'?"),
        ("blok", "there is no directive 'blok'\nhelp: did you mean 'block'?"),
        ("q", "'q' is not a function"),
        ("num_warps", "g.num_warps: 3 is not a power of two\nhelp: write 2 or 4"),
    ]  # fmt: skip
    (twice,) = [d for d in document.diagnostics() if "twice" in d.message]
    (note,) = twice.related_information
    assert (note.message, document.slice(note.location.range)) == ("it was declared here", "x")
    assert note.location.range.start == types.Position(2, 4)


def test_statements_that_cannot_be_parsed(client: Client) -> None:
    document = client.open(
        "Func f, g;\nIn A;\nVar x;\nf[x] = A[x] +;\ng[x] = f[x] * (2;\ng.block(x:64;\ng.compile();\n"
    )
    assert shown(document) == [
        (";", "unexpected ';': expected an expression"),
        (";", "unexpected ';': expected ')'"),
        (";", "unexpected ';': expected ')' or ','"),
    ]
    assert [d.range.start.line for d in document.diagnostics()] == [3, 4, 5]


def test_what_follows_from_a_broken_statement_is_not_said(client: Client) -> None:
    document = client.open(PRODUCT.replace("mm[x, y] = ", "mm[x, y] == "))
    assert [d.range.start.line for d in document.diagnostics()] == [4]


def test_mistakes_in_a_broken_statement_are_not_said_twice(client: Client) -> None:
    document = client.open(PRODUCT.replace("A[x, k]", "A[x, k - 9 * 9").replace("x, y;", "x, y"))
    assert [d.range.start.line for d in document.diagnostics()] == [4]


def test_a_text_that_is_too_long(client: Client) -> None:
    document = client.open("# " + "a" * 2**20)
    (found,) = document.diagnostics()
    assert found.message == (
        "the text has 1048578 characters, and a program has 1048576 at most\n"
        "help: compile it in parts"
    )


@pytest.mark.parametrize(
    ("change", "title", "made"),
    [
        (("mm.block", "mmm.block"), "Replace 'mmm' by 'mm'", None),
        (("rdot", "rdott"), "Replace 'rdott' by 'rdot'", None),
        (("mm.block", "mm.blok"), "Replace 'blok' by 'block'", None),
        (("Var x, y;", "Var x;"), "Add 'Var y;'",
         ("Var x, y;\nRVar k;\n", "Var x;\nRVar k;\nVar y;\n")),
        (("mm.compile();\n", ""), "Add 'mm.compile();'", None),
        (("Func mm;", "Func mm, u;"), "Drop the declaration of 'u'", None),
        (("Func mm;", "Func u, mm;"), "Drop the declaration of 'u'", None),
        (("Func mm;\n", "Func mm;\nFunc u;\n"), "Drop the declaration of 'u'", None),
        (("In A, B", "In A : bf61, B"), "Replace 'bf61' by 'bf16'", ("In A", "In A : bf16")),
        (("k);", "k) * where(x > 0 && y > 0, 1, 2);"), "Replace '&&' by 'and'",
         ("k);", "k) * where(x > 0 and y > 0, 1, 2);")),
        (("k);", "k) * where(x>0||y>0, 1, 2);"), "Replace '||' by 'or'",
         ("k);", "k) * where(x>0 or y>0, 1, 2);")),
        (("k);", "k) * where(x => 1, 1, 2);"), "Replace '=>' by '>='",
         ("k);", "k) * where(x >= 1, 1, 2);")),
        (("block(x:128", "block(x=128"), "Replace '=' by ':'", None),
        (("mm.compile", "mm.num_warps(6);\nmm.compile"), "Replace '6' by '4'",
         ("mm.compile", "mm.num_warps(4);\nmm.compile")),
        (("mm.compile", "mm.math(fats);\nmm.compile"), "Replace 'fats' by 'fast'",
         ("mm.compile", "mm.math(fast);\nmm.compile")),
        (("mm.compile", "BM = {1, 2};\nmm.compile"), "Remove 'BM = {1, 2};'", None),
        (("k);", "k) + 1e999;"), "Replace '1e999' by 'inf'", ("k);", "k) + inf;")),
    ],
)  # fmt: skip
def test_a_remedy_mends_the_program(
    client: Client, change: tuple[str, str], title: str, made: tuple[str, str] | None
) -> None:
    document = client.open(PRODUCT.replace(*change, 1))
    actions: dict[str, str] = {}
    for diagnostic in document.diagnostics():
        actions |= document.actions(diagnostic)
    wanted = PRODUCT if made is None else PRODUCT.replace(*made, 1)
    assert actions[title] == wanted
    document.change(actions[title])
    errors = types.DiagnosticSeverity.Error
    assert not [d for d in document.diagnostics() if d.severity is errors]


def test_a_remedy_names_the_function_that_is_meant(client: Client) -> None:
    text = (
        "Func f, g;\nIn A;\nVar x;\nf[x] = A[x] + 1;\ng[x] = f[x] * 2;\nf.fuse_at(g, x);\n"
        "g.block(x:64);\nf.num_warps(4);\ng.compile();\n"
    )
    document = client.open(text)
    (found,) = document.diagnostics(bool)
    assert found.message == (
        "f.num_warps: 'f' is fused into the kernel of 'g'\nhelp: write 'g.num_warps(…)'"
    )
    assert document.slice(found.range) == "num_warps"
    made = document.actions(found)
    assert made == {"Write 'g.num_warps'": text.replace("f.num_warps", "g.num_warps")}


SUMS = """Func f;
In A;
Var x, y;
RVar k;
f[x] = rmax(A[x, k], k);
{}
f.compile();
"""


@pytest.mark.parametrize(
    ("schedule", "actions"),
    [
        ("f.rfactor(k:8, parts, atomic);",
         {"Leave out 'atomic'": "f.rfactor(k:8, parts);"}),
        ("f.pipeline(k:2);\nf.tensorize(x:16, k:0);",
         {"Remove 'f.pipeline(k:2);'": "f.tensorize(x:16, k:0);"}),
        ("f.split(z:2);",
         {"Replace 'z' by 'x'": "f.split(x:2);"}),
        ("f.block(x:4);\nf.block(x:8);",
         {"Remove 'f.block(x:8);'": "f.block(x:4);"}),
    ],
)  # fmt: skip
def test_a_remedy_changes_no_more_than_the_hint_says(
    client: Client, schedule: str, actions: dict[str, str]
) -> None:
    document = client.open(SUMS.format(schedule), "sums.dt")
    found: dict[str, str] = {}
    for diagnostic in document.diagnostics(bool):
        found |= document.actions(diagnostic)
    assert found == {title: SUMS.format(text) for title, text in actions.items()}


def test_reads_that_lack_indices(client: Client) -> None:
    text = "Func f, g;\nIn A;\nVar x, y;\nf[x, y] = A[x, y];\ng[x, y] = f[x] + f;\ng.compile();\n"
    document = client.open(text)
    first, second = document.diagnostics()
    assert document.actions(first) == {"Write 'f[x, y]'": text.replace("f[x] +", "f[x, y] +")}
    assert document.actions(second) == {"Write 'f[x, y]'": text.replace("+ f;", "+ f[x, y];")}


def test_refusals_of_the_schedule_and_warnings(client: Client) -> None:
    """What only compiling to the end finds out follows, and stays while other lines change."""
    document = client.open(PRODUCT + "mm.num_warps(4);\nmm.num_warps(8);\n")
    (found,) = document.diagnostics(bool)
    assert found.message == (
        "mm.num_warps: it is already 4, which contradicts 8\nhelp: leave one of them out"
    )
    assert document.slice(found.range) == "num_warps"
    assert found.range.start.line == 8
    (note,) = found.related_information
    assert (note.message, note.location.range.start.line) == ("the other one is here", 7)
    assert document.actions(found) == {"Remove 'mm.num_warps(8);'": PRODUCT + "mm.num_warps(4);\n"}
    document.change("# a comment\n" + document.text)
    (moved,) = document.diagnostics()
    assert moved.range.start.line == 9
    document.change(PRODUCT)
    assert shown(document) == []
    unused = client.open("Func f, g;\nIn A;\nVar x;\nf[x] = A[x];\ng[x] = A[x];\nf.compile();\n")
    (found,) = unused.diagnostics(bool)
    assert found.message == "function 'g' is never used"
    assert found.severity == types.DiagnosticSeverity.Warning


def test_a_space_of_schedules_is_no_mistake(client: Client) -> None:
    document = client.open(
        "Func f;\nIn A;\nVar x;\nf[x] = A[x];\nBM = {64, 128};\nf.block(x:BM);\n"
        "f.num_warps({2, 4});\nf.unroll(x:2) | none;\nf.compile();\n"
    )
    assert shown(document) == []
    document.change(document.text.replace("x:BM", "x:BN"))
    assert [message.splitlines()[0] for _, message in shown(document)] == [
        "no directive uses 'BM'", "f.block: 'x:BN' is not a label with a number, as in 'x:64'",
    ]  # fmt: skip


def test_columns_count_units_of_utf_16(client: Client) -> None:
    text = "Func f; In A; Var x;\nf[x] = # 𝄞𝄞 é\n  A[x] + B[x]; f.compile(); # 𝄞\n"
    document = client.open(text)
    (found,) = document.diagnostics()
    assert found.range == types.Range(types.Position(2, 9), types.Position(2, 10))
    document.change("Func f; In A; Var x; f[x] = A[x] 𝄞; f.compile();")
    (found,) = document.diagnostics()
    assert found.message == "unexpected character '𝄞'"
    assert found.range == types.Range(types.Position(0, 33), types.Position(0, 35))
    document.change("# 𝄞\nFunc f; In A; Var x; f[x] = A[x]; f.compile(); # 𝄞𝄞\ng.block(x:1);")
    assert shown(document)[0][0] == "g"


@pytest.mark.parametrize(("encoding", "width"), [("utf-32", 1), ("utf-8", 4)])
def test_columns_count_what_the_client_wants(encoding: str, width: int) -> None:
    client = Client(encodings=[encoding])
    assert client.initialized.capabilities.position_encoding == encoding
    document = client.open("Func f; In A; Var x; f[x] = A[x] 𝄞; f.compile();")
    (found,) = document.diagnostics()
    assert found.range == types.Range(types.Position(0, 33), types.Position(0, 33 + width))
    assert client.close() == 0


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_may_end_otherwise(client: Client, newline: str) -> None:
    text = PRODUCT.replace("rdot", "rdott").replace("\n", newline)
    document = client.open(text)
    (found,) = document.diagnostics()
    assert document.slice(found.range) == "rdott"
    assert found.range.start == types.Position(4, 11)
    assert document.actions(found)["Replace 'rdott' by 'rdot'"] == PRODUCT.replace("\n", newline)
    document.change(text.replace("rdott", "rdot").replace("Var x, y", "Var x"))
    if newline == "\r\n":
        first = document.diagnostics()[0]
        assert "RVar k;\r\nVar y;\r\n" in document.actions(first)["Add 'Var y;'"]


@pytest.mark.parametrize("text", ["", "\n", "   ", "# nothing", "\r\n\r\n"])
def test_empty_programs(client: Client, text: str) -> None:
    document = client.open(text)
    (found,) = document.diagnostics()
    assert found.message == "nothing is compiled\nhelp: end the program with '….compile();'"
    assert found.range.start == types.Position(0, 0)
    assert document.hover("") is None
    assert not document.ask("foldingRange")


def test_a_byte_order_mark_is_no_mistake(client: Client) -> None:
    assert shown(client.open("\ufeff" + PRODUCT)) == []


def test_a_closed_program_has_no_diagnostics(client: Client) -> None:
    document = client.open("Func f;", "closed.dt")
    assert document.diagnostics()
    document.close()
    client.wait(lambda: not client.published[document.uri][-1].diagnostics)
