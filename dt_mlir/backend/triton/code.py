"""Python code as syntax trees, and its printing.

Code is built from `ast` nodes and never from pasted strings, so that precedence and quoting are
Python's own business.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
from collections.abc import Iterable, Sequence

WIDTH = 99
"""The width that statements are broken to fit in, where they can be."""


def name(identifier: str) -> ast.expr:
    """A name."""
    return ast.Name(identifier, ast.Load())


def path(dotted: str) -> ast.expr:
    """A name with attributes: `tl.float32`."""
    first, *rest = dotted.split(".")
    node = name(first)
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


def constant(value: object) -> ast.expr:
    """A literal; infinities and NaN are calls of `float`."""
    if isinstance(value, float) and not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return call("float", ast.Constant(text))
    if isinstance(value, int | float) and math.copysign(1, value) < 0:
        # A minus sign is an operator, and must bind like one.
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)  # pyright: ignore[reportArgumentType]


def call(function: str | ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    """A call."""
    head = path(function) if isinstance(function, str) else function
    return ast.Call(head, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def method(value: ast.expr, attribute: str, *args: ast.expr) -> ast.expr:
    """A call of a method."""
    return ast.Call(ast.Attribute(value, attribute, ast.Load()), list(args), [])


_OPERATORS: dict[str, ast.operator] = {
    "+": ast.Add(),
    "-": ast.Sub(),
    "*": ast.Mult(),
    "/": ast.Div(),
    "//": ast.FloorDiv(),
    "%": ast.Mod(),
    "&": ast.BitAnd(),
    "|": ast.BitOr(),
    "^": ast.BitXor(),
    "<<": ast.LShift(),
    ">>": ast.RShift(),
}
_COMPARISONS: dict[str, ast.cmpop] = {
    "==": ast.Eq(),
    "!=": ast.NotEq(),
    "<": ast.Lt(),
    "<=": ast.LtE(),
    ">": ast.Gt(),
    ">=": ast.GtE(),
}


def binary(operator: str, left: ast.expr, right: ast.expr) -> ast.expr:
    """An operation with an infix operator."""
    return ast.BinOp(left, _OPERATORS[operator], right)


def compare(operator: str, left: ast.expr, right: ast.expr) -> ast.expr:
    """A comparison."""
    return ast.Compare(left, [_COMPARISONS[operator]], [right])


def negative(value: ast.expr) -> ast.expr:
    """`-value`"""
    return ast.UnaryOp(ast.USub(), value)


def inverted(value: ast.expr) -> ast.expr:
    """`~value`"""
    return ast.UnaryOp(ast.Invert(), value)


def conditional(condition: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.expr:
    """`then if condition else otherwise`"""
    return ast.IfExp(condition, then, otherwise)


def tuple_of(items: Iterable[ast.expr]) -> ast.expr:
    """`(a, b)`"""
    return ast.Tuple(list(items), ast.Load())


def subscript(value: ast.expr, items: Sequence[ast.expr]) -> ast.expr:
    """`value[items]`"""
    index = items[0] if len(items) == 1 else ast.Tuple(list(items), ast.Load())
    return ast.Subscript(value, index, ast.Load())


def new_axes(value: ast.expr, present: Sequence[bool]) -> ast.expr:
    """`value[:, None]`: a tile with axes of one element where it is not present."""
    if all(present) or not any(present):
        return value
    return subscript(value, [ast.Slice() if here else ast.Constant(None) for here in present])


def total(operator: str, items: Sequence[ast.expr]) -> ast.expr:
    """Items joined by an operator."""
    result = items[0]
    for item in items[1:]:
        result = binary(operator, result, item)
    return result


def text(node: ast.expr) -> str:
    """An expression as Python writes it."""
    return ast.unparse(ast.fix_missing_locations(node))


class Names:
    """Gives out names: legal in Python, each once.

    Args:
        reserved: names that are taken.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *reserved}

    def fresh(self, wanted: str) -> str:
        """The wanted name, or it with a number; a name that Python knows gets an underscore."""
        candidate, number = wanted, 0
        if candidate in self.taken and (keyword.iskeyword(wanted) or wanted in dir(builtins)):
            candidate = wanted = f"{wanted}_"
        while candidate in self.taken:
            number += 1
            candidate = f"{wanted}_{number}"
        self.taken.add(candidate)
        return candidate


class Writer:
    """Writes statements, indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def line(self, content: str = "") -> None:
        """Write a line at the current depth."""
        self.lines.append("    " * self.depth + content if content else "")

    def indent(self) -> None:
        """Begin a block."""
        self.depth += 1

    def dedent(self) -> None:
        """End a block."""
        self.depth -= 1

    def assign(self, target: str, value: ast.expr) -> None:
        """`target = value`"""
        self._statement(f"{target} = ", value)

    def expression(self, value: ast.expr) -> None:
        """An expression for its effect."""
        self._statement("", value)

    def returns(self, value: ast.expr) -> None:
        """`return value`"""
        self._statement("return ", value)

    def _statement(self, head: str, value: ast.expr) -> None:
        flat = head + text(value)
        if len(flat) + 4 * self.depth <= WIDTH or not isinstance(value, ast.Call):
            self.line(flat)
            return
        self.line(f"{head}{text(value.func)}(")
        self.indent()
        items = [text(arg) for arg in value.args]
        items += [f"{k.arg}={text(k.value)}" for k in value.keywords]
        joined = ", ".join(items)
        if len(joined) + 4 * self.depth <= WIDTH:
            self.line(joined)
        else:
            for item in items:
                self.line(f"{item},")
        self.dedent()
        self.line(")")

    def signature(self, head: str, parameters: Sequence[str]) -> None:
        """`def head(parameters):`, broken where it is long; begins a block."""
        flat = f"def {head}({', '.join(parameters)}):"
        if len(flat) + 4 * self.depth <= WIDTH:
            self.line(flat)
        else:
            self.line(f"def {head}(")
            self.indent()
            row: list[str] = []
            for parameter in parameters:
                if row and len(", ".join([*row, parameter])) + 4 * self.depth + 1 > WIDTH:
                    self.line(", ".join(row) + ",")
                    row = []
                row.append(parameter)
            self.line(", ".join(row))
            self.dedent()
            self.line("):")
        self.indent()

    def docstring(self, lines: Sequence[str]) -> None:
        """A docstring of one line or several."""
        safe = [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in lines]
        if len(safe) == 1:
            self.line(f'"""{safe[0]}"""')
            return
        self.line(f'"""{safe[0]}')
        for line in safe[1:]:
            self.line(line)
        self.line('"""')
