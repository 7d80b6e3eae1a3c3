"""A boundary condition whose place is a number."""

from dt_mlir.boundary_conditions import BoundaryCondition

FIRST = BoundaryCondition("first", "the first element", lambda index, size: 0)
