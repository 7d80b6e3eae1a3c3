"""Chooses fill values of loads that give a value a wanted number where a mask is false.

The search goes forward from the loads: for each value it keeps numbers that the value can have,
each with the fill values that lead there. Numbers that need the likeliest fill values come first,
and `KEPT` of them are kept, so that the search takes time linear in the number of operations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue

from dt_mlir.analysis.known_numbers import Number, evaluate_op
from dt_mlir.analysis.masked_values import Pads, beyond, masked_select
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axis_names, element_of

KEPT = 8
"""The largest number of numbers that are kept of one value."""


def _candidates(type: Attribute, wanted: Number) -> list[Number]:
    """Returns candidates for the fill value of masked elements of a type, likeliest first."""
    if isinstance(type, AnyFloat):
        if type.bitwidth == 8:
            # f8e4m3 has no infinities.
            return [0.0, 1.0]
        return list(dict.fromkeys([0.0, float(wanted), -math.inf, math.inf, 1.0]))
    assert isinstance(type, IntegerType)
    width = type.width.data
    if width == 1:
        return [0, -1]
    fits = -(2 ** (width - 1)) <= wanted < 2 ** (width - 1)
    return list(dict.fromkeys([0, 1, *([int(wanted)] if fits else [])]))


class _Reached(NamedTuple):
    """A number that a value has under some choices of fill values."""

    choices: tuple[tuple[int, int], ...]
    """The loads whose fill value is not the likeliest, by their negated number, with the number of
    the fill value. Of two choices for as many loads the lesser tuple keeps the likeliest fill
    values of the first loads."""
    number: Number


class _Reach(NamedTuple):
    """The numbers that a value can have, and the loads that they depend on."""

    numbers: Sequence[_Reached]
    loads: frozenset[int]


_NOWHERE = _Reach((), frozenset())


class _Search:
    def __init__(self, mask: SSAValue, wanted: Number, decided: Pads) -> None:
        self.mask, self.wanted, self.decided = mask, wanted, decided
        self.loads: dict[tile.LoadOp, list[Number]] = {}
        self.known: dict[SSAValue, _Reach] = {}

    def run(self, value: SSAValue) -> Iterator[Pads]:
        """Yields choices of fill values that may give a value the wanted number."""
        for choices, number in self.reach(value).numbers:
            if same(number, self.wanted):
                chosen = {-place: index for place, index in choices}
                yield {
                    load: candidates[chosen.get(place, 0)]
                    for place, (load, candidates) in enumerate(self.loads.items())
                }

    def reach(self, value: SSAValue) -> _Reach:
        """Returns the numbers that a tile or a scalar can have where the mask is false."""
        if value not in self.known:
            self.known[value] = self._reach(value)
        return self.known[value]

    def _reach(self, value: SSAValue) -> _Reach:
        owner = value.owner
        match owner:
            case tile.LoadOp() if self.mask in owner.masks and owner not in self.decided:
                candidates = _candidates(element_of(owner.result.type), self.wanted)
                place = len(self.loads)
                self.loads[owner] = candidates
                numbers = [
                    _Reached(((-place, index),) if index else (), number)
                    for index, number in enumerate(candidates)
                ]
                return _Reach(numbers, frozenset({place}))
            case tile.MapOp():
                selected = masked_select(owner)
                if selected is None or selected[0] is not self.mask:
                    return self._map(owner)
            case tile.TransposeOp() | tile.BroadcastOp():
                along = axis_names(self.mask.type)[0] in axis_names(value.type)
                return self.reach(owner.value) if along else _NOWHERE
            case _:
                pass
        number = beyond(value, self.mask, self.decided)
        return _NOWHERE if number is None else _Reach((_Reached((), number),), frozenset())

    def _map(self, op: tile.MapOp) -> _Reach:
        block = op.body.block
        values: dict[SSAValue, _Reach] = {
            arg: _Reach((_Reached((), 0),), frozenset())
            if operand is self.mask
            else self.reach(operand)
            for arg, operand in zip(block.args, op.inputs)
        }
        for inner in block.ops:
            if inner.results:
                operands = [values[operand] for operand in inner.operands]
                found: list[_Reached] = []
                numbers = [operand.numbers or (None,) for operand in operands]
                for parts in itertools.product(*numbers):
                    choices = _merged(parts, operands)
                    if choices is None:
                        continue
                    number = evaluate_op(inner, [p and p.number for p in parts])
                    if number is not None:
                        found.append(_Reached(choices, number))
                loads = frozenset[int]().union(*(operand.loads for operand in operands))
                values[inner.results[0]] = _Reach(_likeliest(found), loads)
        return values[op.yielded]


def _merged(
    parts: Sequence[_Reached | None], operands: Sequence[_Reach]
) -> tuple[tuple[int, int], ...] | None:
    """Returns the choices under which all operands have their numbers; None if there are none."""
    merged: dict[int, int] = {}
    for part in parts:
        merged.update(part.choices if part else ())
    for part, operand in zip(parts, operands):
        own = dict(part.choices) if part else {}
        # A load that an operand depends on and does not name has its likeliest fill value.
        if part and any(
            own.get(place, 0) != index for place, index in merged.items() if -place in operand.loads
        ):
            return None
    return tuple(sorted(merged.items(), reverse=True))


def _likeliest(found: Iterable[_Reached]) -> list[_Reached]:
    """Returns each number once, under its likeliest choices; the likeliest of the numbers."""
    numbers: dict[str, _Reached] = {}
    for item in sorted(found, key=lambda item: (len(item.choices), item.choices)):
        # The text of a number tells zeros apart, and not-a-numbers together.
        numbers.setdefault(repr(item.number), item)
    return list(numbers.values())[:KEPT]


def same(a: Number | None, b: Number) -> bool:
    """Returns whether two numbers are equal, or both not a number."""
    return a is not None and (a == b or (a != a and b != b))


def find_fill_values(
    value: SSAValue, mask: SSAValue, wanted: Number, decided: Pads
) -> Pads | None:
    """Returns fill values of loads that give a value a number where a mask is false.

    Args:
        value: a tile.
        mask: a mask along one axis.
        wanted: the number.
        decided: the fill values that are chosen already.

    Returns:
        The decided fill values with those of other loads, the likeliest first; None if there are
        none.
    """
    for found in _Search(mask, wanted, decided).run(value):
        pads = {**decided, **found}
        if same(beyond(value, mask, pads), wanted):
            return pads
    return None
