"""Pictures of schedules show what the kernels do."""

from xml.etree import ElementTree

import pytest

from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError
from dt_mlir.drawing.placement import Placement, placements
from dt_mlir.drawing.svg import svg


def placed(schedule: str, algorithm: str = "f[x, y] = A[x, y]", **sizes: int) -> list[Placement]:
    names = "f, g" if "g[" in algorithm else "f"
    text = f"Func {names}; In A; Var x, y, z; RVar k; {algorithm}; {schedule} f.compile();"
    return placements(compile_program(text).module, sizes)


def blocks(found: Placement) -> dict[int, tuple[int, ...]]:
    """Returns the first indices that each program instance writes."""
    first: dict[int, tuple[int, ...]] = {}
    for step in found.steps:
        first.setdefault(step.instance, tuple(start for start, _ in step.ranges))
    return first


def test_blocks_are_in_the_order_of_their_program_ids() -> None:
    (found,) = placed("f.block(x:8, y:8); f.tensorize(x:8, y:8);", x=20, y=16)
    assert (found.kernel, found.labels, found.sizes) == ("f", ("x", "y"), (20, 16))
    # The first label varies fastest.
    assert blocks(found) == {0: (0, 0), 1: (8, 0), 2: (16, 0), 3: (0, 8), 4: (8, 8), 5: (16, 8)}
    (found,) = placed("f.block(x:8, y:8); f.tensorize(x:8, y:8); f.map(x, y);", x=20, y=16)
    assert [blocks(found)[i] for i in range(6)] == [(0, 0), (0, 8), (8, 0), (8, 8), (16, 0), (16, 8)]


def test_instances_of_a_persistent_kernel_walk_blocks() -> None:
    (found,) = placed("f.block(x:8, y:8); f.tensorize(x:8, y:8); f.persistent();", x=20, y=16)
    walked = [(step.instance, *(start for start, _ in step.ranges)) for step in found.steps]
    assert walked == [(0, 0, 0), (0, 16, 0), (0, 8, 8), (1, 8, 0), (1, 0, 8), (1, 16, 8)]


def test_groups_of_a_split() -> None:
    (found,) = placed("f.block(x:1, y:1); f.map(x:xi/2, y, xi);", x=3, y=2)
    assert [blocks(found)[i] for i in range(6)] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]


def test_tiles_are_steps() -> None:
    (found,) = placed("f.block(x:8); f.tensorize(x:8, y:4);", x=8, y=10)
    assert [step.ranges for step in found.steps] == [((0, 8), (0, 4)), ((0, 8), (4, 8)), ((0, 8), (8, 10))]


def test_every_kernel_and_reductions_are_seen() -> None:
    found = placed("g.block(x:4);", "g[x] = rsum(A[x, k], k); f[x, y] = g[x] + y", x=6, k=3, y=2)
    assert [(item.kernel, item.sizes) for item in found] == [("g", (6,)), ("f", (6, 2))]
    assert len({step.instance for step in found[0].steps}) == 2
    picture = svg(found)
    assert picture.count("program instance") == 2
    ElementTree.fromstring(picture)


def test_other_ranks() -> None:
    (found,) = placed("f.block(z:1); f.tensorize(x:4, y:4);", "f[z, x, y] = A[z, x, y]", z=3, x=4, y=4)
    assert "f[z = 3, x = 4, y = 4]: 3 program instances (z = 0)" in svg([found])
    (found,) = placed("", "f[] = rsum(A[k], k)", k=5)
    assert "f[]: 1 program instance" in svg([found])
    (found,) = placed("f.block(x:2);", "f[x] = A[x]", x=0)
    assert found.steps == []
    ElementTree.fromstring(svg([found]))


def test_more_than_a_picture_holds_is_refused() -> None:
    with pytest.raises(CompileError, match="'A' has 9000000 elements at these sizes"):
        placed("f.tensorize(x:0, y:0);", x=3000, y=3000)
