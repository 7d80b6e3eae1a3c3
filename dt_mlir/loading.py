"""Loads passes, directives and dialects from Python files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError


def load_file(path: str) -> tuple[dict[str, type[ModulePass]], list[Dialect]]:
    """Load the passes, directives and dialects that a Python file defines.

    Raises:
        CompileError: if the file cannot be loaded.
    """
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise CompileError(f"{path}: there is no such Python file to load")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CompileError(f"{path}: cannot be loaded: {type(error).__name__}: {error}") from error
    items = list(vars(module).values())
    passes = {
        item.name: item
        for item in items
        if isinstance(item, type)
        and issubclass(item, ModulePass)
        and item.__module__ == spec.name
        and hasattr(item, "name")
    }
    return passes, [item for item in items if isinstance(item, Dialect)]
