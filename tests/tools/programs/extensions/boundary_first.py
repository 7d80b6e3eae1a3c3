"""A boundary condition whose place is a number."""

from typing import Any

from dt_mlir.boundary_conditions import BoundaryCondition


def place(index: Any, size: Any) -> int:
    """Returns the place of the first element."""
    return 0


FIRST = BoundaryCondition("first", "the first element", place)
