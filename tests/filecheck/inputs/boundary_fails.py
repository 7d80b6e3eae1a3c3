"""A boundary condition that cannot be computed."""

from dt_mlir.boundary_conditions import BoundaryCondition

FAILS = BoundaryCondition("fails", "nothing", lambda index, size: index // None)
