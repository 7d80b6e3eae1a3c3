"""Fingerprints of functions: PyTorch keeps compiled graphs on disk by their operators' names.

An operator whose backward has changed must have another name, or a graph that was compiled with
the old one is taken for it.
"""

from __future__ import annotations

import dis
import hashlib
import sys
import uuid
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

_LIBRARIES = {"torch", "triton", "numpy", "dt_mlir", *sys.stdlib_module_names} - {"__main__"}
"""Whose functions, classes and modules their names tell."""
_UNTOLD = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__repr__",
    "__dataclass_fields__", "__dataclass_params__",
}  # fmt: skip
"""Attributes of classes that nothing is computed from, or that say again what others do."""
_PROCESS = uuid.uuid4().hex
"""The fingerprint of a function without a text: it equals none of another process."""


def fingerprint(*values: Any) -> str:
    """A digest of functions and what they refer to: code, closures, defaults and globals.

    Of a class all attributes count, and of a module those whose names the code of a function holds.
    Equal values have equal digests, in other processes, too, unless they refer to objects whose
    contents are not known; those are like themselves alone.
    """
    digest = hashlib.sha256()
    seen: dict[int, tuple[int, Any]] = {}
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        digest.update(_text(value, seen, pending).encode())
    return digest.hexdigest()


def _text(value: Any, seen: dict[int, tuple[int, Any]], pending: list[Any]) -> str:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__} {value!r}\n"
    if id(value) in seen:
        return f"again {seen[id(value)][0]}\n"
    # Kept, it is the only one of its identity.
    seen[id(value)] = len(seen), value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, tuple | list):
        pending += value
        return f"{kind} of {len(value)}\n"
    if isinstance(value, dict):
        entries: dict[Any, Any] = value
        pending += [*entries.keys(), *entries.values()]
        return f"{kind} of {len(entries)}\n"
    if isinstance(value, CodeType):
        pending += value.co_consts
        return f"code {value.co_code!r} {value.co_names} {value.co_varnames}\n"
    if isinstance(value, FunctionType | type) and _is_of_library(value.__module__):
        return f"{kind} {value.__module__} {value.__qualname__}\n"
    if isinstance(value, FunctionType):
        names = _names(value.__code__)
        # A cell that is not filled yet has no contents.
        cells = [getattr(cell, "cell_contents", None) for cell in value.__closure__ or ()]
        known = [n for n in names if n in value.__globals__]
        used = [value.__globals__[name] for name in known]
        pending += [value.__code__, value.__defaults__, value.__kwdefaults__, *cells, *used]
        pending += _attributes(names, [*cells, *used])
        # What a function imports when it runs is not known yet.
        own = f"{_PROCESS} {id(value)}" if _imports(value.__code__) else ""
        return f"function {known} {own}\n"
    if isinstance(value, type):
        items = {n: v for n, v in vars(value).items() if n not in _UNTOLD}
        if issubclass(value, Enum):
            # Members are told by their values.
            items = {n: v for n, v in items.items() if isinstance(v, FunctionType)}
            items |= {member.name: member.value for member in value}
        pending += [value.__bases__, *items.values()]
        return f"{kind} {value.__qualname__} {list(items)}\n"
    if isinstance(value, staticmethod | classmethod):
        pending += [value.__func__]
        return f"{kind}\n"
    if isinstance(value, property):
        pending += [value.fget, value.fset, value.fdel]
        return "property\n"
    if isinstance(value, MethodType):
        pending += [value.__func__, value.__self__]
        return "method\n"
    if isinstance(value, partial):
        pending += [value.func, value.args, value.keywords]
        return "partial\n"
    if isinstance(value, ModuleType | BuiltinFunctionType):
        module = getattr(value, "__module__", "")
        return f"{kind} {module} {getattr(value, '__qualname__', value.__name__)}\n"
    if isinstance(value, MemberDescriptorType | GetSetDescriptorType):
        return f"{kind} {value.__qualname__}\n"
    if kind == "_collections._tuplegetter":
        # The fields of a named tuple are in its `_fields`.
        return f"{kind}\n"
    program: Any = getattr(value, "program", None)
    if hasattr(program, "to_dt"):
        # Another kernel, whose own backward counts where it is differentiated again.
        pending += [getattr(value, "_backward", None)]
        return f"{kind} {program.to_dt()}\n"
    return f"{kind} {_PROCESS} {id(value)}\n"


def _is_of_library(module: object) -> bool:
    """Returns whether a module of a name belongs to a library."""
    return str(module).partition(".")[0] in _LIBRARIES


def _imports(code: CodeType) -> bool:
    """Returns whether code, or a function in it, imports anything but libraries."""
    inner = (item for item in code.co_consts if isinstance(item, CodeType))
    return any(
        item.opname == "IMPORT_NAME" and not _is_of_library(item.argval)
        for item in dis.get_instructions(code)
    ) or any(map(_imports, inner))


def _attributes(names: Sequence[str], values: Iterable[Any]) -> list[Any]:
    """Returns attributes of the modules among values, and of the modules among those."""
    found: list[Any] = []
    modules = [value for value in values if isinstance(value, ModuleType)]
    seen = set[str]()
    while modules:
        module = modules.pop()
        if _is_of_library(module.__name__) or module.__name__ in seen:
            continue
        seen.add(module.__name__)
        known = [vars(module)[name] for name in names if name in vars(module)]
        found += known
        modules += [value for value in known if isinstance(value, ModuleType)]
    return found


def _names(code: CodeType) -> list[str]:
    """The names that code and the functions in it may look up."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _names(constant)
    return list(dict.fromkeys(found))
