"""A boundary condition that cannot be computed."""

from typing import Any

from dt_mlir.boundary_conditions import BoundaryCondition


def place(index: Any, size: Any) -> Any:
    """Returns nothing."""
    return index // None


FAILS = BoundaryCondition("fails", "nothing", place)
