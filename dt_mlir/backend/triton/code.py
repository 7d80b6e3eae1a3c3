"""Python code as syntax trees.

Code is built from `ast` nodes and never from pasted strings, so that precedence and quoting are
Python's own business. `layout.py` prints the statements.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier


def identifier(text: str) -> str:
    """Returns `text`, a name that Python code may define or use.

    `ast` prints names as they are, so that this is what keeps anything else out of emitted text.

    Raises:
        CompileError: if it is not a name.
    """
    if not is_identifier(text) or keyword.iskeyword(text):
        raise CompileError(f"{text!r} cannot be a name in emitted code", None, NAMES_HINT)
    return text


def name(text: str) -> ast.expr:
    """A name."""
    return ast.Name(identifier(text), ast.Load())


def target(text: str) -> ast.expr:
    """A name that something is assigned to."""
    return _stored(text)


def _stored(text: str) -> ast.Name:
    return ast.Name(identifier(text), ast.Store())


def path(dotted: str) -> ast.expr:
    """A name with attributes: `tl.float32`."""
    first, *rest = dotted.split(".")
    node = name(first)
    for part in rest:
        node = attribute(node, part)
    return node


def attribute(value: ast.expr, part: str) -> ast.expr:
    """An attribute of a value: `box.layout`."""
    return ast.Attribute(value, identifier(part), ast.Load())


def constant(value: str | float | None) -> ast.expr:
    """A literal; infinities and NaN are calls of `float`."""
    if isinstance(value, float) and not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return call("float", ast.Constant(text))
    if isinstance(value, int | float) and math.copysign(1, value) < 0:
        # A minus sign is an operator, and must bind like one.
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def call(function: str | ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    """A call; the keyword `**` stands for a dictionary of further ones."""
    head = path(function) if isinstance(function, str) else function
    named = [ast.keyword(None if k == "**" else identifier(k), v) for k, v in keywords.items()]
    return ast.Call(head, list(args), named)


def method(
    value: ast.expr, part: str, *args: ast.expr, **keywords: ast.expr
) -> ast.expr:
    """A call of a method."""
    return call(attribute(value, part), *args, **keywords)


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


def function_of_nothing(value: ast.expr) -> ast.expr:
    """`lambda: value`"""
    arguments = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(arguments, value)


def disjunction(conditions: Sequence[ast.expr]) -> ast.expr:
    """`a or b`"""
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.Or(), list(conditions))


def conjunction(conditions: Sequence[ast.expr]) -> ast.expr:
    """`a and b and …`."""
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), list(conditions))


def tuple_of(items: Iterable[ast.expr]) -> ast.expr:
    """`(a, b)`"""
    return ast.Tuple(list(items), ast.Load())


def numbers(items: Sequence[int]) -> ast.expr:
    """`[1, 2]`"""
    return ast.List(list(map(constant, items)), ast.Load())


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
    """An expression as Python writes it; what changes it must call `forget_text`."""
    shown: str | None = getattr(node, "shown", None)
    if shown is None:
        shown = ast.unparse(node)
        setattr(node, "shown", shown)  # noqa: B010
    return shown


def forget_text(node: ast.expr) -> None:
    """Lets the text of an expression be made again, after it was changed."""
    if hasattr(node, "shown"):
        delattr(node, "shown")


class Names:
    """Gives out names: legal in Python, each once.

    Args:
        reserved: names that are taken.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *reserved}

    def fresh(self, wanted: str) -> str:
        """The wanted name, or it with a number; a name that Python knows gets an underscore."""
        if wanted.startswith("__") and wanted.endswith("__"):
            # Modules and functions have attributes of such names.
            wanted = f"{wanted}_"
        candidate, number = wanted, 0
        if candidate in self.taken and (keyword.iskeyword(wanted) or wanted in dir(builtins)):
            candidate = wanted = f"{wanted}_"
        while candidate in self.taken:
            number += 1
            candidate = f"{wanted}_{number}"
        self.taken.add(candidate)
        return candidate


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: str
    annotation: ast.expr | None = None
    default: ast.expr | None = None


def function(
    name: str,
    parameters: Sequence[Parameter],
    documentation: Sequence[str],
    body: Sequence[ast.stmt],
    keywords: Sequence[Parameter] = (),
    decorators: Sequence[ast.expr] = (),
) -> ast.FunctionDef:
    """The definition of a function.

    Args:
        name: the function's name.
        parameters: the parameters that are given by position.
        documentation: the lines of the docstring.
        body: the statements.
        keywords: the parameters that are given by keyword only.
        decorators: the decorators, outermost first.
    """
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(identifier(p.name), p.annotation) for p in parameters],
        kwonlyargs=[ast.arg(identifier(p.name), p.annotation) for p in keywords],
        kw_defaults=[p.default for p in keywords],
        defaults=[p.default for p in parameters if p.default is not None],
    )
    docstring = ast.Expr(ast.Constant("\n".join(map(one_line, documentation))))
    return ast.FunctionDef(
        name=identifier(name),
        args=arguments,
        body=[docstring, *body],
        decorator_list=list(decorators),
        lineno=1,
    )


def one_line(text: str) -> str:
    """A text with its line breaks and control characters as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Writer:
    """Builds the statements of a function's body."""

    def __init__(self) -> None:
        self.statements: list[ast.stmt] = []

    def assign(self, variable: str, value: ast.expr) -> None:
        """`variable = value`"""
        self.statements.append(ast.Assign([target(variable)], value, lineno=1))

    def assign_all(self, variables: Sequence[str], values: ast.expr) -> None:
        """`a, b = values`"""
        if len(variables) == 1:
            self.assign(variables[0], values)
            return
        targets = ast.Tuple(list(map(target, variables)), ast.Store())
        self.statements.append(ast.Assign([targets], values, lineno=1))

    def declare(self, variable: str, annotation: ast.expr, value: ast.expr) -> None:
        """`variable: annotation = value`"""
        self.statements.append(ast.AnnAssign(_stored(variable), annotation, value, simple=1))

    def expression(self, value: ast.expr) -> None:
        """An expression for its effect."""
        self.statements.append(ast.Expr(value))

    def returns(self, value: ast.expr) -> None:
        """`return value`"""
        self.statements.append(ast.Return(value))

    @contextmanager
    def loop(self, variable: str, iterable: ast.expr) -> Generator[None]:
        """`for variable in iterable:`; what is written inside is its body."""
        with self._nested() as body:
            yield
        self.statements.append(ast.For(target(variable), iterable, _some(body), [], lineno=1))

    @contextmanager
    def branch(self, condition: ast.expr | None) -> Generator[None]:
        """`if condition:`; what is written inside is its body. None stands for no condition."""
        with self._nested() as body:
            yield
        self.statements += body if condition is None else [ast.If(condition, _some(body), [])]

    @contextmanager
    def otherwise(self) -> Generator[None]:
        """`else:` of the branch that was written last; what is written inside is its body."""
        last = self.statements[-1]
        assert isinstance(last, ast.If)
        with self._nested() as body:
            yield
        last.orelse = _some(body)

    @contextmanager
    def context(self, manager: ast.expr) -> Generator[None]:
        """`with manager:`; what is written inside is its body."""
        with self._nested() as body:
            yield
        self.statements.append(ast.With([ast.withitem(manager)], _some(body), lineno=1))

    @contextmanager
    def _nested(self) -> Generator[list[ast.stmt]]:
        outer, self.statements = self.statements, []
        try:
            yield self.statements
        finally:
            self.statements = outer


def _some(body: list[ast.stmt]) -> list[ast.stmt]:
    return body or [ast.Pass()]
