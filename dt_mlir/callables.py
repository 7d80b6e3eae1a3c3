"""The names that programs call, of which each has one meaning: functions, boundary conditions.

The tables of this package are in `elementwise` and `boundary_conditions`. Other packages add to
them here: in entry points, or in files that are loaded.
"""

from __future__ import annotations

from functools import cache

from dt_mlir.boundary_conditions import BOUNDARIES, BoundaryCondition
from dt_mlir.elementwise import APPLICABLE, FUNCTIONS, OPERATORS, Function
from dt_mlir.entry_points import load_entry_points

RESERVED = frozenset(
    "rsum rprod rmax rmin rmean rany rall rargmax rargmin rdot len size cast where reshape".split()
)
"""The names that programs call with a meaning of their own, besides boundary conditions."""


def is_taken(name: str) -> bool:
    """Returns whether a name is that of a function, an operator or another part of the language."""
    return any(name in names for names in (FUNCTIONS, OPERATORS, RESERVED, BOUNDARIES))


def define(function: Function) -> None:
    """Makes a function known to programs, as one of another package's.

    Args:
        function: the function; it needs an `expansion`.

    Raises:
        ValueError: if there is something of its name, or its definition is not complete.
    """
    name = function.name
    if not _is_new(function, FUNCTIONS.get(name)):
        return
    if function.expansion is None or (function.float_op, function.int_op) != (None, None):
        raise ValueError(f"the function '{name}' needs an expansion, and no upstream operation")
    FUNCTIONS[name] = APPLICABLE[name] = function


def define_boundary(condition: BoundaryCondition) -> None:
    """Makes a boundary condition known to programs, as one of another package's.

    Args:
        condition: the condition; it needs a `place`.

    Raises:
        ValueError: if there is something of its name, or its definition is not complete.
    """
    name = condition.name
    if not _is_new(condition, BOUNDARIES.get(name)):
        return
    if condition.place is None:
        raise ValueError(f"the boundary condition '{name}' needs a place")
    BOUNDARIES[name] = condition


def _is_new(
    given: Function | BoundaryCondition, known: Function | BoundaryCondition | None
) -> bool:
    if given == known:
        return False
    if is_taken(given.name):
        raise ValueError(f"there is a function '{given.name}' already")
    if not given.name.isidentifier() or given.name.startswith("_"):
        raise ValueError(f"'{given.name}' is not a name that a program can call")
    return True


def find_function(name: str) -> Function | None:
    """Returns the function of a name, of this package or of another one; None if there is none.

    Other packages name theirs in the entry point group `dt_mlir.functions`, which is read where a
    name is not known otherwise.

    Raises:
        CompileError: if a package's functions cannot be loaded.
    """
    if not is_taken(name):
        load_others()
    return FUNCTIONS.get(name)


@cache
def load_others() -> None:
    """Makes the functions and boundary conditions of other packages known.

    Raises:
        CompileError: naming the package, if something of it cannot be loaded or defined.
    """
    load_entry_points("dt_mlir.functions", Function, "elementwise.Function", define)
    load_entry_points(
        "dt_mlir.boundaries", BoundaryCondition, "boundary_conditions.BoundaryCondition",
        define_boundary,
    )  # fmt: skip
