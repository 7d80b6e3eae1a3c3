"""Asks the driver of CUDA about GPUs, which takes far less time than importing PyTorch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from dt_mlir.tuning.gpu import Gpu

_ATTRIBUTES = {
    "shared_memory_per_block_optin": 97, "max_threads_per_block": 1,
    "regs_per_multiprocessor": 82, "memory_clock_rate": 36, "memory_bus_width": 37,
    "L2_cache_size": 38, "multi_processor_count": 16, "warp_size": 10,
}  # fmt: skip
"""The numbers of the driver's attributes, by PyTorch's names of the properties."""
_CAPABILITY = 75, 76
"""The numbers of the major and the minor part of the compute capability."""
_LONGEST = 256
"""The most characters of a name."""


@cache
def _driver() -> Any:
    """The driver, ready to be asked; None if there is none, or none that works."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return library if library.cuInit(0) == 0 else None


def count_of_gpus() -> int:
    """Returns the number of visible GPUs of NVIDIA; 0 without a driver."""
    driver = _driver()
    return 0 if driver is None else _asked(driver.cuDeviceGetCount)


def described(number: int = 0) -> Gpu | None:
    """Describes a GPU; None if the driver knows none of that number.

    Args:
        number: its number among the visible ones.
    """
    if number >= count_of_gpus():
        return None
    driver = _driver()
    gpu = _asked(driver.cuDeviceGet, number)
    name = ctypes.create_string_buffer(_LONGEST)
    _check(driver.cuDeviceGetName(name, _LONGEST, gpu))
    text = name.value.decode()

    def attribute(which: int) -> int:
        return _asked(driver.cuDeviceGetAttribute, which, gpu)

    major, minor = map(attribute, _CAPABILITY)
    properties = tuple((known, attribute(which)) for known, which in _ATTRIBUTES.items())
    return Gpu(
        text, "cuda", 10 * major + minor, attribute(_ATTRIBUTES["warp_size"]), (major, minor),
        (*properties, ("name", text)),
    )  # fmt: skip


def _asked(function: Callable[..., int], *arguments: int) -> int:
    """Returns the number that a function of the driver answers with."""
    found = ctypes.c_int()
    _check(function(ctypes.byref(found), *arguments))
    return found.value


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"the driver of CUDA fails with status {status}")
