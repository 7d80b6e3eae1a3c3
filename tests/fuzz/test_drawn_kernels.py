"""A fixed share of drawn kernels whose warps are specialized."""

import pytest
from warps import run

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("seed", "cases"), [(0, 12), (1, 60), (2, 60), (3, 60)])
def test_drawn_kernels(seed: int, cases: int) -> None:
    tally = run(seed, cases)
    right = sum(count for what, count in tally.items() if what.startswith("right"))
    # Most of what is drawn is specialized.
    assert right > 0.4 * cases
    # Of most kernels the order of groups of warps is proved.
    assert tally["right"] > 0.6 * right
