"""Reductions in one pass are the algorithm's at infinities, NaN, and rows without elements."""

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from forms import programs

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.runtime.execute import compare, loaded, prepare_triton, reference

DEVICE = prepare_triton()
PROGRAMS = programs("online") | {
    name: text for name, text in programs("parts").items() if ".online(" in text
}
SIZES = {"x": 22, "y": 22, "k": 22, "j": 22}
INF, NAN = float("inf"), float("nan")
OVERFLOWING = ("online/shifted_by_a_mean", "online/divided_by_an_exponential")
"""The programs whose exponents nothing bounds: what overflows in part has no sum."""
ROWS = {
    "all of it -inf": lambda row: torch.full_like(row, -INF),
    "-inf but for the last": lambda row: torch.cat([torch.full_like(row[1:], -INF), row[:1]]),
    "its first tile -inf": lambda row: torch.cat([torch.full_like(row[:16], -INF), row[16:]]),
    "one inf": lambda row: torch.cat([row[:5], torch.tensor([INF]), row[6:]]),
    "inf first": lambda row: torch.cat([torch.tensor([INF]), row[1:]]),
    "inf and -inf": lambda row: torch.cat([torch.tensor([-INF, INF]), row[2:]]),
    "one NaN": lambda row: torch.cat([row[:18], torch.tensor([NAN]), row[19:]]),
    "far below": lambda row: row * 1000 - 70000,
    "far above": lambda row: row * 1000 + 70000,
    "equal": lambda row: torch.full_like(row, 2.5),
    "plain": lambda row: row,
}
"""Rows that a sum of exponentials must get right, made of one of random numbers."""


def _inputs(program: Compiled, sizes: Mapping[str, int], column: bool) -> dict[str, torch.Tensor]:
    """Returns inputs whose rows, or columns, are `ROWS` in turn."""
    generator = torch.Generator().manual_seed(1)
    interface = Interface.of(program.algorithm)
    found: dict[str, torch.Tensor] = {}
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        if not shape:
            found[item.name] = torch.tensor(7)
            continue
        values = torch.randn(shape, generator=generator)
        if str(item.element) == "i1":
            values = values > 0
            # Some rows have no element at all.
            values[::3] = False
        elif str(item.element) == "i32":
            values = (values * 10).int()
        elif str(item.element) == "ui8":
            values = (values * 10).abs().to(torch.uint8)
        elif len(shape) == 2 and item.name in "AQ":
            values = values.T.contiguous() if column else values
            for number in range(len(values)):
                values[number] = [*ROWS.values()][number % len(ROWS)](values[number])
            values = values.T.contiguous() if column else values
        elif len(shape) == 2 and item.name == "V":
            values[3, 2], values[20, 4] = INF, NAN
        found[item.name] = values
    return found


def _tiles(
    program: Compiled, inputs: dict[str, torch.Tensor], sizes: Mapping[str, int]
) -> Mapping[str, Bounded]:
    """Returns what the tile level computes."""
    arithmetic = BoundedArithmetic(Accuracy.of(program.algorithm))
    interface = Interface.of(program.module)
    given = {
        item.name: arithmetic.from_array(_array(inputs[item.name]), item.element)
        for item in interface.inputs
    }
    return run_module(program.module, given, sizes, arithmetic)


def _array(values: torch.Tensor) -> np.ndarray:
    return (values.double() if values.is_floating_point() else values).numpy()


COLUMNS = ("online/softmax_of_columns",)
"""The programs that reduce columns."""


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_special_values(name: str) -> None:
    program = compile_program(PROGRAMS[name], name)
    interface = Interface.of(program.algorithm)
    given = {label: size for label, size in SIZES.items() if label in interface.labels}
    sizes = interface.sizes(given)
    inputs = _inputs(program, sizes, name in COLUMNS)
    wanted = reference(program.algorithm, inputs, sizes)
    found = _tiles(program, inputs, sizes)
    outputs = output_names(program.algorithm)
    there: dict[str, torch.Tensor] = {}
    if DEVICE != "cpu":
        with loaded(program.source) as module:
            arguments = [inputs[item.name] for item in interface.inputs]
            run = getattr(module, outputs[0])
            got = run(*(x.to(DEVICE) if x.dim() else x.item() for x in arguments))
        results = got if isinstance(got, tuple) else (got,)
        there = dict(zip(outputs, results))
    for output in outputs:
        want, tiles = wanted[output], found[output]
        decided = np.isfinite(want.error)
        if name in OVERFLOWING:
            decided &= np.isfinite(want.value)
        assert decided.mean() > 0.1
        # What the tile level leaves undecided is compared where it runs.
        both = decided & np.isfinite(tiles.error)
        known = Bounded(want.value, np.where(both, want.error + tiles.error, np.inf), want.signed)
        assert compare(tiles.value, known)[1] is None
        if there:
            array = _array(there[output].cpu())
            known = Bounded(want.value, np.where(decided, want.error, np.inf), want.signed)
            assert compare(array, known)[1] is None
