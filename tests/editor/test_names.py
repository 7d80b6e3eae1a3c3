"""Definitions, references, renaming, hints, folding, outlines and colours."""

from __future__ import annotations

import pytest
from editor_client import Client, Document
from editor_texts import all_programs, said
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from dt_mlir.editor.semantic_tokens import MODIFIERS, TYPES
from dt_mlir.editor.tokens import scan
from dt_mlir.frontend.parser import parse_program

PROGRAM = """# Two functions.
# They are chained.
Func f, g : f16;
In A : bf16;
Var x, y;
RVar k;
f[x, y] = rsum(exp(A[x, y, k]), k);
g[x, y] = f[x, y] * len(k);

f.fuse_at(g, x);
f.rfactor(k:8, parts);
parts.block(k_part:1);
g.split(x:2);
g.reorder(x_outer, y, x);
g.block(x:64, y:32);
g.map(x:inner/4, y, inner);
g.compile();
"""


def lines(found: list[types.Location] | types.Location | None) -> list[tuple[int, int]]:
    items = [found] if isinstance(found, types.Location) else found or []
    return [(item.range.start.line, item.range.start.character) for item in items]


@pytest.mark.parametrize(
    ("mark", "defined", "declared"),
    [
        ("f.fuse_at", (6, 0), (2, 5)),
        ("f[x, y] *", (6, 0), (2, 5)),
        ("g, x);", (7, 0), (2, 8)),
        ("A[x", (3, 3), (3, 3)),
        ("k:8", (5, 5), (5, 5)),
        ("parts.block", (10, 15), (10, 15)),
        ("inner);", (15, 8), (15, 8)),
    ],
)
def test_definitions(
    client: Client, mark: str, defined: tuple[int, int], declared: tuple[int, int]
) -> None:
    document = client.open(PROGRAM)
    assert lines(document.ask("definition", mark)) == [defined]
    assert lines(document.ask("declaration", mark)) == [declared]


@pytest.mark.parametrize("mark", ["exp", "block", "f16", "x_outer", "k_part", "# Two", "8,"])
def test_what_no_program_defines(client: Client, mark: str) -> None:
    assert client.open(PROGRAM).ask("definition", mark) is None


@pytest.mark.parametrize(
    ("mark", "places"),
    [
        ("f, g", [(2, 5), (6, 0), (7, 10), (9, 0), (10, 0)]),
        ("k;", [(5, 5), (6, 27), (6, 32), (7, 24), (10, 10)]),
        ("parts);", [(10, 15), (11, 0)]),
        ("inner);", [(15, 8), (15, 20)]),
        ("block", [(11, 6), (14, 2)]),
        ("exp", [(6, 15)]),
        ("x_outer", [(13, 10)]),
    ],
)
def test_references(client: Client, mark: str, places: list[tuple[int, int]]) -> None:
    document = client.open(PROGRAM)
    context = types.ReferenceContext(include_declaration=True)
    assert lines(document.ask("references", mark, context=context)) == places
    without = document.ask("references", mark, context=types.ReferenceContext(False))
    assert lines(without) == [place for place in places if place not in ((2, 5), (5, 5))]
    marked = document.ask("documentHighlight", mark)
    assert [(h.range.start.line, h.range.start.character) for h in marked] == places


def test_highlights_tell_definitions(client: Client) -> None:
    kinds = [h.kind for h in client.open(PROGRAM).ask("documentHighlight", "f, g")]
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    assert kinds == [write, write, read, read, read]


def renamed(document: Document, mark: str, name: str) -> str:
    found = document.ask("rename", mark, new_name=name)
    return document.applied(found.changes[document.uri])


