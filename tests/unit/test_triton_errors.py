"""The reasons of Triton's errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dt_mlir.runtime.triton_errors import reason_of


def nested() -> None:
    try:
        try:
            raise ValueError("at 3:4:\n    x = y\n        ^\nNameError('y is not defined')")
        except ValueError as error:
            raise ValueError("at 9:0:\n    inner(\n    ^") from error
    except ValueError as error:
        raise ValueError("at 12:0:\n    outer(\n    ^") from error


def of_ptxas() -> None:
    try:
        raise OSError("Command 'ptxas /tmp/a1.ptx' returned non-zero exit status 255.")
    except OSError:
        message = "`ptxas` failed with error code 255\n`ptxas` stderr:\nfatal: no such register\n"
        raise RuntimeError(f"{message}Repro command: ptxas /tmp/a1.ptx\n")  # noqa: B904


def hidden() -> None:
    try:
        raise KeyError("x")
    except KeyError:
        raise RuntimeError("what the user did wrong") from None


def silent() -> None:
    raise MemoryError


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        (nested, "NameError('y is not defined')"),
        (of_ptxas, "fatal: no such register"),
        (hidden, "what the user did wrong"),
        (silent, "MemoryError"),
    ],
)
def test_the_reason_is_the_innermost(fails: Callable[[], None], reason: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any of them
        fails()
    assert reason_of(caught.value) == reason
