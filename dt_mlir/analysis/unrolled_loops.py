"""Loops of the `tile` level that are unrolled by all of their trips."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile

FACTOR = "loop_unroll_factor"
"""The option of `tl.range` that says how many trips become one."""


def unrolled_trips(op: scf.ForOp) -> range | None:
    """Returns the indices of a loop that is unrolled by all of its trips, or None.

    The bounds of such a loop are constants, and nothing else is asked of it.
    """
    options = op.attributes.get(tile.RANGE_OPTIONS)
    known = [constant_index(value) for value in (op.lb, op.ub, op.step)]
    first, last, step = known
    if first is None or last is None or step is None or step < 1:
        return None
    if not isinstance(options, DictionaryAttr) or [*options.data] != [FACTOR]:
        return None
    factor = options.data[FACTOR]
    trips = range(first, last, step)
    if not isinstance(factor, IntegerAttr) or not trips:
        return None
    return trips if last - first <= factor.value.data * step else None
