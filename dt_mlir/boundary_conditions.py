"""The boundary conditions of reads, as Halide has them (`BoundaryConditions`)."""

from __future__ import annotations

CONSTANT = "constant_exterior"
"""The condition that gives one value everywhere out of bounds."""

BOUNDARIES = {
    CONSTANT: "the given value",
    "repeat_edge": "the nearest element",
    "repeat_image": "the element of the tensor repeated without end",
    "mirror_image": "the element of the tensor mirrored at its edges, which occur twice",
    "mirror_interior": "the element of the tensor mirrored at its edges, which occur once",
}
"""The boundary conditions, with what a read gives out of bounds."""
