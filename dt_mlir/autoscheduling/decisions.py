"""Decisions of a schedule: directives as data, each with the reason for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dt_mlir.dialects.sched import Argument
from dt_mlir.frontend.syntax import NOWHERE, DirectiveCall
from dt_mlir.registry import find_directive
from dt_mlir.scheduling.directive import Directive


@dataclass(frozen=True)
class Decision:
    """A directive and why it is there."""

    function: str
    """The function that it is applied to."""
    name: str
    """The directive's name."""
    arguments: tuple[Argument, ...]
    reason: str = ""
    """A short clause that says why, for a reader of the schedule."""
    stored: tuple[str, ...] = ()
    """The functions that the kernel stores beside its root because of it."""

    @property
    def directive(self) -> Directive:
        """The directive."""
        cls = find_directive(self.name)
        assert cls is not None
        return cls.decode(self.function, self.arguments)

    @property
    def text(self) -> str:
        """The directive as DT: `mm.block(x:128);`"""
        return self.directive.text()


def copies(decisions: Iterable[Decision]) -> set[str]:
    """Returns the functions that copy what others read, by some decisions."""
    return {str(item.arguments[1].value) for item in decisions if item.name == "cache_read"}


def sized(function: str, name: str, sizes: dict[str, int], reason: str = "") -> Decision:
    """Returns a decision whose arguments are labels with numbers."""
    arguments = tuple(Argument(label, size) for label, size in sizes.items())
    return Decision(function, name, arguments, reason)


def plain(
    function: str, name: str, *values: str | int, reason: str = "", stored: Iterable[str] = ()
) -> Decision:
    """Returns a decision whose arguments are names and numbers."""
    arguments = tuple(Argument(None, value) for value in values)
    return Decision(function, name, arguments, reason, tuple(stored))


def calls(decisions: Sequence[Decision]) -> list[DirectiveCall]:
    """Returns decisions as the directives of a program."""
    return [
        DirectiveCall(item.function, item.name, item.arguments, NOWHERE, reason=item.reason)
        for item in decisions
    ]
