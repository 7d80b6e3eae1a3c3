"""The GPU that candidates are compiled for, which may be in another machine.

In a process that compiles, Triton is told of it by what stands in for its driver.
What Triton's cache then holds can be packed, for a process elsewhere to unpack into its own.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Files = dict[str, bytes]
"""The files of a cache, by their paths in it."""


@dataclass(frozen=True)
class Gpu:
    """The description of a GPU that compiling needs."""

    name: str
    backend: str
    """Triton's name of its kind: `cuda` or `hip`."""
    architecture: int | str
    warp: int
    capability: tuple[int, int]
    properties: tuple[tuple[str, Any], ...]
    """The properties that PyTorch says, by name."""


_PROPERTIES = (
    "shared_memory_per_block_optin", "max_threads_per_block", "regs_per_multiprocessor",
    "memory_clock_rate", "memory_bus_width", "L2_cache_size", "multi_processor_count", "name",
    "warp_size",
)  # fmt: skip


def present_gpu() -> Gpu:
    """Describes the GPU that is present."""
    import torch
    from triton.runtime import driver

    target: Any = driver.active.get_current_target()
    known: Any = torch.cuda.get_device_properties(torch.cuda.current_device())
    found = tuple((name, getattr(known, name)) for name in _PROPERTIES if hasattr(known, name))
    return Gpu(
        known.name, target.backend, target.arch, target.warp_size,
        torch.cuda.get_device_capability(), found,
    )  # fmt: skip


@cache
def stand_in(gpu: Gpu) -> None:
    """Lets Triton compile for a GPU in this process, and no longer run anything on one.

    It needs no context of a GPU then, and none has to be there.

    Args:
        gpu: the GPU.
    """
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    class Driver:
        """Says what Triton asks for when it compiles."""

        def get_current_target(self) -> Any:
            return GPUTarget(gpu.backend, gpu.architecture, gpu.warp)

        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, device: int) -> int:
            return 0

    active: Any = Driver()
    driver.set_active(active)


def packed(folder: Path) -> Files:
    """Returns the files of a cache of Triton's."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }


def unpack(files: Files) -> None:
    """Puts files into the cache of Triton that this process uses.

    Args:
        files: what `packed` returned, of a cache with another path.
    """
    if not files:
        return
    from triton import knobs

    folder = Path(knobs.cache.dir)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name.startswith("__grp__"):
            group = json.loads(content)
            paths = group["child_paths"]
            group["child_paths"] = {child: str(path.parent / child) for child in paths}
            content = json.dumps(group).encode()
        # Others may read it meanwhile.
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(path)
