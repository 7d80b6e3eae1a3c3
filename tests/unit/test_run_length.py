"""The number of operations that the interpreters run, which decides the sizes of a run."""

import pytest

from dt_mlir.compiler import compile_program
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.verification.run_length import operations_run
from dt_mlir.verification.sizes import MOST_OPERATIONS, MOST_POINTS, cases_near_steps, choose_cases

NESTED = """Func f0; In A, B; Var x; RVar y, z;
f0[x] = rsum(rsum(A[y, z] * B[x, z], z), y);
f0.block(x:4);
f0.compile();
"""


def test_trips_are_counted() -> None:
    module = compile_program(NESTED).module

    def run(**sizes: int) -> int:
        return operations_run(module, {"x": 4, "y": 8, "z": 8} | sizes)

    # Twice as many instances run twice as much; the loops over y and z are in each other.
    assert run(x=8) == 2 * run()
    more = run(z=16) - run()
    assert more > run() / 2
    assert run(y=16, z=16) - run(y=16) == 2 * more


@pytest.mark.parametrize("tile", [1, 2])
def test_what_is_run_is_not_too_much(tile: int) -> None:
    """Four loops in each other, of which tiles are small, are run at few points."""
    text = f"""Func f0; In A, B, C; Var x; RVar y, z, k;
f0[x] = rsum(rsum(rsum(A[y, z] * B[k, x] * C[x], k), z), y);
f0.block(x:64);
f0.tensorize(x:{tile}, k:32);
f0.compile();
"""
    program = compile_program(text)
    modules = [program.algorithm, program.module]
    cases = [*choose_cases(modules), *cases_near_steps(modules)]
    lengths = [operations_run(program.module, case.sizes) for case in cases]
    assert len(lengths) >= 4
    assert MOST_OPERATIONS / 16 < max(lengths) <= MOST_OPERATIONS
    usual = {"x": 64, "y": 32, "z": 32, "k": 32}
    assert operations_run(program.module, usual) > MOST_OPERATIONS


def test_inputs_are_not_too_large() -> None:
    """Five axes of one label have many more elements than the label has points."""
    program = compile_program(
        "Func f; In A; Var w; RVar x; f[w] = rsum(A[w, w, w, w, x, w], x); "
        "f.block(w:64); f.tensorize(w:64, x:8); f.compile();"
    )
    modules = [program.algorithm, program.module]
    for case in [*choose_cases(modules), *cases_near_steps(modules)]:
        assert case.sizes["w"] ** 5 * case.sizes["x"] <= MOST_POINTS


def test_a_loop_that_data_ends_counts_once() -> None:
    module = compile_program(
        "Func f0; In A, n : i32; Var x; RVar y; "
        "f0[x] = rsum(A[x, y], y, y < n[x]); f0.compile();"
    ).module
    assert operations_run(module, {"x": 1, "y": 100, "n_0": 1}) > 0


@pytest.mark.parametrize(("size", "runs"), [(128, True), (8192, False)])
def test_sizes_that_warps_are_specialized_for(size: int, runs: bool) -> None:
    """They are a case of their own; what is too much to run keeps nothing else from being run."""
    module, _ = compile_text(f"""
    Func g : bf16; In X : bf16, W : bf16; Var i, d; RVar k;
    g[i, d] = rdot(X[i, k], W[k, d], k);
    g.block(i:128, d:64); g.tensorize(i:128, d:64, k:64); g.num_stages(2);
    g.warp_specialize(i:{size}, d:{size});
    g.compile();
    """, "product.dt")  # fmt: skip
    run_pipeline(module, default_pipeline("warp"))
    cases = {case.kind: case.sizes for case in choose_cases([module])}
    assert ("specialized" in cases) is runs
    assert {"ragged", "aligned", "degenerate"} <= {*cases}
    if runs:
        assert cases["specialized"]["i"] == cases["specialized"]["d"] == size
