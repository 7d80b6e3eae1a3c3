"""Settings of a client: sizes and device of predicted costs, files that are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dt_mlir.costs.device import find_device
from dt_mlir.diagnostics import CompileError

SECTION = "dt"
"""The section of a client's configuration that is the server's."""


@dataclass(frozen=True)
class Settings:
    """The server's settings."""

    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Sizes of labels, by which costs are predicted."""
    device: str | None = None
    """The device that costs are predicted for; None for the usual one."""
    load: tuple[str, ...] = ()
    """Python files with directives, functions and boundary conditions that programs use."""

    @staticmethod
    def of(options: Any) -> tuple[Settings, list[str]]:
        """Returns the settings that a client gives, and what is wrong with them.

        What is wrong counts as not given.

        Args:
            options: what the client gives; None for nothing.
        """
        if isinstance(options, Mapping) and isinstance(options.get(SECTION), Mapping):
            options = options[SECTION]
        if options is None:
            return Settings(), []
        if not isinstance(options, Mapping):
            return Settings(), ["the settings of dt-lsp are an object with sizes, device and load"]
        wrong: list[str] = []
        sizes, device, load = (options.get(name) for name in ("sizes", "device", "load"))
        if not isinstance(sizes or {}, Mapping) or not all(
            isinstance(key, str) and type(size) is int and size >= 0
            for key, size in (sizes or {}).items()
        ):
            wrong.append("'sizes' are whole numbers by label, as in {\"x\": 4096}")
            sizes = None
        if not isinstance(device or "", str):
            wrong.append("'device' is the name of a device, as in \"h200\"")
            device = None
        elif device:
            try:
                find_device(device)
            except CompileError as error:
                wrong.append(f"'device': {error}")
                device = None
        files = load or []
        if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
            wrong.append("'load' is a list of Python files")
            load = None
        return Settings(dict(sizes or {}), device or None, tuple(load or ())), wrong
