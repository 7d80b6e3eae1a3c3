"""`dt-reduce`: programs and modules on which a pass fails become small."""

import re
from pathlib import Path

import pytest
from command import Tools

from dt_mlir.pipeline import default_pipeline

WRONG = Path(__file__).parents[1] / "semantics" / "wrong_passes.py"
LOAD = f"--load '{WRONG}'"


def test_a_program_that_a_pass_changes_becomes_small(tool: Tools) -> None:
    done = tool.in_a_process(
        f"dt-reduce fused_differences.dt {LOAD} -o small.dt"
        " -p convert-dt-to-loop,apply-schedule,loop-exchange-operands,convert-loop-to-tile"
    )
    done.prints()
    assert re.match(
        r"small\.dt: 4 of 12 lines, 1 of 4 passes \([0-9]+ tries\)\n"
        r"loop-exchange-operands changes; to see it: dt-opt .* -p loop-exchange-operands"
        r" --verify-semantics",
        done.out,
    ), done.out
    first, second, *program = Path("small.dt").read_text().splitlines()
    assert first == "# changes: loop-exchange-operands"
    assert second.startswith("# run: dt-opt")
    assert program == ["Func f;", "In B;", "f[] = 1.0 - B[0, 0];", "f.compile();"]
    again = tool.in_a_process(
        f"dt-opt small.dt {LOAD} -p convert-dt-to-loop,loop-exchange-operands"
        " --verify-semantics --reproducer again.mlir"
    )
    again.refuses("error: 'loop-exchange-operands' changes what is computed")


HANGS = """
from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class HangPass(ModulePass):
    name = "hang-without-tiles"

    def apply(self, ctx, op):
        while "tensorize" not in str(op):
            pass
        raise SystemExit(3)
"""


def test_a_smaller_case_that_hangs_ends_with_the_time(tool: Tools) -> None:
    Path("hangs.py").write_text(HANGS)
    done = tool.in_a_process("dt-reduce doubled.dt --load hangs.py -p hang-without-tiles --time-limit 2 -o small.dt")
    done.prints("small.dt: ", "time was up)", "hang-without-tiles crashes")
    assert "tensorize" in Path("small.dt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--time-limit nan", "'nan' is not a number of seconds, 0 or more"),
        ("-o none/small.dt", "error: none/small.dt: no such file or directory"),
        ("z=3", "error: there is no label 'z' to give a size"),
    ],
)
def test_arguments_are_refused(arguments: str, message: str, tool: Tools) -> None:
    tool(f"dt-reduce doubled.dt {arguments}").refuses(message)


def test_a_module_that_a_pass_changes_becomes_small(tool: Tools) -> None:
    tool("dt-opt fused_differences.dt -p convert-dt-to-loop,apply-schedule -o in.mlir").prints()
    assert "math.exp" in Path("in.mlir").read_text()
    done = tool.in_a_process(
        f"dt-reduce in.mlir x=9 y=9 {LOAD} -p loop-exchange-operands,verify-loop -o small.mlir"
    )
    done.prints("loop-exchange-operands changes; to see it: dt-opt")
    small = Path("small.mlir").read_text()
    assert "math.exp" not in small
    assert "arith.subf" in small


def test_a_program_that_a_pass_refuses_becomes_small(tool: Tools) -> None:
    done = tool(
        "dt-reduce fused_differences.dt -o small.dt"
        " -p convert-loop-to-tile,convert-dt-to-loop,convert-loop-to-tile"
    )
    done.prints("convert-loop-to-tile refuses; to see it:")


def test_a_program_on_which_a_pass_crashes_becomes_small(tool: Tools) -> None:
    done = tool.in_a_process(
        f"dt-reduce fused_differences.dt {LOAD} -o small.dt"
        " -p convert-dt-to-loop,apply-schedule,loop-crash"
    )
    done.prints("loop-crash crashes; to see it: dt-opt ", " -p loop-crash")
    small = Path("small.dt").read_text()
    assert small.index("# crashes: loop-crash") < small.index("f[] = 1.0 - B[0, 0];")


