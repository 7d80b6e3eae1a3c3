"""Decision trees that choose among schedules by sizes."""

import math
import random
from collections.abc import Mapping

import pytest

from dt_mlir.tuning.dispatch import MOST_LEAVES, Leaf, Split, choose, grow, leaves, text_of


def test_one_schedule_needs_no_test() -> None:
    assert grow([{"x": 1}, {"x": 2}], [[1.0, 2.0], [1.0, 1.005]]) == Leaf(0)


def test_a_bound_lies_between_the_sizes() -> None:
    sizes = [{"x": x, "k": 8} for x in (16, 64, 256, 1024)]
    tree = grow(sizes, [[1.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 1.0]])
    assert tree == Split(("x",), 128, Leaf(0), Leaf(1))
    assert choose(tree, {"x": 128, "k": 8}) == 0
    assert choose(tree, {"x": 129, "k": 8}) == 1
    assert text_of(tree) == "if x <= 128:\n    return 0\nreturn 1\n"


def test_products_of_sizes_are_tested() -> None:
    sizes = [{"x": x, "y": y} for x in (1, 4, 16) for y in (1, 4, 16)]
    times = [[1.0, 2.0] if s["x"] * s["y"] <= 16 else [2.0, 1.0] for s in sizes]
    tree = grow(sizes, times)
    assert isinstance(tree, Split)
    assert tree.feature == ("x", "y")
    assert [choose(tree, s) for s in sizes] == [0 if t[0] == 1 else 1 for t in times]


def test_a_schedule_without_a_time_is_not_chosen() -> None:
    sizes = [{"x": 1}, {"x": 100}]
    tree = grow(sizes, [[1.0, 1.5], [None, 9.0]])
    assert choose(tree, {"x": 100}) == 1


def test_a_measured_time_may_be_0() -> None:
    """A clock may measure 0 where nothing is launched."""
    sizes = [{"x": 0}, {"x": 8}, {"x": 16}]
    assert grow(sizes, [[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]]) == Leaf(0)
    tree = grow(sizes, [[1.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    assert [choose(tree, given) for given in sizes] == [1, 0, 0]


def _cost(sizes: list[dict[str, int]], times: list[list[float]], pick: Mapping[int, int]) -> float:
    return sum(math.log(row[pick[i]] / min(row)) for i, row in enumerate(times))


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_drawn_times(seed: int) -> None:
    draw = random.Random(seed)
    sizes = [{"x": 2 ** draw.randrange(4, 13), "k": 2 ** draw.randrange(4, 13)} for _ in range(20)]
    times = [[draw.uniform(1, 3) for _ in range(12)] for _ in sizes]
    tree = grow(sizes, times)
    assert len(leaves(tree)) <= MOST_LEAVES
    chosen = _cost(sizes, times, {i: choose(tree, s) for i, s in enumerate(sizes)})
    alone = min(_cost(sizes, times, dict.fromkeys(range(20), n)) for n in range(12))
    assert chosen <= alone + 1e-9
    # The text says what the tree does.
    space: dict[str, object] = {}
    exec(f"def choose(x, k):\n{text_of(tree, '    ')}", space)
    function = space["choose"]
    assert callable(function)
    for point in sizes:
        assert function(**point) == choose(tree, point)
