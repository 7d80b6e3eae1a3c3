"""Labels, inputs and functions of DT in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

from dt_mlir.frontend.syntax import Declaration, Definition, Name, Read
from dt_mlir.language.expressions import Built, Expr, expression
from dt_mlir.language.names import Declared
from dt_mlir.language.places import here, refusal, serial
from dt_mlir.language.schedule import Schedule, ScheduledFunction


class _Value(Declared, Expr):
    """A name that stands in expressions by itself."""

    def __init__(self, name: str, type: object = None) -> None:
        Declared.__init__(self, name, type)
        Expr.__init__(self, Name(name, self.at), [self])

    __repr__ = Declared.__repr__

    def placed(self) -> Expr:
        return Built(Name(self.name, here()), self.uses)


class Label(_Value):
    """A label, which names an index; in an expression it is the index, an i32."""

    def __init__(self, name: str, size: object = None) -> None:
        super().__init__(name)
        self.size = None if size is None else expression(size)
        """The size, if it is declared; it depends on other labels and on tensors."""

    @property
    def declaration(self) -> Declaration:
        size = None if self.size is None else self.size.node
        return Declaration(self.kind, self.name, None, self.at, self.at, size)


class Var(Label):
    """A label of functions' results; in an expression it is the index, an i32.

    Args:
        name: what programs, messages and generated code call it.
        size: its size, where that is not the size of an axis: a number, or an expression of `size`,
            `len` and `+ - * // %`.

    Raises:
        CompileError: if that is not a name, or a word of the language or of Python, or the size is
            not an expression.
    """

    kind = "Var"


class RVar(Label):
    """A label that reductions run over; in an expression it is the index, an i32.

    Args:
        name: as for `Var`.
        size: as for `Var`.

    Raises:
        CompileError: as for `Var`.
    """

    kind = "RVar"


class _Tensor(Declared):
    """The base of a read."""

    def __iter__(self) -> Never:
        raise TypeError(f"'{self.name}' is read at labels, and is not a sequence")

    def unread(self, *others: object) -> Never:
        """Refuses the tensor where one of its elements is meant."""
        raise refusal(
            f"'{self.name}' stands for all its elements here",
            f"read one at labels, as in {self.name}[x], or {self.name}[()] if it has none",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = unread
    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = unread
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = unread
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __invert__ = __matmul__ = unread

    def __getitem__(self, indices: object) -> Expr:
        """An element: `A[x, k]`, `A[x + 1, 0]`; `total[()]` of what has no labels."""
        found = [expression(index) for index in _as_tuple(indices)]
        uses = {used for item in found for used in item.uses}
        at = here()
        node = Read(self.name, tuple(item.node for item in found), at)
        # The text of a function without labels has no brackets; that of a tensor always has.
        named = not found and self.kind == Func.kind
        return Built(Name(self.name, at) if named else node, uses | {self})


def _as_tuple(indices: object) -> Sequence[object]:
    return indices if isinstance(indices, tuple) else (indices,)


class In(_Tensor):
    """A tensor that the program is given, of as many axes as it is read at: `A[x, k]` has two.

    Its sizes are those of the labels at which it is read; its strides may be any.

    Args:
        name: as for `Var`.
        type: an element type, by DT's name (`"bf16"`) or PyTorch's (`torch.bfloat16`); None for
            that of the tensor which the kernel is called with.

    Raises:
        CompileError: as for `Var`, and if there is no such type.
    """

    kind = "In"


class SIn(_Value):
    """A number that the program is given.

    Args:
        name: as for `Var`.
        type: its type, as for `In`; None for f32.

    Raises:
        CompileError: as for `In`.
    """

    kind = "SIn"


class Func(_Tensor, ScheduledFunction):
    """A function of labels, defined once: `mm[x, y] = rdot(A[x, k], B[k, y], k)`.

    It has an element for each index of its labels, of which there may be any number, or none:
    `total[()] = …`. Others read it as `mm[x, y]`. Its directives are methods, which can be chained:
    `mm.block(x=128, y=128).num_warps(8)`.

    Args:
        name: as for `Var`.
        type: its element type, as for `In`; None for that of its expression.

    Raises:
        CompileError: as for `In`.
    """

    kind = "Func"

    def __init__(self, name: str, type: object = None) -> None:
        Declared.__init__(self, name, type)
        ScheduledFunction.__init__(self, name, Schedule())
        self.definition: tuple[int, Definition, frozenset[Declared]] | None = None

    def __setitem__(self, labels: object, value: object) -> None:
        """Defines the function.

        Args:
            labels: the labels of its axes, in order.
            value: an expression, or a number.

        Raises:
            CompileError: if it is defined already, or these are neither labels nor an expression.
        """
        found = _as_tuple(labels)
        names: list[str] = []
        uses: set[Declared] = set()
        for label in found:
            if not isinstance(label, Label):
                raise refusal(f"'{self.name}' is defined for labels, and {label!r} is none")
            names.append(label.name)
            uses.add(label)
        if self.definition is not None:
            raise refusal(f"'{self.name}' is defined twice")
        wanted = expression(value)
        if self in wanted.uses:
            shown = ", ".join(names)
            raise refusal(
                f"'{self.name}' is defined by itself",
                "a function is defined once, and nothing is added to it; a sum over a label is "
                f"{self.name}[{shown}] = rsum(A[{shown}, k], k)",
            )
        at = here()
        places = tuple(at for _ in names)
        definition = Definition(self.name, tuple(names), wanted.node, at, places)
        self.definition = next(serial), definition, frozenset(uses | wanted.uses)
