"""Each operation of each level knows where it comes from, and the text of locations can be read."""

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.diagnostics import file_line_col, has_location, places_of
from dt_mlir.dialects import tile
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import STAGES, default_pipeline, run_pipeline
from dt_mlir.printing import module_text
from dt_mlir.registry import DIALECTS
from dt_mlir.tools.parsing import parse_mlir
from dt_mlir.traversal import operations, operations_of

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "examples").glob("*.dt")), ROOT / "tests/programs/window_by_scalars.dt",
    *sorted((ROOT / "tests/language").glob("*/w*.dt")),
]  # fmt: skip


def _program(path: Path) -> ModuleOp:
    return compile_text(path.read_text(), path.name)[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_operation_has_a_place_after_every_pass(path: Path) -> None:
    module = _program(path)
    lost: dict[str, str] = {}

    def after(item: object, changed: ModuleOp) -> None:
        for op in operations(changed):
            if op is not changed and not has_location(op):
                lost.setdefault(op.name, getattr(item, "name", ""))

    run_pipeline(module, default_pipeline("warp"), after)
    assert not lost


@pytest.mark.parametrize("level", list(STAGES))
def test_text_with_locations_is_read_again(level: str) -> None:
    module = _program(ROOT / "examples/attention.dt")
    run_pipeline(module, default_pipeline(level))
    text = module_text(module, debuginfo=True)
    context = Context()
    for name, factory in {**get_all_dialects(), **DIALECTS}.items():
        context.register_dialect(name, factory)
    again = parse_mlir(context, text, "text.mlir")
    assert _places(again) == _places(module)
    assert module_text(again) == module_text(module)


def _places(module: ModuleOp) -> list[tuple[str, list[tuple[str, int, int]]]]:
    """Returns the places of the operations inside a module."""
    return [(op.name, places_of(op.location)) for op in operations(module)[1:]]


def test_what_a_directive_made_names_its_line() -> None:
    """The scores of attention, which `fuse_at` in line 11 moved, say so in the block program."""
    module = _program(ROOT / "examples/attention.dt")
    run_pipeline(module, default_pipeline("tile"))
    first, second = operations_of(module, tile.DotOp)
    lines = [[place[1] for place in places_of(op.location)] for op in (first, second)]
    assert lines == [[6, 11, 16], [10, 16]]
    # Its own line is the first one, at which diagnostics are.
    assert file_line_col(first.location) == ("attention.dt", 6, 16)
