"""Hovers in modules of the package's dialects."""

from __future__ import annotations

import pytest
from editor_client import Client
from lsprotocol import types

from dt_mlir.editor.operation_reference import operation_lines
from dt_mlir.registry import DIALECTS

MODULE = """// tile.store in a comment
builtin.module {
  dt.label @x
  dt.input @A : tensor<?xf32>
  dt.func @f[x] {
    %0 = dt.read @A[x] : f32
    %1 = arith.addf %0, %0 : f32
    dt.yield %1 : f32
  }
  sched.schedule {
    sched.block @f(x: 64)
  }
  "dt.output"() <{"function" = @f}> {note = "tile.load"} : () -> ()
  %tile = tile.fill %c : !tile.of<x: 16, f32>
"""


def test_operations(client: Client) -> None:
    document = client.open(MODULE, "m.mlir", "mlir")
    found = document.ask("hover", "dt.read", 4)
    assert document.slice(found.range) == "dt.read"
    text = found.contents.value
    assert text.startswith("**`dt.read`**\n\n")
    (op,) = [op for op in DIALECTS["dt"]().operations if op.name == "dt.read"]
    assert text.endswith("\n".join(operation_lines(op)).strip())
    assert "| name | what | meaning |" in text
    # A directive of a schedule is documented as programs write it, too.
    directive = document.hover("sched.block", 8) or ""
    assert "f.block(label:number, …)" in directive
    assert "Phase: partition." in directive
    assert (document.hover('"dt.output"', 3) or "").startswith("**`dt.output`**")
    assert (document.hover("!tile.of", 3) or "").startswith("**`!tile.of`**")


@pytest.mark.parametrize(
    "mark", ["tile.store", "tile.load", "arith.addf", "builtin.module", "@A[", "%1 ="]
)
def test_what_is_not_the_packages(client: Client, mark: str) -> None:
    assert client.open(MODULE, "m.mlir", "mlir").hover(mark, 3) is None


def test_every_operation_has_a_hover(client: Client) -> None:
    names = [op.name for load in DIALECTS.values() for op in load().operations]
    document = client.open("\n".join(names), "all.mlir", "mlir")
    for number, name in enumerate(names):
        place = types.Position(number, len(name) - 1)
        found = client.request("textDocument/hover", types.HoverParams(document.id, place))
        assert found.contents.value.startswith(f"**`{name}`**")
    assert len(names) > 80


def test_lines_and_columns(client: Client) -> None:
    text = 'x = "𝄞"\r\n  "𝄞" dt.read'
    document = client.open(text, "c.mlir", "mlir")
    found = document.ask("hover", "dt.read", 2)
    assert found.range == types.Range(types.Position(1, 7), types.Position(1, 14))


def test_a_module_is_no_program(client: Client) -> None:
    document = client.open(MODULE, "n.mlir", "mlir")
    assert not document.ask("foldingRange")
    assert document.uri not in client.published
    document.change("tile.load")
    assert (document.hover("tile.load", 3) or "").startswith("**`tile.load`**")
    document.close()
