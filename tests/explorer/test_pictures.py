"""Footprints and timelines are what the interpreters did."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.diagnostics import CompileError
from dt_mlir.explorer.timeline import Timeline, timelines
from dt_mlir.explorer.tracing import Trace, runs, trace
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline

ROOT = Path(__file__).parents[2]
MATMUL = (ROOT / "examples" / "matmul.dt").read_text()
PROGRAM = (ROOT / "tests" / "explorer" / "specialized_product.dt").read_text()
STENCIL = """In A; Func f; Var x; RVar r = 3;
f[x] = rsum(repeat_edge(A[x + r - 1]), r);
f.block(x:8); f.tensorize(x:8); f.compile();
"""
GATHER = """In table; In ids : i64; Func f; Var t, c;
f[t, c] = table[ids[t], c];
f.block(t:4); f.tensorize(t:4, c:8); f.compile();
"""


def _lowered(text: str) -> ModuleOp:
    module, _ = compile_text(text, "program.dt")
    run_pipeline(module, default_pipeline("warp"))
    return module


def _written(found: Trace, tensor: str) -> np.ndarray:
    """How often each element is written."""
    counts = np.zeros(found.tensors[tensor], int)
    for kernel in found.kernels:
        for own in kernel.instances:
            for access in own:
                if access.stores and access.tensor == tensor:
                    places = [np.concatenate([np.arange(*run) for run in axis]) for axis in access.axes]
                    counts[np.ix_(*places)] += 1
    return counts


def test_blocks_write_each_element_once() -> None:
    found = trace(_lowered(MATMUL), {"x": 300, "y": 200, "k": 70})
    assert (_written(found, "mm") == 1).all()
    (kernel,) = found.kernels
    assert [label for label, _, _ in kernel.grid] == ["x", "y"]
    assert len(kernel.instances) == 3 * 2
    loads = [access for access in kernel.instances[0] if not access.stores]
    # Tiles of 32 of 70 elements: three trips, in each a tile of A and one of B.
    assert [access.tensor for access in loads] == ["A", "B"] * 3
    assert [dict(access.trips)["k_start"] for access in loads[::2]] == [0, 32, 64]
    assert loads[4].axes == [[(0, 128, 1)], [(64, 70, 1)]]
    assert (loads[4].lanes, loads[4].active) == (128 * 32, 128 * 6)


def test_persistent_instances_walk_all_blocks() -> None:
    found = trace(_lowered(PROGRAM), {"x": 300, "y": 600, "k": 64})
    (kernel,) = found.kernels
    assert kernel.persistent
    assert len(kernel.instances) == 2
    assert (_written(found, "mm") == 1).all()


def test_a_halo_is_seen() -> None:
    found = trace(_lowered(STENCIL), {"x": 20})
    first = found.kernels[0].instances[0]
    touched = {i for a in first if not a.stores for run in a.axes[0] for i in range(*run)}
    # A block of 8 reads one element more on its right; the edge repeats on its left.
    assert touched == set(range(9))


def test_a_gather_is_run() -> None:
    found = trace(_lowered(GATHER), {"t": 6, "c": 8})
    tensors = {access.tensor for own in found.kernels[0].instances for access in own}
    assert tensors == {"ids", "table", "f"}


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(CompileError, match="program instances"):
        trace(_lowered(MATMUL), {"x": 8192, "y": 8192, "k": 32})


def test_runs_are_their_numbers() -> None:
    for numbers in ([], [3], [0, 1, 2], [0, 2, 4, 7], [1, 5, 6, 7, 20]):
        found = runs(np.array(numbers, int))
        assert [i for run in found for i in range(*run)] == numbers


def _timeline() -> Timeline:
    (found,) = timelines(_lowered(PROGRAM), {})
    return found


def test_the_ring_is_filled_and_read_in_turn() -> None:
    """A buffer is filled only when it is not being read, and read only when it was filled."""
    found = _timeline()
    assert found.groups == ["consumer 0", "consumer 1", "producer"]
    for buffer in (name for name in found.buffers if not name.startswith("mm")):
        spans = sorted(
            (s.start, s.end, s.kind) for s in found.spans if s.row == buffer and s.kind != "full"
        )
        fills = [span for span in spans if span[2] == "fill"]
        reads = [span for span in spans if span[2] == "read"]
        assert len(fills) >= 2
        for fill, following in zip(fills, fills[1:]):
            between = [read for read in reads if fill[1] <= read[0] < following[0]]
            assert between, (buffer, fill)
            assert all(read[1] <= following[0] for read in between)


def test_phases_of_a_barrier_follow_each_other() -> None:
    found = _timeline()
    for barrier in found.barriers:
        phases = [s for s in found.spans if s.row == barrier]
        assert [f"phase {n} " in s.text for n, s in enumerate(phases)] == [True] * len(phases)
        assert all(a.end == b.start for a, b in zip(phases, phases[1:]))


def test_the_producer_runs_ahead() -> None:
    """With a ring of three the third copy starts before the first product has been waited for."""
    found = _timeline()
    loads = [s for s in found.spans if s.row == "producer" and s.kind == "load"]
    ended = next(s for s in found.spans if s.row == "consumer 0" and s.kind == "arrive")
    assert sum(load.start < ended.end for load in loads) >= 3 * 2


def test_a_long_run_ends_where_there_was_enough() -> None:
    """A program without tiles has a trip for each element; its picture says that it is cut off."""
    found = trace(_lowered("In A; Func f; Var x; f[x] = A[x]; f.compile();"), {"x": 100_000})
    assert found.truncated
    assert len(found.kernels[0].instances) == 1
