"""A bound on how fast a candidate can be: the bytes that it must move over the bandwidth.

What the bound says is sound: inputs are read from memory once (timing by events clears the cache),
and of what kernels write and read again only as much can stay in the L2 cache as fits there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp
from xdsl.ir import Attribute

from dt_mlir.dialects import host


@dataclass(frozen=True)
class Traffic:
    """The bytes of a program's tensors."""

    inputs: int
    """The bytes of the inputs."""
    results: int
    """The bytes of outputs and intermediates."""

    @staticmethod
    def of(module: ModuleOp, sizes: Mapping[str, int]) -> Traffic:
        """Counts the bytes of a module's host part.

        Args:
            module: a module of the `tile` level.
            sizes: a size for each label.
        """
        function = host.function_of(module)
        assert function is not None, "what is launched has a host function"
        inputs = sum(_bytes(item.value.type, item.axes, sizes) for item in function.arguments())
        results = sum(_bytes(op.result.type, op.axis_names, sizes) for op in function.allocations())
        return Traffic(inputs, results)


def _bytes(type: Attribute, axes: tuple[str, ...], sizes: Mapping[str, int]) -> int:
    if not isinstance(type, MemRefType):
        return 0
    count = 1
    for label in axes:
        count *= sizes.get(label, 1)
    element = type.element_type
    assert isinstance(element, FixedBitwidthType)
    return count * element.size


def least_milliseconds(traffic: Traffic) -> float:
    """A time that no program with this traffic falls short of on the current GPU; 0 if unknown."""
    import torch

    properties: Any = torch.cuda.get_device_properties(torch.cuda.current_device())
    clock = getattr(properties, "memory_clock_rate", 0)
    width = getattr(properties, "memory_bus_width", 0)
    if not clock or not width:
        return 0.0
    # The clock is in kHz, and memory moves data twice in a cycle.
    bytes_per_millisecond = 2 * clock * width / 8
    cache = getattr(properties, "L2_cache_size", 0)
    return (traffic.inputs + max(0, traffic.results - cache)) / bytes_per_millisecond
