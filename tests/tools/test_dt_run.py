"""`dt-run`: inputs, results and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Tools

DRAWN = ("f: 2 x 3", "[[ 0.273923 -0.460427 -0.918053]", "[-0.966945  0.62654   0.825511]]")


def test_inputs_are_drawn_from_a_seed(tool: Tools) -> None:
    tool("dt-run copy.dt x=2 y=3").prints(*DRAWN)
    tool("dt-run copy.dt x=2 y=3 --random 1").prints("f: 2 x 3", "[[ 0.023643")


@pytest.mark.parametrize("level", ["loop", "tile"])
def test_modules_of_every_level_run(level: str, tool: Tools) -> None:
    module = tool(f"dtc copy.dt --emit {level}")
    tool("dt-run - x=2 y=3", stdin=module.out).prints(*DRAWN)


def test_exact_arithmetic_shows_residues(tool: Tools) -> None:
    done = tool("dt-run copy.dt x=2 y=3 --arithmetic exact")
    done.prints("f: 2 x 3", "[[")
    assert "." not in done.out, "an element is a number modulo a prime"


def test_results_are_saved(tool: Tools) -> None:
    tool("dt-run copy.dt x=2 y=3 -o results.npz").prints()
    with np.load("results.npz") as arrays:
        assert arrays["f"].shape == (2, 3)


def test_inputs_are_given(tool: Tools) -> None:
    np.savez("inputs.npz", A=np.arange(6.0).reshape(2, 3))
    tool("dt-run copy.dt --args inputs.npz").prints("f: 2 x 3", "[[0. 1. 2.]", "[3. 4. 5.]]")


@pytest.mark.parametrize("level", ["dt", "loop", "tile"])
def test_conditions_on_the_largest_numbers_do_not_wrap(level: str, tool: Tools) -> None:
    text = (
        "Func f, g; In A, n : i64; SIn w : i64; Var i, j; f[i] = rsum(A[i, j], j, j > i - w); "
        "g[i] = rsum(A[i, j], j, j < n[i] - 1); f.compile(); g.compile();"
    )
    Path("windows.dt").write_text(text)
    values, ends = np.arange(6.0).reshape(2, 3), np.array([-(2**63), 2**63 - 1])
    np.savez("inputs.npz", A=values, n=ends, w=np.int64(2**63 - 1))
    module = tool(f"dtc windows.dt --emit {level}")
    tool("dt-run - --args inputs.npz", stdin=module.out).prints("[ 3. 12.]", "[ 0. 12.]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("q=3", "error: there is no label 'q' to give a size"),
        ("x=big", "error: sizes: the size of 'x' must be a number of 0 or more, not 'big'"),
        ("x=3 x=4", "error: sizes: 'x' is given two sizes"),
        ("x=1234567890123", "error: sizes: the size of 'x' is too large"),
        ("x=1000000000 y=1000000", "error: there is not enough memory"),
        (
            "--random -1",
            "argument --random: '-1' is not a number from 0 to 999999999999999999",
        ),
        ("x=2 y=2 -o ''", "error: the name of the output is empty"),
        ("--args row_scaled.dt", "is not a file of arrays (.npz)"),
    ],
)
def test_arguments_are_refused(arguments: str, message: str, tool: Tools) -> None:
    tool(f"dt-run row_scaled.dt {arguments}").refuses(message)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"B": np.ones(3)}, "error: there is no array for the input 'A'"),
        ({"A": np.ones(3), "B": np.ones(3)}, "error: 'A' has 2 axes, but its array has 1"),
        (
            {"A": np.ones((2, 3)), "B": np.ones(4)},
            "error: axis 0 of 'B' has 4 elements, but 'y' has 3",
        ),
        (
            {"A": np.ones((2, 3), str), "B": np.ones(3)},
            "error: 'A' has floats, but its array has <U1",
        ),
    ],
)
def test_arrays_are_refused(
    arrays: dict[str, Any], message: str, tool: Tools
) -> None:
    np.savez("inputs.npz", **arrays)
    tool("dt-run row_scaled.dt --args inputs.npz").refuses(message)


def test_a_single_array_is_refused(tool: Tools) -> None:
    np.save("inputs.npy", np.ones(3))
    tool("dt-run row_scaled.dt --args inputs.npy").refuses("is not a file of several arrays (.npz)")


def test_an_absent_file_is_refused(tool: Tools) -> None:
    tool("dt-run nothing.dt").refuses("nothing.dt: no such file or directory")


def test_a_module_without_anything_to_run_is_refused(tool: Tools) -> None:
    tool("dt-run -", stdin="builtin.module {}").refuses(
        "error: there is nothing to run: the module has neither a function of the 'dt' level nor a"
        " kernel"
    )
