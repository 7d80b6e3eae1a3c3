"""`--verify-semantics` of `dt-opt` and `dtc`: what is compared, reported and refused."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Tools
from variants import vary

WRONG = Path(__file__).parents[1] / "semantics" / "wrong_passes.py"
SAVED: dict[str, Any] = {"size/x": np.array(3), "input/A": np.ones(3)}
TO_LOOPS = "-p convert-dt-to-loop --verify-semantics"


@pytest.mark.parametrize(
    ("command", "report"),
    [
        (
            "dt-opt tanh_less_one.dt --verify-semantics"
            " -p convert-dt-to-loop,apply-schedule,convert-loop-to-tile,cse",
            [
                "semantics verified: 6 passes ran, 4 changed the module; of these agree 4 exactly\n"
                "  sizes: ragged x = 11; aligned x = 16; degenerate x = 1\n"
                "  12 more sizes and inputs: near 1/2, 1, 3/2 and 2 of each step",
            ],
        ),
        (
            "dt-opt tanh_less_one.dt --verify-semantics"
            " -p verify-dt,convert-dt-to-loop,expand-elementwise",
            [
                "3 passes ran, 2 changed the module; of these agree 1 exactly,"
                " 1 within error bounds",
                "expand-elementwise rewrites math.rsqrt, math.tanh: compared within error bounds",
            ],
        ),
        (
            f"dt-opt tanh_less_one.dt {TO_LOOPS} --arithmetic bounded --verify-sizes x=3",
            [
                "1 passes ran, 1 changed the module; of these agree 1 within error bounds\n"
                "  sizes: given x = 3",
            ],
        ),
        (
            "dtc tanh_less_one.dt --verify-semantics",
            [
                "an output depends on each of 2 elements of 1 masks\n"
                "  the emitted kernel agrees, on Triton's interpreter",
            ],
        ),
        (
            "dtc tanh_less_one.dt --dtype A=f16 --fix x=9 --verify-semantics",
            ["sizes: fixed x = 9\n  dt-set-types is meant to change the result"],
        ),
        (
            "dtc tanh_less_one.dt --dtype A=bf16 --verify-semantics",
            ["the emitted kernel was not run: Triton's interpreter computes bf16 wrongly"],
        ),
        # Each directive is compared with what was before it.
        ("dtc sum_of_squares.dt --verify-semantics", ["43 passes ran"]),
    ],
    ids=["exact", "rewrites", "bounded", "kernel", "fixed-sizes", "bf16", "directives"],
)
def test_right_passes_agree(command: str, report: list[str], tool: Tools) -> None:
    tool(f"{command} -o out").remarks(*report)


@pytest.mark.parametrize(
    ("command", "messages"),
    [
        (
            "dtc tanh_less_one.dt --fix x=99999999 --verify-semantics",
            [
                "error: at x = 99999999 there is too much to run for verifying semantics",
                "help: verify with sizes whose product is at most 8388608",
            ],
        ),
        (
            "dt-opt tanh_less_one.dt -p 'schedule-block{function=f sizes=x:8}' --verify-semantics",
            ["error: the pipeline 'schedule-block{function=f sizes=x:8}' cannot be read"],
        ),
        (
            "dt-opt tanh_less_one.dt -p convert-dt-to-loop --verify-sizes x=3",
            ["error: --inputs, --verify-sizes and --verify-masks go with --verify-semantics"],
        ),
        (
            "dt-opt tanh_less_one.dt -p convert-dt-to-loop --verify-masks",
            ["error: --inputs, --verify-sizes and --verify-masks go with --verify-semantics"],
        ),
        (
            f"dt-opt tanh_less_one.dt {TO_LOOPS} --inputs tanh_less_one.dt",
            ["is not a file of arrays (.npz)"],
        ),
        (
            f"dt-opt tanh_less_one.dt {TO_LOOPS} --reproducer out.npz",
            [
                "error: --reproducer: 'out.npz' is not a file in a folder that exists\n"
                "  help: name a file that ends in .mlir",
            ],
        ),
        (
            f"dt-opt tanh_less_one.dt {TO_LOOPS} --verify-sizes x=3 --inputs inputs.npz",
            ["error: give --inputs, which have their sizes, or --verify-sizes"],
        ),
    ],
)
def test_arguments_are_refused(command: str, messages: list[str], tool: Tools) -> None:
    np.savez("inputs.npz", **SAVED)
    tool(command).refuses(*messages)


def test_what_a_pass_refuses_is_said_behind_what_is_verified(tool: Tools) -> None:
    done = tool(
        "dt-opt tanh_less_one.dt --verify-semantics"
        " -p 'convert-dt-to-loop,schedule-block{function=f sizes=\"k:8\"}'"
    )
    done.refuses(
        "semantics verified: 1 passes ran, 1 changed the module; of these agree 1 exactly",
        "error: f.block: there is no label 'k' in the kernel of 'f'",
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"A": np.ones(3)}, "there is no size of 'x'"),
        ({"size/x": np.array(-1)}, "'size/x' is not a size"),
        ({"size/x": np.array(3)}, "there is no input 'A'"),
        (
            {"size/x": np.array(3), "input/A": np.ones(4)},
            "the input 'A' is not for this program",
        ),
        ({"arithmetic": np.array("modern")}, "there is no arithmetic 'modern'"),
    ],
)
def test_saved_inputs_are_refused(arrays: dict[str, Any], message: str, tool: Tools) -> None:
    np.savez("inputs.npz", **arrays)
    tool(f"dt-opt tanh_less_one.dt {TO_LOOPS} --inputs inputs.npz").refuses(message)


def test_saved_inputs_are_taken(tool: Tools) -> None:
    np.savez("inputs.npz", **SAVED)
    done = tool("dtc tanh_less_one.dt --verify-semantics --inputs inputs.npz -o out.py")
    done.remarks("sizes: given x = 3", "the emitted kernel agrees, on Triton's interpreter")


def test_a_wrong_pass_is_found_and_leaves_a_reproducer(tool: Tools) -> None:
    done = tool.in_a_process(
        "dt-opt tanh_less_one.dt -p convert-dt-to-loop,loop-exchange-operands"
        f" --load '{WRONG}' --verify-semantics --reproducer again.mlir"
    )
    done.refuses(
        "tanh_less_one.dt:4:1: error: 'loop-exchange-operands' changes what is computed:"
        " 'f'[0] is ",
        "and was ",
        " before (11 of 11 elements differ), in exact arithmetic, with x = 11\n"
        "  f[x] = tanh(A[x]) - 1;\n",
        "note: to see it again: dt-opt again.mlir --load ",
        "wrong_passes.py -p loop-exchange-operands --verify-semantics --inputs again.npz",
    )
    assert re.search(r"'f'\[0\] is \S+, and was \S+ before", done.err)
    reproducer = Path("again.mlir").read_text()
    assert reproducer.startswith("// 'loop-exchange-operands' changes what is computed")
    assert reproducer.splitlines()[1].startswith("// run: dt-opt")
    assert "loop.kernel @f_kernel" in reproducer


def test_a_pass_that_makes_malformed_ir_is_named(tool: Tools) -> None:
    done = tool.in_a_process(
        "dt-opt tanh_less_one.dt -p convert-dt-to-loop,loop-forget-launch"
        f" --load '{WRONG}' --verify-semantics --reproducer again.mlir"
    )
    done.refuses(
        "error: 'loop.kernel' is malformed: 'f_kernel' is launched 0 times, not once",
        "note: the pass 'loop-forget-launch' made it",
    )


def test_a_wrong_directive_is_found_and_leaves_a_reproducer(tool: Tools) -> None:
    vary("sum_of_squares.dt", ("f.num_warps(4)", "f.forget(k)"))
    load = "--load extensions/forget.py"
    done = tool.in_a_process(
        f"dtc {load} sum_of_squares.dt --verify-semantics --reproducer wrong.mlir -o out.py"
    )
    done.refuses(
        "sum_of_squares.dt:4:3: error: 'f.forget(k)' changes what is computed: 'f'[0] is",
        "f.forget(k);",
        "note: to see it again: dt-opt ",
        " -p 'schedule-forget{function=\"f\" label=\"k\"},apply-schedule,",
    )
    again = tool.in_a_process(
        f"dt-opt {load} wrong.mlir -p 'schedule-forget{{function=f label=k}}'"
        " --verify-semantics --reproducer again.mlir"
    )
    again.refuses("'schedule-forget' changes what is computed")
