"""The difference of two modules is one of operations, not of lines."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.dialects import tile
from dt_mlir.explorer.differences import Change, Difference, difference
from dt_mlir.explorer.emitted import Emitted
from dt_mlir.explorer.snapshots import Snapshot
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_lines, module_text
from dt_mlir.traversal import operations_of

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))


def _program(name: str = "attention", level: str = "tile") -> ModuleOp:
    path = ROOT / "examples" / f"{name}.dt"
    module, _ = compile_text(path.read_text(), path.name)
    run_pipeline(module, default_pipeline(level))
    return module


def _changed(change: Difference, after: Snapshot) -> list[tuple[str, str]]:
    return [
        (after.nodes[number].name, state.value)
        for number, state in enumerate(change.changes) if state is not Change.SAME
    ]  # fmt: skip


def test_names_of_values_do_not_count() -> None:
    module = _program()
    before = Snapshot.of(module)
    for op in module.walk():
        for result in op.results:
            result.name_hint = f"renamed_{op.name.split('.')[-1]}"
    after = Snapshot.of(module)
    assert [line.text for line in before.lines] != [line.text for line in after.lines]
    assert difference(before, after).is_empty


def test_one_changed_attribute_is_one_change() -> None:
    module = _program()
    before = Snapshot.of(module)
    kernel = operations_of(module, tile.KernelOp)[0]
    kernel.set_hint("num_warps", 8)
    after = Snapshot.of(module)
    change = difference(before, after)
    assert _changed(change, after) == [("tile.kernel", "changed")]
    assert list(change.reasons.values()) == ["num_warps"]
    assert not change.removed
    assert not change.counts


def test_an_operation_in_front_shifts_nothing() -> None:
    """What is inserted renumbers all values behind it, and is the one difference."""
    module = _program("matmul")
    before = Snapshot.of(module)
    load = operations_of(module, tile.LoadOp)[0]
    copy = load.clone()
    assert load.parent is not None
    load.parent.insert_op_before(copy, load)
    after = Snapshot.of(module)
    assert _changed(difference(before, after), after) == [("tile.load", "added")]
    back = difference(after, before)
    assert back.counts == {"tile.load": -1}
    assert len(back.removed) == 1


def test_what_moves_is_moved() -> None:
    module = _program("matmul")
    before = Snapshot.of(module)
    first, second = operations_of(module, tile.LoadOp)
    assert first.parent is not None
    second.detach()
    first.parent.insert_op_before(second, first)
    after = Snapshot.of(module)
    assert _changed(difference(before, after), after) == [("tile.load", "moved")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_lines_and_counts_add_up(path: Path) -> None:
    """After every pass the lines are those of the text, and the counts those of the operations."""
    module, _ = compile_text(path.read_text(), path.name)
    before = Snapshot.of(module)

    def after(_: object, changed: ModuleOp) -> None:
        nonlocal before
        now = Snapshot.of(changed)
        assert "\n".join(line.text for line in module_lines(changed)) == module_text(changed)
        change = difference(before, now)
        added = change.changes.count(Change.ADDED)
        assert len(before.nodes) + added - len(change.removed) == len(now.nodes)
        assert sum(change.counts.values()) == len(now.nodes) - len(before.nodes)
        assert len(set(change.before.values())) == len(change.before)
        before = now

    run_pipeline(module, default_pipeline("warp"), after)
    assert difference(before, before).is_empty


def test_every_line_of_a_kernel_has_its_operations() -> None:
    """The lines between the kernel's signature and its end are those of operations."""
    module = _program(level="warp")
    emitted = Emitted.of(module)
    lines = emitted.source.split("\n")
    body = range(min(emitted.operations), max(emitted.operations) + 1)
    assert "tl.program_id" in lines[body[0] - 1]
    assert lines[body[-1]] == ""
    assert set(body) == set(emitted.operations)
    dots = [n for n in body if "tl.dot(" in lines[n - 1]]
    assert dots
    assert all(any(isinstance(op, tile.DotOp) for op in emitted.operations[n]) for n in dots)
    inside = {op for ops in emitted.operations.values() for op in ops}
    for kind in (tile.LoadOp, tile.StoreOp, tile.ReduceOp, tile.MaskOp):
        assert set(operations_of(module, kind)) <= inside, kind