def test_renaming(client: Client) -> None:
    document = client.open(PROGRAM)
    assert document.ask("prepareRename", "f, g").placeholder == "f"
    assert renamed(document, "f.fuse_at", "softmax") == (
        PROGRAM.replace("Func f,", "Func softmax,").replace("f[x", "softmax[x")
        .replace("f.", "softmax.")
    )  # fmt: skip
    # What is derived from a name follows it.
    assert renamed(document, "x, y;", "row") == (
        PROGRAM.replace("x,", "row,").replace("x:", "row:").replace("x)", "row)")
        .replace("x_outer", "row_outer")
    )  # fmt: skip
    assert "parts.block(depth_part:1)" in renamed(document, "k;", "depth")
    assert "g.map(x:part/4, y, part);" in renamed(document, "inner);", "part")


@pytest.mark.parametrize(
    ("mark", "name", "message"),
    [
        ("f, g", "g", "'g' is a name of the program already, on line 3"),
        ("f, g", "and", "'and' is reserved"),
        ("f, g", "Func", "'Func' is reserved"),
        ("f, g", "2f", "'2f' is not a name: it is made of letters, digits and '_'"),
        ("f, g", "pi", "'pi' is a number of the language"),
        ("exp", "e", "'exp' is a name of the language"),
        ("block", "b", "'block' is a name of the language"),
        ("x_outer", "b", "the program does not declare 'x_outer': it follows from 'x'"),
    ],
)
def test_renaming_is_refused(client: Client, mark: str, name: str, message: str) -> None:
    document = client.open(PROGRAM)
    with pytest.raises(JsonRpcException) as caught:
        document.ask("rename", mark, new_name=name)
    assert caught.value.message.startswith(message)
    assert caught.value.code == -32803


def test_renaming_changes_no_meaning(client: Client) -> None:
    """Renames each declared name of programs there and back; in between it is the same program."""
    document = client.open("", "renamed.dt")
    count = 0
    for name, text in all_programs().items():
        if not name.startswith(("examples", "tests/programs")):
            continue
        tree = repr(said(parse_program(text, "p")))
        document.change(text)
        for symbol in document.ask("documentSymbol"):
            at = document.index(symbol.selection_range.start)
            params = types.RenameParams(
                text_document=document.id, position=document.place(at), new_name="renamed"
            )
            found = client.request("textDocument/rename", params)
            made = document.applied(found.changes[document.uri])
            names = [token.text for token in scan(made) if token.type == "NAME"]
            assert symbol.name not in names
            assert "renamed" in names
            other = client.open(made, "other.dt")
            params = types.RenameParams(
                text_document=other.id, position=other.place(at), new_name=symbol.name
            )
            back = client.request("textDocument/rename", params)
            assert other.applied(back.changes[other.uri]) == text
            assert repr(said(parse_program(made, "p"))).replace("renamed", symbol.name) == tree
            count += 1
    assert count > 200


def test_inlay_hints(client: Client) -> None:
    document = client.open(
        "Func f, g : f16;\nIn X : bf16, W;\nSIn alpha, beta : i32;\nVar p, q, z; RVar r = 3;\n"
        "f[p] = rdot(X[2*p + r], W[r], r) * alpha * beta;\ng[p, z] = f[p] * z;\n"
        "g.compile();\n"
    )
    document.diagnostics()
    whole = types.Range(types.Position(0, 0), types.Position(3, 30))
    found = document.ask("inlayHint", range=whole)
    shown = list(document.text)
    for hint in sorted(found, key=lambda h: document.index(h.position), reverse=True):
        shown.insert(document.index(hint.position), f"‹{hint.label}›")
    assert "".join(shown).splitlines()[:4] == [
        "Func f‹ : f32[p]›, g : f16‹[p, z]›;",
        "In X : bf16‹[X_0]›, W‹ : f32[r]›;",
        "SIn alpha‹ : f32›, beta : i32;",
        "Var p‹ = (size(X, 0) - len(r)) // 2 + 1›, q‹ = the caller's›, z‹ = the caller's›; "
        "RVar r = 3;",
    ]
    assert found[0].tooltip == "The element type and the labels of the axes, as inferred."
    first = types.Range(types.Position(0, 0), types.Position(0, 16))
    assert len(document.ask("inlayHint", range=first)) == 2
    assert client.refreshed > 0


