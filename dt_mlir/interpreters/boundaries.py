"""Reads under boundary conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Operation

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.interpreters.arithmetic import Arithmetic, Value, chosen, shape_of, spread
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.memory import Buffer


def place_in_bounds(kind: str, index: Array, size: int) -> Array:
    """Returns the index of the element that a boundary condition reads in place of another.

    Args:
        kind: a condition that repeats or mirrors elements.
        index: the indices.
        size: the extent of the axis.
    """
    last = max(size - 1, 0)
    match kind:
        case "repeat_edge":
            return np.clip(index, 0, last)
        case "repeat_image":
            return np.remainder(index, max(size, 1))
        case "mirror_image":
            place = np.remainder(index, 2 * max(size, 1))
            return np.minimum(place, 2 * last + 1 - place)
        case "mirror_interior":
            place = np.remainder(index, max(2 * last, 1))
            return np.minimum(place, 2 * last - place)
        case _:
            place = BOUNDARIES[kind].place
            assert place is not None
            return np.clip(place(index, max(size, 1)) + np.zeros_like(index), 0, last)


def number_in(
    arithmetic: Arithmetic, buffer: Buffer, number: FloatAttr | IntegerAttr
) -> Value:
    """Returns a number that stands in place of elements, as a buffer holds these.

    Elements without a sign are held as such, and IR has no unsigned constants.
    """
    if isinstance(number, IntegerAttr):
        return arithmetic.from_array(np.asarray(number.value.data), buffer.element)
    return arithmetic.constant(number)


def read_under(
    arithmetic: Arithmetic,
    op: Operation,
    buffer: Buffer,
    places: Sequence[Any],
    boundary: StringAttr | None,
    exterior: FloatAttr | IntegerAttr | None,
    instance: int | None = None,
    shape: Sequence[int] | None = None,
) -> Value:
    """Reads elements of a buffer under a boundary condition.

    Args:
        arithmetic: what elements are.
        op: who reads.
        buffer: the buffer.
        places: for each axis the indices; they broadcast.
        boundary: the condition, if there is one.
        exterior: the element out of bounds under `constant_exterior`.
        instance: the number of the program instance; None where there is one alone.
        shape: the extents whose ends are the boundary; those of the buffer, unless it is padded.

    Raises:
        ExecutionError: if a place is out of bounds, or nothing has written it.
    """
    extents = buffer.shape if shape is None else shape
    indices = [np.asarray(place) for place in places]
    if boundary is None:
        return buffer.read(op, indices, instance=instance)
    if boundary.data != CONSTANT:
        moved = [
            place_in_bounds(boundary.data, index, size)
            for index, size in zip(indices, extents)
        ]
        return buffer.read(op, moved, instance=instance)
    assert exterior is not None
    inside: Array = np.ones((), bool)
    for index, size in zip(indices, extents):
        inside = inside & (index >= 0) & (index < size)
    outside = number_in(arithmetic, buffer, exterior)
    places_shape = np.broadcast_shapes(inside.shape, *(index.shape for index in indices))
    if 0 in buffer.shape:
        # A tensor without elements has none to stand out of bounds.
        return spread(outside, places_shape)
    found = buffer.read(op, indices, inside, instance)
    if shape_of(found) != places_shape:
        found = outside
    return chosen(inside, spread(found, places_shape), spread(outside, places_shape))
