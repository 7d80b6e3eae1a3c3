"""The common part of the interpreters of the host part and of the levels."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.interpreter import InterpreterFunctions

from dt_mlir.interpreters.arithmetic import Arithmetic


class LevelFunctions(InterpreterFunctions):
    """Implementations of one level's operations.

    Args:
        arithmetic: what elements are.
        sizes: the size of each label.
    """

    def __init__(self, arithmetic: Arithmetic, sizes: Mapping[str, int]) -> None:
        self.arithmetic = arithmetic
        self.sizes = sizes
