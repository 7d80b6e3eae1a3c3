"""Describes passes as text, from their definitions."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap

from xdsl.passes import ModulePass
from xdsl.utils.hints import type_repr


def option_documentation(cls: type[ModulePass]) -> dict[str, str]:
    """The sentence that stands behind each option in a pass's class, or in its declaration."""
    found: dict[str, str] = {}
    for field in dataclasses.fields(cls):
        if "doc" in field.metadata:
            found[field.name] = field.metadata["doc"]
    for base in cls.__mro__:
        if base in (ModulePass, object) or not base.__module__.startswith(
            (cls.__module__.split(".")[0], "dt_mlir")
        ):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        definition = tree.body[0]
        assert isinstance(definition, ast.ClassDef)
        for item, following in zip(definition.body, definition.body[1:]):
            if (
                isinstance(item, ast.AnnAssign)
                and isinstance(item.target, ast.Name)
                and isinstance(following, ast.Expr)
                and isinstance(following.value, ast.Constant)
            ):
                found.setdefault(item.target.id, str(following.value.value))
    return {field.name: found.get(field.name, "") for field in dataclasses.fields(cls)}


def describe_pass(cls: type[ModulePass]) -> str:
    """A pass's name, its summary and its options."""
    summary = (inspect.getdoc(cls) or "").splitlines()[0]
    lines = [cls.name, f"    {summary}"]
    sentences = option_documentation(cls)
    for field in dataclasses.fields(cls):
        default = "" if field.default is dataclasses.MISSING else f" = {field.default}"
        shown = type_repr(field.type) if not isinstance(field.type, str) else field.type
        lines.append(f"      {field.name}: {shown}{default}  {sentences.get(field.name, '')}")
    return "\n".join(lines)
