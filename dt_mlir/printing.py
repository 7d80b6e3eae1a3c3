"""Prints modules: no line over 100 columns, and kernels alone where only they are wanted."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from dt_mlir.dialects.functions import WIDTH
from dt_mlir.dialects.kernel import KernelOp

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
