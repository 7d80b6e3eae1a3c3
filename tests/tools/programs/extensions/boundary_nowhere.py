"""A boundary condition whose place is out of bounds itself."""

from typing import Any

from dt_mlir.boundary_conditions import BoundaryCondition


def place(index: Any, size: Any) -> Any:
    """Returns a place that is out of bounds for many indices."""
    return 3 * index - size


NOWHERE = BoundaryCondition("nowhere", "an element, by and by", place)
