"""Fingerprints of functions: PyTorch keeps compiled graphs on disk by their operators' names.

An operator whose backward has changed must have another name, or a graph that was compiled with
the old one is taken for it.
"""

from __future__ import annotations

import hashlib
import sys
import uuid
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_LIBRARIES = {"torch", "triton", "numpy", "dt_mlir", *sys.stdlib_module_names} - {"__main__"}
"""Whose functions their names tell."""
_PROCESS = uuid.uuid4().hex
"""The fingerprint of a function without a text: it equals none of another process."""


def fingerprint(*values: Any) -> str:
    """A digest of functions and what they refer to: code, closures, defaults and globals.

    Equal values have equal digests, in other processes, too, unless they refer to objects whose
    contents are not known; those are like themselves alone.
    """
    digest = hashlib.sha256()
    seen: dict[int, int] = {}
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        digest.update(_text(value, seen, pending).encode())
    return digest.hexdigest()


def _text(value: Any, seen: dict[int, int], pending: list[Any]) -> str:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__} {value!r}\n"
    if id(value) in seen:
        return f"again {seen[id(value)]}\n"
    seen[id(value)] = len(seen)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, tuple | list):
        pending += value
        return f"{kind} of {len(value)}\n"
    if isinstance(value, dict):
        items: dict[Any, Any] = value
        pending += [*items.keys(), *items.values()]
        return f"{kind} of {len(items)}\n"
    if isinstance(value, CodeType):
        pending += value.co_consts
        return f"code {value.co_code!r} {value.co_names} {value.co_varnames}\n"
    if isinstance(value, FunctionType) and value.__module__.partition(".")[0] in _LIBRARIES:
        return f"function {value.__module__} {value.__qualname__}\n"
    if isinstance(value, FunctionType):
        used = [n for n in _names(value.__code__) if n in value.__globals__]
        # A cell that is not filled yet has no contents.
        cells = [getattr(cell, "cell_contents", None) for cell in value.__closure__ or ()]
        pending += [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
        pending += [value.__globals__[name] for name in used]
        return f"function {used}\n"
    if isinstance(value, MethodType):
        pending += [value.__func__, value.__self__]
        return "method\n"
    if isinstance(value, partial):
        pending += [value.func, value.args, value.keywords]
        return "partial\n"
    if isinstance(value, ModuleType | type | BuiltinFunctionType):
        module = getattr(value, "__module__", "")
        return f"{kind} {module} {getattr(value, '__qualname__', value.__name__)}\n"
    program: Any = getattr(value, "program", None)
    if hasattr(program, "to_dt"):
        # Another kernel, whose own backward counts where it is differentiated again.
        pending += [getattr(value, "_backward", None)]
        return f"{kind} {program.to_dt()}\n"
    return f"{kind} {_PROCESS} {id(value)}\n"


def _names(code: CodeType) -> list[str]:
    """The names that code and the functions in it may look up."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _names(constant)
    return list(dict.fromkeys(found))
