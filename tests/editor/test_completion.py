"""Completions and signatures where someone types."""

from __future__ import annotations

import pytest
from editor_client import Client
from lsprotocol import types

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.element_types import ELEMENT_TYPES
from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.symbols import REDUCTIONS
from dt_mlir.registry import directive_names

HEAD = """Func f, g;
In A : f16, B;
SIn alpha;
Var x, y;
RVar k;
BM = {32, 64};
f[x, y] = rdot(A[x, k], B[k, y], k);
"""
TAIL = "\ng.block(x:64);\ng.compile();\n"


def labels(client: Client, typed: str) -> list[str]:
    """Returns what is proposed behind a text, in the middle of a program."""
    document = client.open(HEAD + typed + TAIL)
    found = document.client.request(
        "textDocument/completion",
        types.CompletionParams(document.id, document.place(len(HEAD + typed))),
    )
    return [item.label for item in found]


def test_directives(client: Client) -> None:
    wanted = [*directive_names(), "compile", "compile_to_kernel"]
    assert labels(client, "f.") == wanted
    assert labels(client, "f.blo") == wanted
    assert labels(client, "C = f.map(x) | f.") == wanted


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("f.block(", ["x", "y", "k", "BM"]),
        ("f.block(x:32, ", ["y", "k", "BM"]),
        ("f.block(x:", ["BM"]),
        ("f.fuse_at(", ["g", "x", "y", "k"]),
        ("f.math(", ["fast", "accurate"]),
        ("f.precision(", ["ieee", "tf32", "tf32x3", "narrow"]),
        ("f.warp_specialize(", ["consumers", "registers"]),
        ("f.persistent(", ["rounds", "BM"]),
        ("f.persistent(rounds:", ["BM", "forwards", "alternating"]),
        ("f.compile(", ["dynamic"]),
        ("f.nonsense(", []),
        ("In C : ", list(ELEMENT_TYPES)),
        ("In C, D : f", list(ELEMENT_TYPES)),
        ("Var z = ", ["size", "len", "f", "g", "A", "B", "x", "y", "k"]),
        ("Var z", []),
        ("g[", ["x", "y", "k"]),
        ("g[x, y] = len(", ["x", "y", "k"]),
        ("g[x, y] = size(", ["f", "g", "A", "B"]),
        ("g[x, y] = cast(A[x, y], ", list(ELEMENT_TYPES)),
        ("g[x, y] = f[x, y] ", ["and", "or"]),
        ("g[x, y] = f[", ["x", "y", "k", "f", "g", "A", "B", "alpha"]),
        ("g[x, y] = rsum(f[x, y], ", ["x", "y", "k", "f"]),
        ("g[x, y] = ", ["f", "g", "A", "B", "alpha", "x", "y", "k"]),
        ("", ["f", "g", "Func", "In", "SIn", "Var", "RVar"]),
        ("C = ", ["f", "g", "none"]),
        ("C = (", ["f", "g", "none"]),
        ("g[x, y] = 12", []),
        ("# f.", []),
    ],
)
def test_places(client: Client, typed: str, first: list[str]) -> None:
    found = labels(client, typed)
    assert found[: len(first)] == first
    if not first:
        assert not found


def test_expressions_have_all_functions(client: Client) -> None:
    found = labels(client, "g[x, y] = exp(f[x, y]) * ")
    assert {*FUNCTIONS, *REDUCTIONS, *BOUNDARIES, "where", "cast", "inf", "not"} <= set(found)
    assert len(found) == len(set(found))


def test_items(client: Client) -> None:
    document = client.open(HEAD + "f.bl" + TAIL)
    end = document.place(len(HEAD) + 4)
    found = client.request(
        "textDocument/completion", types.CompletionParams(document.id, end)
    )
    (item,) = [item for item in found if item.label == "block"]
    assert item.detail == "f.block(label:number, …)"
    assert item.text_edit.new_text == "block($0)"
    assert item.insert_text_format == types.InsertTextFormat.Snippet
    assert document.slice(item.text_edit.range) == "bl"
    resolved = client.request("completionItem/resolve", item)
    assert "Phase: partition." in resolved.documentation.value
    changed = client.open(HEAD + "g[x, y] = f[x, y] + e" + TAIL)
    place = changed.place(len(HEAD) + 21)
    found = client.request("textDocument/completion", types.CompletionParams(changed.id, place))
    (item,) = [item for item in found if item.label == "exp"]
    resolved = client.request("completionItem/resolve", item)
    assert "e to the power x" in resolved.documentation.value
    (tensor,) = [item for item in found if item.label == "A"]
    assert (tensor.detail, tensor.text_edit.new_text) == ("In A : f16[x, k]", "A[$0]")


def test_a_client_without_snippets() -> None:
    client = Client(snippets=False)
    document = client.open(HEAD + "f." + TAIL)
    place = document.place(len(HEAD) + 2)
    found = client.request("textDocument/completion", types.CompletionParams(document.id, place))
    assert all("$" not in item.text_edit.new_text for item in found)
    assert client.close() == 0


def test_signatures(client: Client) -> None:
    document = client.open(HEAD + "g[x, y] = clamp(f[x, y], max(1, 2), 3" + TAIL)
    found = document.ask("signatureHelp", "f[x, y], max", 0)
    assert (found.signatures[0].label, found.active_parameter) == ("clamp(x, low, high)", 0)
    found = document.ask("signatureHelp", ", 3", 2)
    assert (found.signatures[0].label, found.active_parameter) == ("clamp(x, low, high)", 2)
    assert [p.label for p in found.signatures[0].parameters] == ["x", "low", "high"]
    document.change(HEAD + "f.fuse_at(g, " + TAIL)
    found = document.ask("signatureHelp", "(g, ", 4)
    assert (found.signatures[0].label, found.active_parameter) == ("f.fuse_at(function, label)", 1)
    assert document.ask("signatureHelp", "f[x, y]", 3) is None
