"""The boundary condition `mirror_end(A[…])`."""

from typing import Any

from dt_mlir.boundary_conditions import BoundaryCondition, larger, smaller


def _place(index: Any, size: Any) -> Any:
    return larger(smaller(index, 2 * size - 1 - index), 0)


MIRROR_END = BoundaryCondition(
    "mirror_end", "the element mirrored at the end of the tensor, or its first one", _place
)