def test_folding(client: Client) -> None:
    document = client.open(PROGRAM.replace("rsum(exp", "rsum(\n  exp"))
    found = [(f.start_line, f.end_line, f.kind) for f in document.ask("foldingRange")]
    assert found == [
        (0, 1, "comment"), (2, 5, "region"), (6, 8, "region"), (6, 7, "region"),
        (10, 11, "region"), (13, 17, "region"),
    ]  # fmt: skip


def test_outline(client: Client) -> None:
    document = client.open(PROGRAM)
    document.diagnostics()
    found = document.ask("documentSymbol")
    assert [(item.name, item.detail) for item in found] == [
        ("f", "f32[x, y]"), ("g", "f16[x, y]"), ("A", "bf16[x, y, k]"), ("x", None), ("y", None),
        ("k", None),
    ]  # fmt: skip
    assert [child.name for child in found[0].children] == ["f[…] = …"]
    assert document.slice(found[0].children[0].range) == "f[x, y] = rsum(exp(A[x, y, k]), k);"


def test_selection_ranges(client: Client) -> None:
    document = client.open(PROGRAM)
    places = [document.position("y, k]")]
    params = types.SelectionRangeParams(document.id, places)
    (found,) = client.request("textDocument/selectionRange", params)
    shown: list[str] = []
    while found is not None:
        shown.append(document.slice(found.range))
        found = found.parent
    assert shown == [
        "y", "x, y, k", "[x, y, k]", "A[x, y, k]", "(A[x, y, k])", "exp(A[x, y, k])",
        "exp(A[x, y, k]), k", "(exp(A[x, y, k]), k)", "rsum(exp(A[x, y, k]), k)",
        "f[x, y] = rsum(exp(A[x, y, k]), k);", PROGRAM,
    ]  # fmt: skip


def test_semantic_tokens(client: Client) -> None:
    document = client.open("Func f; In A; SIn s; Var x;\nf[x] = exp(A[x] # 𝄞é\n * s) + 1;\n"
                           "f.math(fast); f.map(x:i/2, i); f.compile();")  # fmt: skip
    data = document.ask("semanticTokens/full").data
    legend = client.initialized.capabilities.semantic_tokens_provider.legend
    assert (tuple(legend.token_types), tuple(legend.token_modifiers)) == (TYPES, MODIFIERS)
    line = column = 0
    shown: list[tuple[str, str]] = []
    for delta, start, length, type, modifiers in zip(*(data[i::5] for i in range(5)), strict=True):
        line, column = line + delta, start if delta else column + start
        place = types.Range(types.Position(line, column), types.Position(line, column + length))
        named = [name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1]
        shown.append((document.slice(place), ".".join([TYPES[type], *named])))
    own, method = "defaultLibrary", "method.defaultLibrary"
    assert shown == [
        ("Func", "keyword"), ("f", "function.declaration"), ("In", "keyword"),
        ("A", "variable.declaration"), ("SIn", "keyword"), ("s", "variable.declaration.readonly"),
        ("Var", "keyword"), ("x", "parameter.declaration"), ("f", "function.definition"),
        ("x", "parameter"), ("exp", f"function.{own}"), ("A", "variable"), ("x", "parameter"),
        ("# 𝄞é", "comment"), ("*", "operator"), ("s", "variable.readonly"), ("+", "operator"),
        ("1", "number"), ("f", "function"), ("math", method), ("fast", f"enumMember.{own}"),
        ("f", "function"), ("map", method), ("x", "parameter"), ("i", "parameter.declaration"),
        ("/", "operator"), ("2", "number"), ("i", "parameter"), ("f", "function"),
        ("compile", method),
    ]  # fmt: skip
