"""Expressions of DT in Python: Python's operators build a syntax tree."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Never

from dt_mlir.frontend import syntax
from dt_mlir.frontend.syntax import Call, Infix, Name, Number, Prefix
from dt_mlir.language.names import Declared, type_name_of
from dt_mlir.language.places import here, refusal

Value = "Expr | int | float | bool"
"""The operands of expressions; numbers have no type of their own."""


_METHODS = {
    name: f"r{name}" for name in "sum prod max min mean any all argmax argmin dot".split()
} | {name: name for name in "exp log sqrt sigmoid relu tanh abs clamp".split()}
"""The functions on expressions by the names of tensors' methods."""

_OF_FUNCTIONS = frozenset(
    "compile autotuned block tensorize map fuse_at align_storage num_warps num_stages precision "
    "math".split()
)
"""The names of functions' methods."""


class Expr:
    """An expression; operators on it build larger ones.

    `&`, `|` and `~` are the operators on bits, which are those on truth values, too; Python's
    own `and`, `or` and `not` cannot be given a meaning.
    """

    def __init__(self, node: syntax.Expr, uses: Iterable[Declared] = ()) -> None:
        self.node = node
        self.uses = frozenset(uses)
        """The labels, inputs and functions that it names."""

    def __repr__(self) -> str:
        from dt_mlir.frontend.printer import print_expression

        return print_expression(self.node)

    __hash__ = object.__hash__
    __array_ufunc__ = None
    """NumPy's scalars leave operators to this class."""

    def __bool__(self) -> Never:
        raise refusal(
            "an expression has no truth value while the program is written",
            "write '&', '|', '~' and where(…) for and, or, not and if; and '(0 < a) & (a < 9)'",
        )

    def __iter__(self) -> Never:
        raise TypeError("an expression is not a sequence")

    def __getattr__(self, name: str) -> Never:
        # Python asks for many names of its own, and takes this error for a no.
        function = _METHODS.get(name)
        if name.startswith("__"):
            raise AttributeError(name)
        if function is not None:
            reduces = function != name
            form = "(…, k) with the labels to reduce over" if reduces else "(…)"
            raise AttributeError(
                f"an expression has no method '{name}'; write dt_mlir.{function}{form}"
            )
        if name in _OF_FUNCTIONS:
            raise AttributeError(
                f"an expression has no '{name}': it is not a function; define one, as in "
                f"'f = dt_mlir.Func(\"f\"); f[x, …] = …', and write f.{name}(…)"
            )
        raise AttributeError(f"an expression has no attribute '{name}'")

    def __float__(self) -> Never:
        raise refusal(
            "an expression is not a number while the program is written",
            "write dt_mlir.sqrt(…) in place of math.sqrt(…), and so for other functions",
        )

    __int__ = __index__ = __float__

    def __matmul__(self, other: object) -> Never:
        raise refusal(
            "there is no operator '@' on expressions",
            "a product names the label that it sums over: rdot(A[x, k], B[k, y], k)",
        )

    __rmatmul__ = __matmul__

    @classmethod
    def __torch_function__(cls, function: Any, *others: object) -> Never:
        name = getattr(function, "__name__", "it")
        raise refusal(
            f"PyTorch's '{name}' computes tensors, and this is an expression of an algorithm",
            f"there may be a dt_mlir.{name}",
        )

    def __add__(self, other: object) -> Expr:
        return _infix("+", self, other)

    def __radd__(self, other: object) -> Expr:
        return _infix("+", other, self)

    def __sub__(self, other: object) -> Expr:
        return _infix("-", self, other)

    def __rsub__(self, other: object) -> Expr:
        return _infix("-", other, self)

    def __mul__(self, other: object) -> Expr:
        return _infix("*", self, other)

    def __rmul__(self, other: object) -> Expr:
        return _infix("*", other, self)

    def __truediv__(self, other: object) -> Expr:
        return _infix("/", self, other)

    def __rtruediv__(self, other: object) -> Expr:
        return _infix("/", other, self)

    def __floordiv__(self, other: object) -> Expr:
        return _infix("//", self, other)

    def __rfloordiv__(self, other: object) -> Expr:
        return _infix("//", other, self)

    def __mod__(self, other: object) -> Expr:
        return _infix("%", self, other)

    def __rmod__(self, other: object) -> Expr:
        return _infix("%", other, self)

    def __pow__(self, other: object) -> Expr:
        return _infix("**", self, other)

    def __rpow__(self, other: object) -> Expr:
        return _infix("**", other, self)

    def __and__(self, other: object) -> Expr:
        return _infix("&", self, other)

    def __rand__(self, other: object) -> Expr:
        return _infix("&", other, self)

    def __or__(self, other: object) -> Expr:
        return _infix("|", self, other)

    def __ror__(self, other: object) -> Expr:
        return _infix("|", other, self)

    def __xor__(self, other: object) -> Expr:
        return _infix("^", self, other)

    def __rxor__(self, other: object) -> Expr:
        return _infix("^", other, self)

    def __lshift__(self, other: object) -> Expr:
        return _infix("<<", self, other)

    def __rlshift__(self, other: object) -> Expr:
        return _infix("<<", other, self)

    def __rshift__(self, other: object) -> Expr:
        return _infix(">>", self, other)

    def __rrshift__(self, other: object) -> Expr:
        return _infix(">>", other, self)

    def __lt__(self, other: object) -> Expr:
        return _infix("<", self, other)

    def __le__(self, other: object) -> Expr:
        return _infix("<=", self, other)

    def __gt__(self, other: object) -> Expr:
        return _infix(">", self, other)

    def __ge__(self, other: object) -> Expr:
        return _infix(">=", self, other)

    def __eq__(self, other: object) -> Expr:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _infix("==", self, other)

    def __ne__(self, other: object) -> Expr:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _infix("!=", self, other)

    def placed(self) -> Expr:
        """The expression where it is used; a name stands wherever it is written."""
        return self

    def __neg__(self) -> Expr:
        return Built(Prefix("-", self.placed().node, here()), self.uses)

    def __pos__(self) -> Expr:
        return self

    def __invert__(self) -> Expr:
        return Built(Prefix("~", self.placed().node, here()), self.uses)

    def __abs__(self) -> Expr:
        return call("abs", self)


