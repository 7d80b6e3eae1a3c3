"""The reason of an error that Triton raises, in one line."""

from __future__ import annotations


def reason_of(error: BaseException) -> str:
    """Returns what an error says.

    Where functions call each other, Triton raises an error in each of them, which shows the place
    of the call and nothing else: the innermost one has the reason.

    Args:
        error: what Triton, one of its backends or LLVM raised.
    """
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    lines = [line for line in str(error).splitlines() if line.strip(" ^")]
    return lines[-1].strip() if lines else type(error).__name__
