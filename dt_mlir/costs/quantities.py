"""Times and numbers of bytes as text, as `dtc --emit cost` prints them."""

from __future__ import annotations

from math import isfinite


def shown_time(seconds: float) -> str:
    """Returns a time with its unit; a kernel with too much shared memory has none."""
    if not isfinite(seconds):
        return "does not fit"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"


def shown_bytes(count: float) -> str:
    """Returns a number of bytes with its unit."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count:.4g} B"
