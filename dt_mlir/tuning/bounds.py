"""A bound on how fast a candidate can be: the bytes that it must move over the bandwidth.

What the bound says is sound: inputs of which each element is read come from memory once (timing by
events clears the cache), and of what kernels write and read again only as much can stay in the L2
cache as fits there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr

from dt_mlir.dialects import dt, host
from dt_mlir.traversal import operations_of
from dt_mlir.tuning.gpu import Gpu


@dataclass(frozen=True)
class Traffic:
    """The bytes of a program's tensors."""

    inputs: int
    """The bytes of the inputs that are read in whole."""
    results: int
    """The bytes of outputs and intermediates."""

    @staticmethod
    def of(module: ModuleOp, sizes: Mapping[str, int], algorithm: ModuleOp) -> Traffic:
        """Counts the bytes of a module's host part.

        Args:
            module: a module of the `tile` level.
            sizes: a size for each label.
            algorithm: the program at the `dt` level.
        """
        whole = read_in_whole(algorithm)
        function = host.function_of(module)
        assert function is not None, "what is launched has a host function"
        inputs = sum(
            _bytes(item.value.type, item.axes, sizes)
            for item in function.arguments() if item.name in whole
        )  # fmt: skip
        results = sum(_bytes(op.result.type, op.axis_names, sizes) for op in function.allocations())
        return Traffic(inputs, results)


def read_in_whole(algorithm: ModuleOp) -> set[str]:
    """Returns the names of inputs and functions of which an algorithm surely reads each element.

    Args:
        algorithm: the program at the `dt` level.
    """
    functions = {op.sym_name.data: op for op in algorithm.ops if isinstance(op, dt.FuncOp)}
    found = {
        op.function.root_reference.data for op in algorithm.ops if isinstance(op, dt.OutputOp)
    }  # fmt: skip
    pending = [*found]
    while pending:
        function = functions.get(pending.pop())
        for read in [] if function is None else operations_of(function, dt.ReadOp):
            name = read.source.root_reference.data
            if name not in found and _is_whole(read):
                found.add(name)
                pending.append(name)
    return found


def _is_whole(read: dt.ReadOp) -> bool:
    """Returns whether each index is a label of its own, of which every value is taken."""
    labels = len(read.labels)
    places = [
        index.position for index in read.map.data.results
        if isinstance(index, AffineDimExpr) and index.position < labels
    ]  # fmt: skip
    around: Operation | None = read.parent_op()
    while isinstance(around, dt.ReduceOp) and around.domain is None:
        around = around.parent_op()
    alone = len({*places}) == len(read.map.data.results)
    return alone and read.boundary is None and not isinstance(around, dt.ReduceOp)


def _bytes(type: Attribute, axes: tuple[str, ...], sizes: Mapping[str, int]) -> int:
    if not isinstance(type, MemRefType):
        return 0
    count = 1
    for label in axes:
        count *= sizes.get(label, 1)
    element = type.element_type
    assert isinstance(element, FixedBitwidthType)
    return count * element.size


def least_milliseconds(traffic: Traffic, gpu: Gpu) -> float:
    """A time that no program with this traffic falls short of on a GPU; 0 if unknown."""
    properties = dict(gpu.properties)
    clock, width = properties.get("memory_clock_rate", 0), properties.get("memory_bus_width", 0)
    if not clock or not width:
        return 0.0
    # The clock is in kHz, and memory moves data twice in a cycle.
    bytes_per_millisecond = 2 * clock * width / 8
    cache = properties.get("L2_cache_size", 0)
    return (traffic.inputs + max(0, traffic.results - cache)) / bytes_per_millisecond
