"""Disjoint sets of names."""

from hypothesis import given
from hypothesis import strategies as st

from dt_mlir.analysis.equivalence import Equivalence

NAMES = [f"n{i}" for i in range(12)]
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)))


@given(PAIRS)
def test_classes_are_the_connected_components(pairs: list[tuple[str, str]]) -> None:
    relation = Equivalence(NAMES)
    expected = {name: {name} for name in NAMES}
    for a, b in pairs:
        relation.unite(a, b)
        joined = expected[a] | expected[b]
        for name in joined:
            expected[name] = joined
    assert [set(found) for found in relation.classes()] == [
        expected[name] for name in NAMES if name == min(expected[name], key=NAMES.index)
    ]
    for found in relation.classes():
        assert found == sorted(found, key=NAMES.index)
        assert {relation.find(name) for name in found} == {found[0]}
