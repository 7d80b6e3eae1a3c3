"""Every example computes what its algorithm says, at every kind of size and layout."""

from functools import cache
from pathlib import Path

import pytest
import torch

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.dialects import dt
from dt_mlir.element_types import is_float
from dt_mlir.runtime.execute import run_and_check

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.dt"))
GPU = torch.cuda.is_available()

SIZES = {
    "aligned": (128, 128, 128, 128),
    "prime": (61, 37, 53, 29),
    "one": (1, 1, 1, 1),
    "small": (3, 5, 2, 7),
    "one more": (129, 65, 33, 17),
}
SCALAR = {
    "aligned": (16, 16),
    "prime": (13, 7),
    "one": (1, 1),
    "small": (3, 2),
    "one more": (17, 9),
}
"""Sizes for programs of scalar code: the interpreter takes its time for each element."""

TYPES = ["f32", "f16"] + (["bf16"] if GPU else [])


@cache
def compiled(name: str, element: str) -> Compiled:
    path = EXAMPLES / f"{name}.dt"
    text = path.read_text()
    plain = compile_program(text, str(path))
    if element == "f32":
        return plain
    inputs = [op for op in plain.algorithm.ops if isinstance(op, dt.InputOp) and not op.is_scalar]
    types = {op.sym_name.data: element for op in inputs if is_float(op.element)}
    return compile_program(text, str(path), types)


def sizes_for(name: str, kind: str, program: Compiled) -> dict[str, int]:
    table = SCALAR if name in ("relu", "swish") and not GPU else SIZES
    if name in ("batched_matmul", "nearest") and not GPU:
        # These have three large labels.
        table = {**SIZES, "aligned": (32, 32, 32, 32), "one more": (17, 33, 9, 17)}
    groups = Interface.of(program.algorithm).labels
    same = Interface.of(program.algorithm).sizes({})
    chosen: dict[int, int] = {}
    numbers = iter(table[kind] * 2)
    for label in groups:
        if same[label] not in chosen:
            chosen[same[label]] = next(numbers)
    return {label: chosen[same[label]] for label in groups}


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("kind", list(SIZES))
@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes(name: str, kind: str, element: str) -> None:
    program = compiled(name, element)
    sizes = sizes_for(name, kind, program)
    run_and_check(program.algorithm, program.source, sizes, seed=1)


@pytest.mark.parametrize("layout", ["transposed", "strided"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_layouts(name: str, layout: str) -> None:
    program = compiled(name, "f32")
    sizes = sizes_for(name, "prime", program)
    run_and_check(program.algorithm, program.source, sizes, seed=2, layout=layout)
