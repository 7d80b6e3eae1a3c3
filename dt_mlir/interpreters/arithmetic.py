"""The arithmetic of an interpreter: its representation of numbers, and their operations.

The interpreters of the three levels know loops, tiles and memory; what an element is, and what
`arith.addf` makes of two of them, an `Arithmetic` says. Values are arrays of elements that
broadcast as NumPy's do: either one NumPy array or a few of one shape (`Bounded`). What has the
type `index` is never an element: it is a number of Python's or a NumPy array of them.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters.bounded import Array, Bounded

Value = Any
"""An array of elements: a NumPy array or a `Bounded`."""


class Character(StrEnum):
    """A property that all elements of an input share, so that a wrong identity or mask shows."""

    ANY = "any"
    """Positive and negative ones in any order."""
    NEGATIVE = "negative"
    """Negative ones, of which none is an extreme's wrong identity 0."""
    POSITIVE = "positive"
    """Positive ones."""
    RISING = "rising"
    """Different ones that rise along every axis: the largest of each row is its last."""
    FALLING = "falling"
    """Different ones that fall along every axis: the largest of each row is its first."""
    SPECIAL = "special"
    """Few different ones, so that many are equal, some of them not a number; of integers negative
    ones, and the ends of the range of their type."""


def arranged(
    positive: Array, generator: np.random.Generator, character: Character
) -> Array:
    """Returns numbers of a character.

    Args:
        positive: positive numbers.
        generator: where random signs come from.
        character: what the numbers have in common.
    """
    signs = np.where(generator.random(np.shape(positive)) < 0.5, -1, 1)
    match character:
        case Character.POSITIVE:
            return positive
        case Character.NEGATIVE:
            return -positive
        case Character.RISING | Character.FALLING:
            # Sorting along one axis keeps the order along those that are sorted.
            found = positive * signs
            for axis in range(found.ndim):
                found = np.sort(found, axis=axis)
            return found if character is Character.RISING else np.flip(found)
        case _:
            return positive * signs


class Arithmetic(ABC):
    """A kind of elements and the operations on them."""

    keeps_order: ClassVar[bool] = True
    """True if a product with a positive number is larger where the other factor is."""

    @abstractmethod
    def constant(self, attr: FloatAttr[Any] | IntegerAttr[Any]) -> Value:
        """A constant, without axes."""

    @abstractmethod
    def from_array(self, array: Array, type: Attribute) -> Value:
        """Elements from numbers.

        Args:
            array: the numbers; floats as float64, truth values as `bool`.
            type: the element type in memory.
        """

    @abstractmethod
    def random(
        self,
        type: Attribute,
        shape: Sequence[int],
        generator: np.random.Generator,
        character: Character = Character.ANY,
    ) -> Value:
        """Random elements of an element type, as an input may hold them.

        Args:
            type: the element type.
            shape: the extents of the axes.
            generator: where they come from.
            character: what they have in common.
        """

    @abstractmethod
    def stored(self, value: Value, type: Attribute) -> Value:
        """Returns a value as memory of an element type holds it."""

    @abstractmethod
    def apply(self, op: Operation, operands: Sequence[Value]) -> Value:
        """A scalar operation of `arith`, `math` or `elem`, element by element."""

    @abstractmethod
    def reduce(
        self, kind: ReductionKind, value: Value, axes: tuple[int, ...], type: Attribute
    ) -> Value:
        """Reduces along axes; not for `dot`, `argmax` and `argmin`."""

    @abstractmethod
    def arg_reduce(
        self, kind: ReductionKind, value: Value, index: Value, type: Attribute
    ) -> tuple[Value, Value]:
        """Along the last axis the extreme elements and their indices; of equals the least index.

        Args:
            kind: `argmax` or `argmin`.
            value: the elements.
            index: their indices, in rising order along the axis.
            type: the type of the elements.
        """

    @abstractmethod
    def dot(
        self, lhs: Value, rhs: Value, axes: tuple[int, ...], sizes: Sequence[int], type: Attribute
    ) -> Value:
        """Sums of products along axes.

        Args:
            lhs: the left operand.
            rhs: the right operand, of as many axes; axes of one element broadcast.
            axes: the axes that are summed.
            sizes: their extents, which both operands may lack.
            type: the type of the result.
        """

    @abstractmethod
    def plus(self, a: Value, b: Value, type: Attribute) -> Value:
        """A sum that is rounded once."""

    def result(self, value: Value, type: Attribute) -> Value:
        """Returns an output for comparing and showing it.

        Args:
            value: the elements of the output in memory.
            type: the element type in memory.
        """
        return value

    @abstractmethod
    def truth(self, value: Value) -> Array:
        """Truth values as `bool`."""

    @abstractmethod
    def integers(self, value: Value) -> Array:
        """Integers as numbers."""

    @abstractmethod
    def differ(self, a: Value, b: Value) -> Array:
        """Returns where two results cannot be the same value."""

    @abstractmethod
    def undecided(self, a: Value, b: Value) -> Array:
        """Returns a mask of the elements that can be any value in one of two results."""

    @abstractmethod
    def show(self, value: Value, place: tuple[int, ...]) -> str:
        """One element in words."""


def mapped(function: Callable[..., Array], *values: Value) -> Value:
    """Rearrange values: apply what only moves elements."""
    if any(isinstance(value, Bounded) for value in values):
        return Bounded(
            function(*(value.value for value in values)),
            function(*(value.error for value in values)),
            function(*(value.signed for value in values)),
        )
    return function(*values)


def shape_of(value: Value) -> tuple[int, ...]:
    """The extents of a value's axes."""
    return np.shape(value.value if isinstance(value, Bounded) else value)


def rank_of(value: Value) -> int:
    """The number of a value's axes."""
    return len(shape_of(value))


def spread(value: Value, shape: Sequence[int]) -> Value:
    """A value with axes of these extents, the same along those that it lacks."""
    if shape_of(value) == tuple(shape):
        return value
    return mapped(lambda array: np.broadcast_to(array, tuple(shape)), value)


def with_rank(value: Value, rank: int) -> Value:
    """A value with axes of one element in front, so that it has as many as `rank`."""
    missing = rank - rank_of(value)
    if missing <= 0:
        return value
    return mapped(lambda array: np.reshape(array, (1,) * missing + np.shape(array)), value)


def chosen(condition: Array, a: Value, b: Value) -> Value:
    """Elements of `a` where a condition holds, of `b` elsewhere."""
    return mapped(lambda x, y: np.where(condition, x, y), a, b)


def joined(values: Sequence[Value], axis: int) -> Value:
    """Values one after the other along an axis; along others they broadcast."""
    if len(values) == 1:
        return values[0]
    shapes = [list(shape_of(value)) for value in values]
    common = list(np.broadcast_shapes(*(s[:axis] + [1] + s[axis + 1 :] for s in shapes)))
    full = [
        spread(value, [*common[:axis], shape[axis], *common[axis + 1 :]])
        for value, shape in zip(values, shapes)
    ]
    return mapped(lambda *arrays: np.concatenate(arrays, axis), *full)
