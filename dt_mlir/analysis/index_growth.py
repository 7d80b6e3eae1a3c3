"""The growth of an index with the labels that it is computed of, found by evaluating it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr

_MOST_REPEATS = 32
"""The points with one index that are looked for."""


def growth(expr: AffineExpr, dim: int, symbols: Sequence[int]) -> tuple[int, int]:
    """Returns by how much an index grows with one of its dimensions, and after how many steps.

    The growth is 0 where it does not grow evenly.
    """
    dims = [0] * (max(expr.used_dims(), default=-1) + 1)
    values: list[int] = []
    for step in range(_MOST_REPEATS + 1):
        dims[dim] = step
        values.append(expr.eval(dims, symbols))
        if values[-1] != values[0]:
            break
    repeats, distance = len(values) - 1, values[-1] - values[0]
    dims[dim] = 2 * repeats
    even = expr.eval(dims, symbols) - values[0] == 2 * distance
    return (distance, repeats) if even else (0, 1)


def coefficient(expr: AffineExpr, dim: int, symbols: Sequence[int]) -> int:
    """Returns by how much an index grows with one of its dimensions, at 0."""
    dims = [0] * (max(expr.used_dims(), default=-1) + 1)
    start = expr.eval(dims, symbols)
    dims[dim] = 1
    return expr.eval(dims, symbols) - start
