"""Names of a program's things, and of element types."""

from __future__ import annotations

import keyword

from dt_mlir.element_types import ELEMENT_TYPES, TORCH_TYPES
from dt_mlir.frontend.symbols import CONSTANTS
from dt_mlir.frontend.syntax import Declaration, Position
from dt_mlir.language.places import here, is_a, refusal, serial

_WORDS = ("Func", "In", "SIn", "Var", "RVar", "none")
_PARAMETERS = ("self", "out")
"""Parameters of every kernel; inputs and sizes, which are passed by name, have other names."""


class Named:
    """Something with a name in the program."""

    name: str


class Declared(Named):
    """Something that a program declares.

    Args:
        name: what programs, messages and the generated code call it.
        type: DT's name of an element type, or PyTorch's type; None where it follows.
    """

    kind = ""

    def __init__(self, name: str, type: object = None) -> None:
        if not is_a(name, str) or not name.isascii() or not name.isidentifier():
            raise refusal(f"{name!r} is not a name")
        if keyword.iskeyword(name) or name in _WORDS:
            raise refusal(f"'{name}' is a word of the language or of Python", "choose another name")
        if name in _PARAMETERS and self.kind != "Func":
            raise refusal(f"'{name}' is a parameter of every kernel", "choose another name")
        if name in CONSTANTS:
            raise refusal(f"'{name}' is a constant of the language", "choose another name")
        self.name = name
        self.at: Position = here()
        self.serial = next(serial)
        self.type = None if type is None else type_name_of(type)

    @property
    def declaration(self) -> Declaration:
        """The declaration in a syntax tree."""
        return Declaration(self.kind, self.name, self.type, self.at, self.at)

    def __repr__(self) -> str:
        return self.name


def type_name_of(type: object) -> str:
    """DT's name of an element type: `f16`, `"f16"` or `torch.float16`.

    Raises:
        CompileError: if there is no such type.
    """
    shown = str(type)
    name = type_of_torch(type) or shown
    if name not in ELEMENT_TYPES:
        raise refusal(f"'{shown}' is not an element type", f"there are {', '.join(ELEMENT_TYPES)}")
    return name


def type_of_torch(type: object) -> str | None:
    """DT's name of PyTorch's type; None if there is none."""
    shown = str(type).removeprefix("torch.")
    return next((name for name, theirs in TORCH_TYPES.items() if theirs == shown), None)