class Built(Expr):
    """Builds the expression of an operator or a call.

    A class beside those of labels and scalars: Python asks the right side of a comparison first
    where its class is derived from the left side's, and would turn the comparison around.
    """


def expression(value: object) -> Expr:
    """A value as an expression.

    Raises:
        CompileError: if it is neither an expression nor a number.
    """
    if isinstance(value, Expr):
        return value.placed()
    if isinstance(value, bool):
        raise refusal("a truth value cannot stand in an expression", "write 1 or 0")
    if isinstance(value, Integral):
        value = int(value)
        if not -(2**63) <= value < 2**63:
            raise refusal("the number does not fit in 64 bits")
        if value == -(2**63):
            # Text has a minus before a number, and 2**63 is none.
            return Built(Infix("-", Number(value + 1, here()), Number(1, here()), here()))
        return Built(Number(value, here()))
    if isinstance(value, Real):
        value = float(value)
        if math.isnan(value):
            return Built(Name("nan", here()))
        if math.isinf(value):
            name = Name("inf", here())
            return Built(name if value > 0 else Prefix("-", name, here()))
        return Built(Number(value, here()))
    unread = getattr(value, "unread", None)
    if unread is not None:
        unread()
    what = type(value).__name__
    hint = "In(…) stands for a tensor; the compiled kernel is called with one"
    raise refusal(
        f"a {what} cannot stand in an expression", hint if what == "Tensor" else None
    )


def _infix(operator: str, left: object, right: object) -> Expr:
    a, b = expression(left), expression(right)
    return Built(Infix(operator, a.node, b.node, here()), a.uses | b.uses)


def call(name: str, *arguments: object) -> Expr:
    """A call of a function of the language, which is checked when the program is compiled."""
    found = [expression(value) for value in arguments]
    uses = {used for item in found for used in item.uses}
    return Built(Call(name, tuple(item.node for item in found), here()), uses)


def cast(value: object, type: object) -> Expr:
    """A value in another element type.

    Args:
        value: an expression.
        type: DT's name of the type, or PyTorch's type.

    Raises:
        CompileError: if there is no such type.
    """
    found = expression(value)
    return Built(Call("cast", (found.node, Name(type_name_of(type), here())), here()), found.uses)


def where(condition: object, yes: object, no: object) -> Expr:
    """One of two values for each element, by a truth value.

    Args:
        condition: an expression whose type is bool.
        yes: where it is true: an expression or a number, of any type.
        no: where it is false, of a type that goes with that of `yes`.

    Raises:
        CompileError: for what is neither an expression nor a number.
    """
    return call("where", condition, yes, no)


def reshape(value: object, *shape: object) -> Expr:
    """A value with labels in place of its own, as the language's `reshape` has it."""
    return call("reshape", value, *shape)


def size(tensor: object, axis: int) -> Expr:
    """The size of an axis of a tensor, an i32.

    Args:
        tensor: an `In` or a `Func`.
        axis: the axis, from 0.

    Raises:
        CompileError: for what is not a tensor.
    """
    if not isinstance(tensor, Declared) or not hasattr(tensor, "unread"):
        raise refusal(f"{tensor!r} is not a tensor", "size takes an In or a Func, and an axis")
    return call("size", Built(Name(tensor.name, here()), {tensor}), axis)


def length(label: object) -> Expr:
    """The size of a label, an i32.

    Args:
        label: a `Var` or an `RVar`.
    """
    return call("len", label)
