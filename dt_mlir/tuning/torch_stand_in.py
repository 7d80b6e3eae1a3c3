"""The part of PyTorch that emitted modules ask for, where kernels are compiled and none runs.

Importing PyTorch takes seconds, in each process that compiles. A wrapper that launches nothing
looks at the shapes, strides and types of tensors and of views alone, and at the properties of a
GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from math import prod
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from dt_mlir.element_types import TORCH_TYPES

if TYPE_CHECKING:
    from dt_mlir.tuning.gpu import Gpu


@dataclass(frozen=True)
class ElementType:
    """An element type, which Triton takes for PyTorch's."""

    name: str
    itemsize: int

    def __repr__(self) -> str:
        return f"torch.{self.name}"


# Triton tells element types from other arguments by these names.
ElementType.__name__, ElementType.__module__ = "dtype", "torch"


@dataclass(frozen=True)
class Place:
    """A device."""

    type: str
    index: int | None = None


class Tensor:
    """A tensor without elements.

    Args:
        shape: its shape.
        dtype: the element type.
        device: where it would be.
        strides: its strides in elements; those of a contiguous tensor by default.
    """

    def __init__(
        self, shape: Sequence[int], dtype: ElementType, device: Place,
        strides: Sequence[int] | None = None,
    ) -> None:
        self.shape, self.dtype, self.device = tuple(shape), dtype, device
        places = range(1, len(self.shape) + 1)
        contiguous = (prod(max(size, 1) for size in self.shape[place:]) for place in places)
        self._strides = tuple(contiguous if strides is None else strides)

    def dim(self) -> int:
        """Returns the number of axes."""
        return len(self.shape)

    def numel(self) -> int:
        """Returns the number of elements."""
        return prod(self.shape)

    def element_size(self) -> int:
        """Returns the bytes of an element."""
        return self.dtype.itemsize

    def stride(self, axis: int | None = None) -> Any:
        """Returns the stride of an axis, or all of them."""
        return self._strides if axis is None else self._strides[axis]

    def data_ptr(self) -> int:
        """Returns an address that is aligned as those of PyTorch's allocator are."""
        return 0

    def is_neg(self) -> bool:
        """Returns whether it is a negated view."""
        return False

    def expand(self, *shape: int) -> Tensor:
        """Returns a view whose axes of one element are repeated."""
        sizes = [old if new == -1 else new for old, new in zip(self.shape, shape, strict=True)]
        kept = zip(self.shape, sizes, self._strides)
        return Tensor(sizes, self.dtype, self.device, [s if a == b else 0 for a, b, s in kept])

    def permute(self, *axes: int) -> Tensor:
        """Returns a view whose axes are in another order."""
        strides = [self._strides[axis] for axis in axes]
        return Tensor([self.shape[axis] for axis in axes], self.dtype, self.device, strides)


def _empty(shape: Sequence[int], *, dtype: ElementType, device: Place) -> Tensor:
    return Tensor(shape, dtype, device)


_BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2,
          "int16": 2}  # fmt: skip
"""The bytes of element types that take more than one."""


@cache
def module_for(gpu: Gpu) -> ModuleType:
    """Returns a module that emitted modules can import as `torch`.

    Args:
        gpu: the GPU that is present, as it seems.
    """
    found: Any = ModuleType("torch")
    for name in TORCH_TYPES.values():
        setattr(found, name, ElementType(name, _BYTES.get(name, 1)))
    found.Tensor, found.device, found.empty = Tensor, Place, _empty
    found.version = SimpleNamespace(hip="" if gpu.backend == "hip" else None)
    properties = SimpleNamespace(**dict(gpu.properties))

    def properties_of(_: object = None) -> Any:
        return properties

    def capability_of(_: object = None) -> tuple[int, int]:
        return gpu.capability

    found.cuda = SimpleNamespace(
        is_available=lambda: True, current_device=lambda: 0, device=nullcontext,
        get_device_properties=properties_of, get_device_capability=capability_of,
    )  # fmt: skip
    return found


@contextmanager
def in_place_of_torch(gpu: Gpu) -> Generator[Any]:
    """Lets `import torch` find no more than emitted modules need, and yields that.

    Args:
        gpu: the GPU that is present, as it seems.
    """
    found, imported = module_for(gpu), sys.modules.get("torch")
    sys.modules["torch"] = found
    try:
        yield found
    finally:
        if imported is None:
            del sys.modules["torch"]
        else:
            sys.modules["torch"] = imported
