"""Devices that costs are predicted for, each a file of figures in `devices/`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dt_mlir.diagnostics import CompileError

FOLDER = Path(__file__).parent / "devices"
DEFAULT = "h200"
"""The device that is assumed where none is named."""


@dataclass(frozen=True)
class Device:
    """The figures of a GPU that the model of costs knows."""

    name: str
    """The words by which the driver calls it, among others."""
    multiprocessors: int
    """The number of multiprocessors (compute units of AMD's)."""
    warp: int
    """The number of threads of a warp."""
    threads: int
    """The most threads of a multiprocessor."""
    programs: int
    """The most program instances of a multiprocessor."""
    registers: int
    """The registers of a multiprocessor, of 32 bits each."""
    shared_memory: int
    """The bytes of shared memory that the program instances of a multiprocessor have."""
    cache: int
    """The bytes of the cache that all multiprocessors share."""
    memory_rate: float
    """The bytes that a copy moves to and from memory in a second."""
    cache_rate: float
    """The bytes that multiprocessors read from the shared cache in a second."""
    latency: float
    """The seconds from a load to its value, out of memory."""
    launch: float
    """The seconds that a launch takes in a replayed graph."""
    start: float
    """The seconds that a multiprocessor takes to start a program instance and to end it."""
    arithmetic_rate: float
    """The operations on f32 in a second, a fused multiplication and addition being one."""
    special_rate: float
    """The exponentials, roots and reciprocals in a second."""
    product_rates: dict[str, float]
    """Multiplications and additions, two for each pair, of products of matrices in a second, by
    the type of factors: `f8`, `f16`, `i8`, `tf32`, `f32`."""
    asynchronous: bool
    """True if products read shared memory while threads go on, as on Hopper."""
    specializes: bool = False
    """True if `warp_specialize` has an effect."""
    overlap: float = 0.0
    """The seconds of a launch that pass while the kernel before it ends, with `dependent_launch`;
    0 where it has no effect."""


@cache
def devices() -> dict[str, Device]:
    """Returns the devices that there are figures of, by the names of their files."""
    found: dict[str, Device] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        with path.open("rb") as stream:
            found[path.stem] = Device(**tomllib.load(stream))
    return found


def find_device(name: str | None) -> Device:
    """Returns the device of a name.

    Args:
        name: the name of a file, or one as the driver gives it, in any case; None for the default.

    Raises:
        CompileError: if there are no figures of it.
    """
    known = devices()
    if name is None:
        return known[DEFAULT]
    # The driver says more than the model: 'NVIDIA A100-SXM4-80GB'.
    words = set(re.split(r"[\s-]+", name.lower()))
    for key, device in known.items():
        if key == name.lower() or words.issuperset(device.name.lower().split()):
            return device
    raise CompileError(
        f"there are no figures of the device '{name}'", None,
        f"there are those of {', '.join(known)}",
    )  # fmt: skip


def present_device() -> Device:
    """Returns the device of the present GPU; the default where there is none, or no figures of it.
    """
    import torch

    if not torch.cuda.is_available():
        return find_device(None)
    try:
        return find_device(torch.cuda.get_device_name(torch.cuda.current_device()))
    except CompileError:
        return find_device(None)
