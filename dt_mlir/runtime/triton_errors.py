"""The reason of an error that Triton raises, in one line."""

from __future__ import annotations

from collections.abc import Iterator


def reason_of(error: BaseException) -> str:
    """Returns what an error says.

    Where functions call each other, Triton raises an error in each of them, which shows the place
    of the call and nothing else, and which the next one inwards has caused. What ptxas says stands
    behind a mark, before the command that it was called with.

    Args:
        error: what Triton, one of its backends or LLVM raised.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    lines = list(_lines(str(error)))
    return lines[-1] if lines else type(error).__name__


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("Repro command"):
            return
        if line.strip(" ^`"):
            yield line.strip()
