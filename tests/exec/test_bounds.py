"""Loads with bounds: elements out of bounds have the fill value, on every level."""

from pathlib import Path

import numpy as np
import pytest
import torch
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import f32

from dt_mlir.backend.python_module import emit_module
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.pipeline import run_pipeline
from dt_mlir.registry import DIALECTS
from dt_mlir.runtime.execute import loaded, prepare_triton
from dt_mlir.tools.parsing import parse_mlir

TEXT = (Path(__file__).parents[1] / "filecheck" / "backend" / "bounds.mlir").read_text()
PASSES = ["tile-place-masks", "tile-elide-masks", "tile-fuse-maps", "tile-cse", "verify-tile"]


@pytest.mark.parametrize("fill", ["7.0", "0.0", "-0.0", "-inf", "nan"])
def test_fill(fill: str) -> None:
    """f[x] = A[x - 1], and the fill value where x is 0."""
    device = prepare_triton()
    text = TEXT.replace("fill 7.0", f"fill {fill}")
    context = Context()
    for name, dialect in {**get_all_dialects(), **DIALECTS}.items():
        context.register_dialect(name, dialect)
    module = parse_mlir(context, text, "bounds.mlir")
    arithmetic = BoundedArithmetic(Accuracy())
    before = module.clone()
    run_pipeline(module, PASSES)
    source = emit_module(module)
    for size in (1, 5, 16, 17, 33):
        given = np.arange(1.0, size + 1)
        wanted = np.concatenate([[float(fill)], given[:-1]])
        for stage in (before, module):
            inputs = {"A": arithmetic.from_array(given, f32)}
            found = run_module(stage, inputs, {"x": size}, arithmetic)["f"]
            same(found.value, wanted)
        with loaded(source) as program:
            result = program.f(torch.tensor(given, dtype=torch.float32, device=device))
        same(result.cpu().numpy(), wanted)


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
