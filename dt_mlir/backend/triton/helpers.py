"""The text of `support.py`, for modules that need a part of it."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path


@lru_cache
def _parsed() -> tuple[list[str], dict[str, ast.FunctionDef]]:
    text = Path(__file__).with_name("support.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return text.splitlines(), {node.name: node for node in functions}


def support_names() -> list[str]:
    """The names of all its functions."""
    return list(_parsed()[1])


def support_functions(wanted: set[str]) -> list[str]:
    """The text of functions of `support.py`, and of those that they call, in its order."""
    lines, functions = _parsed()
    needed: set[str] = set()
    pending = [name for name in wanted if name in functions]
    while pending:
        current = pending.pop()
        if current in needed:
            continue
        needed.add(current)
        for node in ast.walk(functions[current]):
            if isinstance(node, ast.Name) and node.id in functions:
                pending.append(node.id)
    found: list[str] = []
    for name, node in functions.items():
        if name in needed:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.append("\n".join(lines[first - 1 : node.end_lineno]))
    return found
