"""A boundary condition whose place is out of bounds itself."""

from dt_mlir.boundary_conditions import BoundaryCondition

NOWHERE = BoundaryCondition("nowhere", "an element, by and by", lambda index, size: 3 * index - size)
