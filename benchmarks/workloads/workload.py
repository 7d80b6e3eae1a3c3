"""A workload: a program at some sizes, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Workload:
    """A program at some sizes."""

    group: str
    """The workloads that it is shown with."""
    program: str
    """The file in `programs/`, without its ending."""
    sizes: Mapping[str, int]
    """A size for each label."""
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    """Element types that are declared anew."""
    baselines: tuple[str, ...] = ()
    """The functions of the package `baselines` that it is compared with."""
    model: str = ""
    """The published model that it is a part of, where it is one of its operators."""

    @property
    def name(self) -> str:
        """The name in tables and files."""
        kinds = sorted(set(self.types.values()))
        parts = [self.program, "x".join(map(str, self.sizes.values())), *kinds]
        return "-".join(parts)


def against(function: str, *others: str) -> tuple[str, ...]:
    """Returns the names of PyTorch's three ways to run a function, and others."""
    ways = ("eager", "compile", "max_autotune")
    return (*(f"{function}_{way}" for way in ways), *others)
