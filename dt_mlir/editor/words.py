"""The words of the language by what they are, from the grammar and the registries."""

from __future__ import annotations

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.callables import RESERVED
from dt_mlir.editor.tokens import reserved_words
from dt_mlir.element_types import ELEMENT_TYPES
from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.symbols import CONSTANTS


def kinds() -> tuple[str, ...]:
    """Returns the words that begin declarations."""
    return reserved_words()["KIND"]


def operators() -> tuple[str, ...]:
    """Returns the operators that are words."""
    words = reserved_words()
    return tuple(word for name in ("AND", "OR", "NOT") for word in words[name])


def constants() -> tuple[str, ...]:
    """Returns the names of numbers, and the word for no directives."""
    return (*CONSTANTS, *reserved_words()["NONE"])


def element_types() -> tuple[str, ...]:
    """Returns the element types."""
    return tuple(ELEMENT_TYPES)


def functions() -> tuple[str, ...]:
    """Returns what expressions may call: functions, boundary conditions, reductions and the rest.

    Those of other packages are among them once a program has used one.
    """
    return tuple(sorted({*FUNCTIONS, *BOUNDARIES, *RESERVED}))
