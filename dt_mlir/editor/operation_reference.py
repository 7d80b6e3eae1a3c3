"""Describes operations as Markdown, from their definitions."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

from xdsl.ir import Operation

from dt_mlir.dialects.sched import DirectiveOp


def field_docs(cls: type) -> list[tuple[str, str, str]]:
    """Names, kind and sentence of each operand, property, region and result of an operation."""
    found: dict[str, tuple[str, str, str]] = {}
    for base in reversed(cls.__mro__):
        made = issubclass(base, DirectiveOp) and base is not DirectiveOp
        if base.__module__.partition(".")[0] in ("builtins", "abc", "typing", "xdsl") or made:
            continue
        definition = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(definition, ast.ClassDef)
        for item, following in zip(definition.body, definition.body[1:]):
            if not isinstance(following, ast.Expr) or not isinstance(item, ast.Assign):
                continue
            target, doc = item.targets[0], following.value
            is_field = isinstance(item.value, ast.Call) and isinstance(target, ast.Name)
            if is_field and isinstance(doc, ast.Constant):
                assert isinstance(item.value, ast.Call)
                assert isinstance(target, ast.Name)
                kind = ast.unparse(item.value.func).removesuffix("_def").replace("_", " ")
                kind = kind.replace("prop", "property").replace("var ", "variadic ")
                kind = kind.replace("opt ", "optional ")
                found[target.id] = (target.id, kind, str(doc.value))
    return list(found.values())


def operation_lines(op: type[Operation]) -> list[str]:
    """Returns the description of an operation: its documentation, format and fields.

    An operation of another package may lack a format.
    """
    lines = [inspect.getdoc(op) or "", ""]
    text = getattr(op, "assembly_format", None) or getattr(op, "GRAMMAR", None)
    if text:
        shown = re.sub(r"custom<\w+>\((\$\w+)(?:, \$\w+)*\)", r"\1", f"{op.name} {text}")
        lines += ["```", *textwrap.wrap(shown, 96, subsequent_indent="    "), "```", ""]
    rows = field_docs(op)
    if rows:
        lines += ["| name | what | meaning |", "| --- | --- | --- |"]
        lines += [f"| `{name}` | {kind} | {' '.join(doc.split())} |" for name, kind, doc in rows]
        lines.append("")
    return lines
