"""Prints statements, broken into lines where they are long."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dt_mlir.backend.triton.code import text

WIDTH = 99
"""The width that statements are broken to fit in, where they can be."""


def lines(statement: ast.stmt, depth: int = 0) -> list[str]:
    """The lines of a statement.

    Args:
        statement: one of those that `code.py` builds.
        depth: how many levels of indentation stand in front of it.
    """
    match statement:
        case ast.FunctionDef():
            return _function(statement, depth)
        case ast.Assign():
            shown = ", ".join(map(text, _targets(statement)))
            return _simple(f"{shown} = ", statement.value, depth)
        case ast.AnnAssign(value=value) if value is not None:
            head = f"{text(statement.target)}: {text(statement.annotation)} = "
            return _simple(head, value, depth)
        case ast.Expr():
            return _simple("", statement.value, depth)
        case ast.Return(value) if value is not None:
            return _simple("return ", value, depth)
        case ast.Pass():
            return [_indented("pass", depth)]
        case ast.For():
            head = f"for {text(statement.target)} in {text(statement.iter)}:"
        case ast.If():
            found = [_indented(f"if {text(statement.test)}:", depth)]
            found += _body(statement.body, depth + 1)
            if statement.orelse:
                found += [_indented("else:", depth), *_body(statement.orelse, depth + 1)]
            return found
        case ast.With():
            head = f"with {text(statement.items[0].context_expr)}:"
        case _:
            raise AssertionError(f"no layout for {type(statement).__name__}")
    return [_indented(head, depth), *_body(statement.body, depth + 1)]


def docstring(documentation: str, depth: int = 0) -> list[str]:
    """A docstring of one line or several; whatever it holds, it ends where it should."""
    safe = documentation.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if safe.endswith('"'):
        safe = safe[:-1] + '\\"'
    first, *rest = safe.split("\n")
    if not rest:
        return [_indented(f'"""{first}"""', depth)]
    return [
        _indented(f'"""{first}', depth),
        *(_indented(line, depth) for line in rest),
        _indented('"""', depth),
    ]


def _indented(line: str, depth: int) -> str:
    return "    " * depth + line if line else ""


def _body(statements: Sequence[ast.stmt], depth: int) -> list[str]:
    found: list[str] = []
    for statement in statements:
        found += lines(statement, depth)
    return found


def _targets(statement: ast.Assign) -> list[ast.expr]:
    (target,) = statement.targets
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _simple(head: str, value: ast.expr, depth: int) -> list[str]:
    """A statement of one expression; a long call has its operands on lines of their own."""
    flat = head + text(value)
    if len(flat) + 4 * depth <= WIDTH or not isinstance(value, ast.Call):
        return [_indented(flat, depth)]
    items = [text(arg) for arg in value.args]
    items += [f"{k.arg}={text(k.value)}" if k.arg else f"**{text(k.value)}" for k in value.keywords]
    joined = ", ".join(items)
    if len(joined) + 4 * depth + 4 <= WIDTH:
        inside = [joined]
    else:
        positional = [line for arg in value.args for line in _item(arg, depth + 1)]
        inside = positional + [f"{item}," for item in items[len(value.args) :]]
    return [
        *_called(head, value.func, depth),
        *(_indented(line, depth + 1) for line in inside),
        _indented(")", depth),
    ]


def _called(head: str, function: ast.expr, depth: int) -> list[str]:
    """The begin of a call; of a long one of an element, the index has a line of its own."""
    flat = f"{head}{text(function)}("
    if len(flat) + 4 * depth <= WIDTH or not isinstance(function, ast.Subscript):
        return [_indented(flat, depth)]
    first, index = f"{head}{text(function.value)}[", text(function.slice)
    return [_indented(first, depth), _indented(index, depth + 1), _indented("](", depth)]


def _item(value: ast.expr, depth: int) -> list[str]:
    """An operand on a line of its own; a long list or tuple fills lines with its elements."""
    flat = f"{text(value)},"
    if len(flat) + 4 * depth <= WIDTH or not isinstance(value, ast.List | ast.Tuple):
        return [flat]
    rows: list[str] = []
    row = ""
    for element in value.elts:
        shown = f"{text(element)},"
        if row and len(row) + 1 + len(shown) + 4 * (depth + 1) <= WIDTH:
            row = f"{row} {shown}"
            continue
        rows += [row] if row else []
        row = shown
        if len(shown) + 4 * (depth + 1) > WIDTH:
            rows += _item(element, depth + 1)
            row = ""
    rows += [row] if row else []
    brackets = "[]" if isinstance(value, ast.List) else "()"
    return [brackets[0], *(_indented(line, 1) for line in rows), f"{brackets[1]},"]


def _function(definition: ast.FunctionDef, depth: int) -> list[str]:
    first, *rest = definition.body
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Constant)
    return [
        *(_indented(f"@{text(item)}", depth) for item in definition.decorator_list),
        *_signature(definition, depth),
        *docstring(str(first.value.value), depth + 1),
        *_body(rest, depth + 1),
    ]


def _signature(definition: ast.FunctionDef, depth: int) -> list[str]:
    parameters = _parameters(definition.args)
    flat = f"def {definition.name}({', '.join(parameters)}):"
    if len(flat) + 4 * depth <= WIDTH:
        return [_indented(flat, depth)]
    rows: list[str] = []
    row: list[str] = []
    for parameter in parameters:
        if row and len(", ".join([*row, parameter])) + 4 * depth + 5 > WIDTH:
            rows.append(", ".join(row) + ",")
            row = []
        row.append(parameter)
    rows.append(", ".join(row))
    return [
        _indented(f"def {definition.name}(", depth),
        *(_indented(item, depth + 1) for item in rows),
        _indented("):", depth),
    ]


def _parameters(arguments: ast.arguments) -> list[str]:
    unset = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * unset + list(arguments.defaults)
    found = [_parameter(arg, default) for arg, default in zip(arguments.args, defaults)]
    if arguments.kwonlyargs:
        found.append("*")
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults)
    return [*found, *(_parameter(arg, default) for arg, default in pairs)]


def _parameter(arg: ast.arg, default: ast.expr | None) -> str:
    if arg.annotation is None:
        return arg.arg if default is None else f"{arg.arg}={text(default)}"
    typed = f"{arg.arg}: {text(arg.annotation)}"
    return typed if default is None else f"{typed} = {text(default)}"
