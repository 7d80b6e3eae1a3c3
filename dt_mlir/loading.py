"""Loads passes, directives, dialects and elementwise functions from Python files."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from dt_mlir.boundary_conditions import BoundaryCondition
from dt_mlir.callables import define, define_boundary
from dt_mlir.diagnostics import CompileError
from dt_mlir.elementwise import Function
from dt_mlir.registry import LOADED, PASSES, plugins_in_use

Loaded = tuple[dict[str, type[ModulePass]], list[Dialect]]
"""The passes of a file by name, and its dialects."""

_FILES: dict[Path, Loaded] = {}


def load_file(path: str, override: bool = False) -> Loaded:
    """Loads what a file defines: passes, directives, dialects, functions, boundary conditions.

    From then on programs of this process know its directives, and `dtc` runs those of its passes
    that say `after = "NAME-OF-A-PASS"`. A file is loaded once.

    Args:
        path: the file.
        override: whether a pass may take the name, and the place, of a built-in one.

    Returns:
        The passes by name, and the dialects.

    Raises:
        CompileError: if the file cannot be loaded, or defines what there is already.
    """
    file = Path(path).resolve()
    if file in _FILES:
        return _FILES[file]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise CompileError(f"{path} is not a Python file that can be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        place = next(
            (f":{at.lineno}" for at in reversed(traceback.extract_tb(error.__traceback__))
             if at.filename == str(file)), "",
        )  # fmt: skip
        raise CompileError(
            f"{path}{place}: cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    items = list(vars(module).values())
    passes = {
        item.name: item
        for item in items
        if isinstance(item, type)
        and issubclass(item, ModulePass)
        and item.__module__ == spec.name
        and hasattr(item, "name")
    }
    for name, cls in passes.items():
        if not isinstance(getattr(cls, "after", None), str | None):
            raise CompileError(
                f"{path}: 'after' of the pass '{name}' is not the name of a pass", None,
                'write after = "tile-cse", for example',
            )
    taken = [name for name in passes if name in PASSES]
    if taken and not override:
        raise CompileError(
            f"{path}: '{taken[0]}' is the name of a built-in pass", None,
            "give the pass another name, or --override to put it in the other's place",
        )
    for item in items:
        if isinstance(item, Function | BoundaryCondition):
            try:
                if isinstance(item, Function):
                    define(item)
                else:
                    define_boundary(item)
            except ValueError as error:
                raise CompileError(f"{path}: {error}", None, "give it another name") from None
    LOADED.update(passes)
    _FILES[file] = passes, [item for item in items if isinstance(item, Dialect)]
    return _FILES[file]


def extension_place(error: BaseException) -> str | None:
    """Returns the file and line of a loaded file or plug-in at which an error arose, if any."""
    own = Path(__file__).parent
    plugins = {str(file) for file in _FILES}
    for cls in plugins_in_use():
        module = sys.modules.get(cls.__module__)
        if module is not None and getattr(module, "__file__", None):
            plugins.add(str(module.__file__))
    for place in reversed(traceback.extract_tb(error.__traceback__)):
        if place.filename in plugins and not Path(place.filename).is_relative_to(own):
            return f"{place.filename}:{place.lineno}"
    return None
