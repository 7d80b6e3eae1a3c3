"""Classes of equivalent names."""

from hypothesis import given
from hypothesis import strategies as st
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.analysis.equivalence import classes_of

NAMES = [f"n{i}" for i in range(12)]
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)))


@given(PAIRS)
def test_classes_are_the_connected_components(pairs: list[tuple[str, str]]) -> None:
    sets = DisjointSet(NAMES)
    expected = {name: {name} for name in NAMES}
    for a, b in pairs:
        sets.union(a, b)
        joined = expected[a] | expected[b]
        for name in joined:
            expected[name] = joined
    assert [set(found) for found in classes_of(sets, NAMES)] == [
        expected[name] for name in NAMES if name == min(expected[name], key=NAMES.index)
    ]
    for found in classes_of(sets, NAMES):
        assert found == sorted(found, key=NAMES.index)
