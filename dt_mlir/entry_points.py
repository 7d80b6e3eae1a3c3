"""Loads what other packages name in entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import TypeVar

from dt_mlir.diagnostics import CompileError

T = TypeVar("T")


def load_entry_points(
    group: str, cls: type[T], shown: str, define: Callable[[T], None]
) -> None:
    """Loads what the entry points of a group name, and makes it known.

    Args:
        group: the group.
        cls: the class of what they name.
        shown: the name of the class in messages.
        define: makes one known; it raises a `ValueError` where that is not possible.

    Raises:
        CompileError: naming the package, if something cannot be loaded or made known.
    """
    for point in metadata.entry_points(group=group):
        package = point.value.partition(":")[0] if point.dist is None else point.dist.name
        try:
            found = point.load()
        except Exception as error:
            raise CompileError(
                f"the package '{package}' cannot be loaded: {type(error).__name__}: {error}",
                None, f"mend or uninstall '{package}'",
            ) from error
        if not isinstance(found, cls):
            raise CompileError(
                f"the package '{package}' defines '{point.name}' as a {type(found).__name__}",
                None, f"an entry point of {group} names a value of class {shown}",
            )
        try:
            define(found)
        except ValueError as error:
            raise CompileError(
                f"the package '{package}' defines a function that cannot be used: {error}",
                None, f"mend or uninstall '{package}'",
            ) from None
