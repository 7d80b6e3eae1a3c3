"""Memory to which kernels add, as the interpreters hold it."""

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import f32

from dt_mlir.interpreters.memory import Buffer, ExecutionError

OP = arith.ConstantOp.from_int_and_width(0, 32)


def sums() -> Buffer:
    found = Buffer.fresh("parts", f32, np.zeros(()), [2, 3])
    found.total = lambda values: np.sum(np.stack(values), 0)
    return found


def test_all_parts_are_read_at_once() -> None:
    buffer = sums()
    columns = np.arange(3)
    buffer.write(OP, [np.array(0), columns], np.array([1.0, 2.0, 3.0]), instance=0)
    buffer.write(OP, [np.array(1), columns], np.array([10.0, 20.0, 30.0]), instance=1)
    buffer.finish()
    assert list(buffer.read(OP, [np.array(0), columns])) == [11, 22, 33]


def test_sums_are_read_at_index_0() -> None:
    with pytest.raises(ExecutionError, match="'parts' holds sums .* are read at index 0"):
        sums().read(OP, [np.array(1), np.arange(3)])


def test_a_kernel_does_not_read_what_it_adds_to() -> None:
    buffer = sums()
    buffer.write(OP, [np.array(1), np.array(2)], np.array(1.0), instance=0)
    with pytest.raises(ExecutionError, match="'parts' is read by the kernel that adds to it"):
        buffer.read(OP, [np.array(0), np.array(2)], instance=1)


def test_an_instance_adds_a_part_once() -> None:
    buffer = sums()
    buffer.write(OP, [np.array(1), np.array(2)], np.array(1.0), instance=0)
    with pytest.raises(ExecutionError, match=r"'parts'\[1, 2\] is added to twice"):
        buffer.write(OP, [np.array(1), np.array(2)], np.array(1.0), instance=0)
