"""The boundary conditions of reads, as Halide has them (`BoundaryConditions`).

A condition of this package is lowered in `builders.indices`, and interpreted on its own in
`interpreters.boundaries`. Another package gives the place of the element that is read, as
arithmetic that both evaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

CONSTANT = "constant_exterior"
"""The condition that gives one value everywhere out of bounds."""


class BoundaryCondition(NamedTuple):
    """A boundary condition."""

    name: str
    """The name that programs call."""
    summary: str
    """The element that a read gives out of bounds, as in "the nearest element"."""
    place: Callable[[Any, Any], Any] | None = None
    """The index of that element, if the condition is not this package's.

    It takes an index and the extent of its axis, which is not 0, and computes with `+`, `-`, `*`,
    with `//` and `%` by positive numbers, and with `smaller` and `larger`. A place that is out of
    bounds itself is moved to the nearest element.
    """


BOUNDARIES: dict[str, BoundaryCondition] = {
    condition.name: condition
    for condition in (
        BoundaryCondition(CONSTANT, "the given value"),
        BoundaryCondition("repeat_edge", "the nearest element"),
        BoundaryCondition("repeat_image", "the element of the tensor repeated without end"),
        BoundaryCondition(
            "mirror_image", "the element of the tensor mirrored at its edges, which occur twice"
        ),
        BoundaryCondition(
            "mirror_interior", "the element of the tensor mirrored at its edges, which occur once"
        ),
    )
}
"""The boundary conditions by name."""


def smaller(a: Any, b: Any) -> Any:
    """Returns the smaller of two indices, or of an index and a number."""
    return _extreme("smaller", a, b)


def larger(a: Any, b: Any) -> Any:
    """Returns the larger of two indices, or of an index and a number."""
    return _extreme("larger", a, b)


def _extreme(name: str, a: Any, b: Any) -> Any:
    for index, other in ((a, b), (b, a)):
        if hasattr(index, name):
            return getattr(index, name)(other)
    # Interpreters compute with arrays.
    import numpy as np

    return np.minimum(a, b) if name == "smaller" else np.maximum(a, b)
