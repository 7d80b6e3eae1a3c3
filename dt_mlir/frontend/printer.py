"""Prints syntax trees as canonical DT text."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from dt_mlir.frontend.syntax import (
    Alternatives,
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    KnobDefinition,
    Name,
    Number,
    Prefix,
    Read,
    SyntaxTree,
)

_LEVELS = (
    ("or",),
    ("and",),
    ("not",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("|",),
    ("^",),
    ("&",),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "//", "%"),
    ("~",),
    ("**",),
)
_LEVEL = {operator: level for level, group in enumerate(_LEVELS) for operator in group}
_SIGN = _LEVEL["~"]
_ATOM = len(_LEVELS)


def print_number(value: float) -> str:
    """A number as DT writes it; of a float the shortest text that means the same f64."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(float(value))
    return text if any(c in text for c in ".e") else f"{text}.0"


def shortest_single(value: float) -> float:
    """Returns the shortest decimal number that rounds to a value in f32."""
    shorter = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return next((number for number in shorter if _single(number) == value), value)


def _single(value: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.inf


def print_expression(expr: Expr, least: int = 0) -> str:
    """An expression, in parentheses if it binds less than the level `least`."""
    text, level = _expression(expr)
    return f"({text})" if level < least else text


def _expression(expr: Expr) -> tuple[str, int]:
    match expr:
        case Number(value):
            text = print_number(value)
            return text, _SIGN if text.startswith("-") else _ATOM
        case Name(name):
            return name, _ATOM
        case Read(name, indices):
            return f"{name}[{', '.join(map(print_expression, indices))}]", _ATOM
        case Call(name, arguments):
            return f"{name}({', '.join(map(print_expression, arguments))})", _ATOM
        case Prefix("not", operand):
            level = _LEVEL["not"]
            return f"not {print_expression(operand, level)}", level
        case Prefix(operator, operand):
            return f"{operator}{print_expression(operand, _SIGN)}", _SIGN
        case Infix("**", left, right):
            level = _LEVEL["**"]
            return f"{print_expression(left, _ATOM)} ** {print_expression(right, _SIGN)}", level
        case Infix(operator, left, right):
            level = _LEVEL[operator]
            # Comparisons chain, so neither side may be one.
            left_least = level + 1 if level == _LEVEL["=="] else level
            shown = print_expression(left, left_least), print_expression(right, level + 1)
            return f"{shown[0]} {operator} {shown[1]}", level


def print_definition(item: Definition) -> str:
    """`f[x, y] = …;`"""
    return f"{item.name}[{', '.join(item.labels)}] = {print_expression(item.expression)};"


def print_directive(item: DirectiveCall) -> str:
    """`f.block(x:128, y:64);`"""
    return f"{item.function}.{item.name}({', '.join(map(str, item.arguments))});"


def print_directives(items: Sequence[DirectiveCall]) -> list[str]:
    """Returns a line for each directive, with the reasons that there are as comments."""
    texts = list(map(print_directive, items))
    width = max((len(text) for text, item in zip(texts, items) if item.reason), default=0)
    return [
        f"{text:<{width}}  # {item.reason}" if item.reason else text
        for text, item in zip(texts, items)
    ]


def print_knob(item: KnobDefinition) -> str:
    """`BM = {64, 128};`"""
    return f"{item.name} = {item.options};"


def print_alternatives(item: Alternatives) -> str:
    """`WHERE = g.fuse_at(f, x) | none;`"""
    name = "" if item.name is None else f"{item.name} = "
    return f"{name}{' | '.join(map(_print_branch, item.branches))};"


def _print_branch(directives: Sequence[DirectiveCall]) -> str:
    shown = [print_directive(item) for item in directives]
    if not shown:
        return "none"
    return shown[0].removesuffix(";") if len(shown) == 1 else f"({' '.join(shown)})"


def print_program(program: SyntaxTree) -> str:
    """A whole program in canonical DT, a statement in each line."""
    lines = [
        *print_declarations(program.declarations),
        *map(print_definition, program.definitions),
        *map(print_knob, program.knobs),
        *print_directives(program.directives),
        *map(print_alternatives, program.alternatives),
    ]
    return "\n".join(lines) + "\n"


def print_declarations(items: list[Declaration]) -> list[str]:
    """One statement for each kind of declaration that occurs."""
    by_kind: dict[str, list[str]] = {kind: [] for kind in ("Func", "In", "SIn", "Var", "RVar")}
    for item in items:
        shown = item.name if item.type is None else f"{item.name} : {item.type}"
        if item.size is not None:
            shown += f" = {print_expression(item.size)}"
        by_kind[item.kind].append(shown)
    return [f"{kind} {', '.join(names)};" for kind, names in by_kind.items() if names]