def test_time_is_up_before_a_program_is_small(tool: Tools) -> None:
    done = tool.in_a_process(
        f"dt-reduce fused_differences.dt --time-limit 0 {LOAD} -o small.dt"
        " -p convert-dt-to-loop,loop-exchange-operands"
    )
    done.prints("time was up")


def test_a_pass_that_makes_malformed_ir_is_named(tool: Tools) -> None:
    done = tool.in_a_process(
        f"dt-opt fused_differences.dt {LOAD} -p convert-dt-to-loop,loop-malform"
    )
    done.refuses(
        "'loop.for' is malformed: the step of a loop must be positive, or 0 for its whole extent",
        "note: the pass 'loop-malform' made it",
    )


def test_a_program_on_which_nothing_fails_is_refused(tool: Tools) -> None:
    tool("dt-reduce fused_differences.dt").refuses(
        "error: fused_differences.dt: nothing fails, so there is nothing to reduce\n"
        "  help: give the passes, and the sizes, with which it fails"
    )


def test_an_unknown_pass_is_refused(tool: Tools) -> None:
    done = tool("dt-reduce fused_differences.dt -p no-such-pass")
    done.refuses("error: 'no-such-pass' is not a pass")


def test_loaded_passes_run_at_their_places(tool: Tools) -> None:
    Path("exchange.py").write_text(
        f"import sys\nsys.path.append({str(WRONG.parent)!r})\nimport wrong_passes\n"
        "class Exchange(wrong_passes.ExchangeOperandsPass):\n"
        "    name = 'loop-exchange-late'\n    after = 'apply-schedule'\n"
    )
    done = tool.in_a_process("dt-reduce fused_differences.dt --load exchange.py -o small.dt")
    done.prints("loop-exchange-late changes; to see it: dt-opt small.dt")


def test_a_module_needs_passes(tool: Tools) -> None:
    done = tool("dt-reduce labels.mlir")
    done.refuses(
        "error: labels.mlir: a module does not say which passes to run",
        "help: give them with -p; a reproducer has them in its line '// run:'",
    )


SPECIALIZED = """
Func s, mm : bf16; In A : bf16, B : bf16, bias; Var x, y; RVar k;
s[x, y] = rdot(A[x, k], B[k, y], k);
mm[x, y] = exp(s[x, y] * 2.0) + bias[y];
s.fuse_at(mm, y); mm.block(x:128, y:16); mm.tensorize(x:128, y:16, k:16);
mm.warp_specialize(); mm.num_stages(2); mm.compile();
"""
WRONG_WARPS = Path(__file__).parent / "wrong_warp_passes.py"
LOWERED = ",".join([*default_pipeline("tile"), "convert-tile-to-warp"])


def test_a_program_that_is_wrong_at_the_level_of_warps_becomes_small(tool: Tools) -> None:
    Path("warps.dt").write_text(SPECIALIZED)
    done = tool.in_a_process(
        f"dt-reduce warps.dt --load '{WRONG_WARPS}' -o small.dt"
        f" -p {LOWERED},warp-split-producer,warp-sink-store-waits,warp-forget-releases"
    )
    # Interpreted, groups of warps wait for each other.
    done.prints("warp-forget-releases breaks; to see it: dt-opt small.dt")
    small = Path("small.dt").read_text()
    assert "bias" not in small
    assert "mm.warp_specialize();" in small
    assert "warp-split-producer,warp-forget-releases --verify-semantics" in small


def test_a_module_of_the_level_of_warps_becomes_small(tool: Tools) -> None:
    Path("warps.dt").write_text(SPECIALIZED)
    tool(f"dt-opt warps.dt -p {LOWERED} -o in.mlir").prints()
    assert "math.exp" in Path("in.mlir").read_text()
    done = tool.in_a_process(
        f"dt-reduce in.mlir x=9 y=9 k=9 --load '{WRONG_WARPS}' -o small.mlir"
        " -p warp-forget-sums --time-limit 60"
    )
    done.prints("warp-forget-sums changes; to see it: dt-opt small.mlir")
    small = Path("small.mlir").read_text()
    assert "math.exp" not in small
    assert "arith.addf" in small
