"""No text and no place makes the server fail."""

from __future__ import annotations

import random

from editor_client import Client, Document
from editor_texts import broken_texts
from lsprotocol import types

CHARACTERS = "Func In Var RVar f[x] = A.block(:,;){}|#\n\r\t\"'\\𝄞é\u2028\x0b\x00$%&~^<>=!*/+-0123456789.e_"


def ask_everything(document: Document, position: types.Position) -> None:
    """Asks for each feature at a place; an answer that is an error fails."""
    whole = types.Range(types.Position(0, 0), types.Position(9999, 0))
    here = types.Range(position, position)
    request, id = document.client.request, document.id
    request("textDocument/hover", types.HoverParams(id, position))
    request("textDocument/completion", types.CompletionParams(id, position))
    request("textDocument/signatureHelp", types.SignatureHelpParams(id, position))
    request("textDocument/definition", types.DefinitionParams(id, position))
    request("textDocument/declaration", types.DeclarationParams(id, position))
    request("textDocument/references",
            types.ReferenceParams(types.ReferenceContext(True), id, position))  # fmt: skip
    request("textDocument/documentHighlight", types.DocumentHighlightParams(id, position))
    request("textDocument/selectionRange", types.SelectionRangeParams(id, [position]))
    request("textDocument/inlayHint", types.InlayHintParams(id, whole))
    request("textDocument/foldingRange", types.FoldingRangeParams(id))
    request("textDocument/documentSymbol", types.DocumentSymbolParams(id))
    request("textDocument/semanticTokens/full", types.SemanticTokensParams(id))
    request("textDocument/codeAction",
            types.CodeActionParams(id, here, types.CodeActionContext([])))  # fmt: skip
    request("textDocument/codeAction",
            types.CodeActionParams(id, whole, types.CodeActionContext([])))  # fmt: skip
    request("textDocument/formatting",
            types.DocumentFormattingParams(id, types.FormattingOptions(4, True)))  # fmt: skip


def a_place(text: str, rng: random.Random) -> types.Position:
    return types.Position(rng.randrange(text.count("\n") + 2), rng.randrange(40))


def test_drawn_characters(client: Client) -> None:
    rng = random.Random(11)
    document = client.open("", "drawn.dt")
    for _ in range(60):
        text = "".join(rng.choices(CHARACTERS, k=rng.randrange(200)))
        document.change(text)
        ask_everything(document, a_place(text, rng))
    assert document.diagnostics() is not None
    assert not client.messages


def test_broken_programs(client: Client) -> None:
    rng = random.Random(12)
    texts = [text for _, text in broken_texts(seed=13, each=1)]
    document = client.open("", "broken.dt")
    for text in rng.sample(texts, 60):
        document.change(text)
        ask_everything(document, a_place(text, rng))
    assert not client.messages


def test_a_program_that_is_typed(client: Client) -> None:
    """Types a program character by character, with questions where the cursor is."""
    text = (
        "Func f, g;\nIn A : f16;\nVar x; RVar k;\nf[x] = rsum(exp(A[x, k]), k);\n"
        "g[x] = f[x] / 2;  # half\nf.fuse_at(g, x);\ng.block(x:64);\ng.compile();\n"
    )
    document = client.open("", "typed.dt")
    for end in range(0, len(text) + 1, 2):
        document.change(text[:end])
        ask_everything(document, document.place(end))
    document.change(text)
    assert document.diagnostics() == ()
    assert not client.messages


def test_deep_nesting(client: Client) -> None:
    document = client.open("Func f; In A; Var x; f[x] = " + "(" * 3000 + "A[x]" + ")" * 3000 + ";")
    ask_everything(document, types.Position(0, 40))
    document.change("Func f; In A; Var x; f[x] = " + "A[x] + " * 1500 + "A[x];f.compile();")
    ask_everything(document, types.Position(0, 40))
    document.change("f[" * 5000)
    ask_everything(document, types.Position(0, 40))
    assert not client.messages


def test_modules(client: Client) -> None:
    rng = random.Random(14)
    document = client.open("", "drawn.mlir", "mlir")
    for _ in range(20):
        text = "".join(rng.choices(CHARACTERS + "tile.load loop.for", k=rng.randrange(200)))
        document.change(text)
        ask_everything(document, a_place(text, rng))
    assert not client.messages
