"""Prints modules: no line over 100 columns, and kernels alone where only they are wanted."""

from __future__ import annotations

import re
from io import StringIO
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from dt_mlir.dialects.functions import WIDTH
from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.traversal import operations

_STRING = r'"(?:[^"\\]|\\.)*"'
_BREAKS = (
    re.compile(
        _STRING + r"| (?=iter_args\(|-> |attributes \{|masked \[|eviction_policy |order \[)"
    ),
    re.compile(_STRING + r"|(?<=,) "),
)
"""Strings, and the spaces at which a line may be broken: rather before a clause than in a list."""

_CONTINUED = 4
"""The columns by which the rest of a broken line is indented further."""


def module_text(
    module: ModuleOp,
    debuginfo: bool = False,
    generic: bool = False,
    kernels_only: bool = False,
) -> str:
    """Returns the text of a module, without a line break at its end.

    Args:
        module: the module, of any level.
        debuginfo: whether to print locations. Lines are as long as they get then.
        generic: whether to print operations in their generic form, in lines as long as they get.
        kernels_only: whether to print the kernels alone, without the module around them.
    """
    stream = StringIO()
    printed = [op for op in module.ops if isinstance(op, KernelOp)] if kernels_only else [module]
    for i, op in enumerate(printed):
        if i:
            stream.write("\n")
        Printer(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo).print_op(op)
    text = stream.getvalue()
    if debuginfo or generic:
        return text
    return "\n".join(_wrapped(line) for line in text.split("\n"))


class Line(NamedTuple):
    """A line of a module's text."""

    text: str
    operations: tuple[Operation, ...]
    """The operation that the line is of, first, and those in it that have no lines of their own."""


class _Tracker(Printer):
    """A printer that notes where operations begin and end."""

    def __init__(self, stream: StringIO) -> None:
        super().__init__(stream=stream)
        self.text = stream
        self.spans: list[tuple[int, int, Operation]] = []

    def print_op(self, op: Operation) -> None:
        number, start = len(self.spans), self.text.tell()
        self.spans.append((start, start, op))
        super().print_op(op)
        self.spans[number] = start, self.text.tell(), op


def module_lines(module: ModuleOp) -> list[Line]:
    """Returns the lines of `module_text`, each with its operations.

    Args:
        module: the module, of any level.
    """
    stream = StringIO()
    tracker = _Tracker(stream)
    tracker.print_op(module)
    inner: dict[Operation, list[Operation]] = {op: [] for _, _, op in tracker.spans}
    for op in operations(module):
        owner: Operation | None = op
        while owner is not None and owner not in inner:
            owner = owner.parent_op()
        if owner is not None and owner is not op:
            inner[owner].append(op)
    lines: list[Line] = []
    pending = iter(tracker.spans)
    following = next(pending, None)
    open_: list[tuple[int, Operation]] = []
    position = 0
    for text in stream.getvalue().split("\n"):
        end = position + len(text)
        while open_ and open_[-1][0] <= position + len(text) - len(text.lstrip()):
            open_.pop()
        own = open_[-1][1] if open_ else module
        unprinted: list[Operation] = []
        first = True
        while following is not None and following[0] < end:
            own = following[2] if first else own
            first = False
            open_ += [(following[1], following[2])]
            unprinted += inner[following[2]]
            following = next(pending, None)
        found = (own, *unprinted)
        lines += [Line(part, found) for part in _wrapped(text).split("\n")]
        position = end + 1
    return lines


def _wrapped(line: str) -> str:
    """Breaks a line that is too long; each break is the last that leaves a part short enough."""
    indent = len(line) - len(line.lstrip())
    parts: list[str] = []
    while len(line) > WIDTH:
        place = next((p for p in (_last_break(line, indent, b) for b in _BREAKS) if p), None)
        if place is None:
            break
        parts.append(line[:place])
        indent += 0 if len(parts) > 1 else _CONTINUED
        line = " " * indent + line[place + 1 :]
    return "\n".join([*parts, line])


def _last_break(line: str, indent: int, breaks: re.Pattern[str]) -> int | None:
    """Returns the last place of a kind that leaves the start of a line short enough."""
    places = [found.start() for found in breaks.finditer(line, indent) if found.group() == " "]
    return max((place for place in places if indent < place <= WIDTH), default=None)
