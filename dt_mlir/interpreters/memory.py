"""Tensors in memory, and what a program can do wrong with them."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute, Operation

from dt_mlir.diagnostics import CompileError
from dt_mlir.interpreters.arithmetic import Value, mapped, shape_of, spread
from dt_mlir.interpreters.bounded import Array

NEVER = -1
"""The writer of an element that nothing has written."""
GIVEN = -2
"""The writer of an input's element."""
DONE = -3
"""The writer of what an earlier kernel wrote."""


class ExecutionError(CompileError):
    """An illegal access or operation that an interpreter found in a program."""


class UnknownOperationError(ExecutionError):
    """An operation that no interpreter knows."""


def _place(place: Sequence[int]) -> str:
    return f"[{', '.join(str(int(i)) for i in place)}]"


@dataclass
class Buffer:
    """A tensor, an intermediate or a local buffer."""

    name: str
    """The name in messages."""
    element: Attribute
    """The element type in memory."""
    values: Value
    """The elements; what nothing has written is there but means nothing."""
    writer: Array
    """The program instance that wrote each element, `NEVER` or `GIVEN`."""
    total: Callable[[list[Value]], Value] | None = None
    """The sum of values, if the indices of the first axis share an element."""

    @staticmethod
    def given(name: str, element: Attribute, values: Value) -> Buffer:
        """An input."""
        return Buffer(name, element, values, np.full(shape_of(values), GIVEN))

    @staticmethod
    def fresh(name: str, element: Attribute, zero: Value, shape: Sequence[int]) -> Buffer:
        """A buffer that nothing has written yet.

        Args:
            name: what messages call it.
            element: its element type.
            zero: an element of the right kind.
            shape: the extents of its axes.
        """
        values = mapped(np.array, spread(zero, shape))
        return Buffer(name, element, values, np.full(tuple(shape), NEVER))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its axes."""
        return self.writer.shape

    def read(
        self,
        op: Operation,
        indices: Sequence[Array],
        mask: Array | bool = True,
        instance: int | None = None,
    ) -> Value:
        """The elements at some places.

        Args:
            op: who reads.
            indices: for each axis the indices; they broadcast.
            mask: where something is read at all; elsewhere the result means nothing.
            instance: the number of the program instance; None where there is one alone.

        Raises:
            ExecutionError: if a place is outside, holds nothing, or what another instance of the
                same kernel wrote.
        """
        shape = np.broadcast_shapes(np.shape(mask), *(np.shape(index) for index in indices))
        where, mask = self._check(op, indices, mask, "reads")
        if 0 in self.shape:
            # All is masked, and what stands there means nothing.
            return mapped(lambda elements: np.zeros(shape, elements.dtype), self.values)
        if self.total is not None:
            return self._total(op, where, mask, instance)
        writers = self.writer[where]
        empty = mask & (writers == NEVER)
        if np.any(empty):
            place = self._first(empty, where)
            raise ExecutionError(
                f"'{self.name}'{_place(place)} is read, but nothing has written it", op
            )
        racing = mask & (writers >= 0) & (writers != instance)
        if instance is not None and np.any(racing):
            place = self._first(racing, where)
            other = int(writers[tuple(np.argwhere(racing)[0])])
            raise ExecutionError(
                f"'{self.name}'{_place(place)} is read by the program instance {instance}, and "
                f"written by the instance {other} of the same kernel",
                op,
            )
        return self._at(where)

    def _total(
        self, op: Operation, where: tuple[Array, ...], mask: Array, instance: int | None
    ) -> Value:
        """Returns the sums of what was written to all indices of the first axis."""
        assert self.total is not None
        if np.any(mask & (where[0] != 0)):
            raise ExecutionError(
                f"'{self.name}' holds sums of what is written along its first axis, which are read "
                "at index 0", op,
            )  # fmt: skip
        places = [(np.full_like(where[0], p), *where[1:]) for p in range(self.shape[0])]
        if instance is not None and any(np.any(mask & (self.writer[p] >= 0)) for p in places):
            raise ExecutionError(
                f"'{self.name}' is read by the kernel that adds to it", op,
            )
        return self.total([self._at(place) for place in places])

    def _at(self, where: tuple[Array, ...]) -> Value:
        return mapped(lambda array: np.asarray(array[where]), self.values)

    def finish(self) -> None:
        """Takes note that the kernel which wrote has ended."""
        self.writer[self.writer >= 0] = DONE

    def write(
        self, op: Operation, indices: Sequence[Array], value: Value, instance: int,
        mask: Array | bool = True,
    ) -> None:  # fmt: skip
        """Writes elements.

        Args:
            op: who writes.
            indices: for each axis the indices; they broadcast.
            value: the elements; they broadcast to the indices' axes.
            instance: the number of the program instance.
            mask: where something is written at all.

        Raises:
            ExecutionError: if a place is outside, or another instance has written it.
        """
        where, mask = self._check(op, indices, mask, "writes")
        if 0 in self.shape:
            # All is masked, whatever the extents of what is written.
            return
        writers = self.writer[where]
        shape = np.shape(writers)
        if self.total is not None and np.any(mask & (writers == instance)):
            raise ExecutionError(
                f"'{self.name}'{_place(self._first(mask & (writers == instance), where))} is added "
                "to twice by one program instance", op,
            )  # fmt: skip
        taken = mask & ((writers >= 0) | (writers == GIVEN)) & (writers != instance)
        if np.any(taken):
            place = self._first(taken, where)
            other = int(np.broadcast_to(writers, shape)[tuple(np.argwhere(taken)[0])])
            raise ExecutionError(
                f"'{self.name}'{_place(place)} is written by the program instances {other} and "
                f"{instance}" if other != GIVEN else
                f"'{self.name}'{_place(place)} is an input's element, but it is written", op,
            )  # fmt: skip
        if len(shape_of(value)) > len(shape) or shape_of(spread(value, shape)) != shape:
            raise ExecutionError(
                f"what is written to '{self.name}' has more axes than its indices", op
            )
        chosen = np.nonzero(np.broadcast_to(mask, shape)) if shape else ()
        if not shape and not np.all(mask):
            return
        places = tuple(np.broadcast_to(index, shape)[chosen] for index in where)
        full = spread(value, shape)

        def put(target: Array, source: Array) -> Array:
            target[places] = source[chosen]
            return target

        mapped(put, self.values, full)
        self.writer[places] = instance

    def unwritten(self) -> tuple[int, ...] | None:
        """The first element that nothing has written."""
        found = np.argwhere(self.writer == NEVER)
        return tuple(int(i) for i in found[0]) if len(found) else None

    def _check(
        self, op: Operation, indices: Sequence[Array], mask: Array | bool, verb: str
    ) -> tuple[tuple[Array, ...], Array]:
        shape = np.broadcast_shapes(np.shape(mask), *(np.shape(index) for index in indices))
        inside: list[Array] = []
        mask = np.broadcast_to(np.asarray(mask), shape)
        for axis, (index, size) in enumerate(zip(indices, self.shape)):
            outside = (np.asarray(index) < 0) | (np.asarray(index) >= size)
            if np.any(outside):
                bad = mask & outside
                if np.any(bad):
                    full = [np.broadcast_to(i, shape) for i in indices]
                    place = self._first(bad, tuple(full))
                    extents = " x ".join(map(str, self.shape))
                    raise ExecutionError(
                        f"'{op.name}' {verb} '{self.name}'{_place(place)}, outside of its "
                        f"{extents} elements (axis {axis})", op,
                    )  # fmt: skip
                index = np.where(outside, 0, index)
            inside.append(np.asarray(index))
        if inside:
            inside[0] = inside[0] + np.zeros(np.shape(mask), int)
        return tuple(inside), mask

    @staticmethod
    def _first(found: Array, where: Sequence[Array]) -> tuple[int, ...]:
        first = tuple(np.argwhere(found)[0])
        return tuple(int(np.broadcast_to(i, np.shape(found))[first]) for i in where)
