"""`dt-opt`: pipelines, what it prints, options and refusals."""

import re

import pytest
from command import Tools

GRID = "loop.grid (%x_block = x size 4)"


@pytest.mark.parametrize(
    "pipeline",
    [
        "--pass-pipeline='builtin.module(convert-dt-to-loop,apply-schedule)'",
        "-p convert-dt-to-loop,apply-schedule",
    ],
)
def test_pipelines_are_written_in_two_ways(pipeline: str, tool: Tools) -> None:
    tool(f"dt-opt blocked_copy.dt {pipeline}").prints(GRID)


def test_a_program_comes_from_standard_input(tool: Tools) -> None:
    program = (tool.folder / "blocked_copy.dt").read_text()
    done = tool("dt-opt -f dt - -p convert-dt-to-loop,apply-schedule", stdin=program)
    done.prints(GRID)


def dumped(option: str, tool: Tools) -> str:
    """Returns what an option prints of a pipeline of which the second pass changes nothing."""
    done = tool(f"dt-opt blocked_copy.dt -p convert-dt-to-loop,cse {option}")
    done.prints("loop.kernel")
    assert "IR dump" not in done.out
    return done.err


def test_ir_is_printed_after_all_passes(tool: Tools) -> None:
    first, second = "IR dump after convert-dt-to-loop", "IR dump after cse"
    text = dumped("--print-ir-after-all", tool)
    assert text.index(first) < text.index("loop.kernel") < text.index(second)


def test_ir_is_printed_after_passes_that_change_it(tool: Tools) -> None:
    text = dumped("--print-ir-after-change", tool)
    assert "IR dump after convert-dt-to-loop" in text
    assert "IR dump after cse" not in text


@pytest.mark.parametrize("when", ["before", "after"])
def test_ir_is_printed_before_or_after_a_pass(when: str, tool: Tools) -> None:
    text = dumped(f"--print-ir-{when}=cse", tool)
    assert f"IR dump {when} cse" in text
    assert text.count("IR dump") == 1


def test_passes_are_timed(tool: Tools) -> None:
    done = tool("dt-opt blocked_copy.dt -p convert-dt-to-loop --time-passes")
    done.remarks("convert-dt-to-loop: ")
    assert re.search(r"convert-dt-to-loop: [0-9.]+ ms", done.err)


def test_the_generic_form_is_printed(tool: Tools) -> None:
    tool("dt-opt blocked_copy.dt --print-op-generic").prints('"dt.func"() <{')


def test_properties_are_printed_as_attributes(tool: Tools) -> None:
    done = tool("dt-opt labels.mlir --print-op-generic --print-no-properties")
    done.prints('"dt.label"() {sym_name = "x"}')


def test_locations_are_printed(tool: Tools) -> None:
    done = tool("dt-opt blocked_copy.dt --print-debuginfo")
    done.prints('dt.label @x loc("blocked_copy.dt":1:19)')


def test_ir_is_printed_in_colours(tool: Tools) -> None:
    done = tool("dt-opt blocked_copy.dt -p convert-dt-to-loop --syntax-highlight")
    done.prints("\x1b[")
    plain = tool("dt-opt blocked_copy.dt -p convert-dt-to-loop")
    assert re.sub(r"\x1b\[[0-9;]*m", "", done.out).strip() == plain.out.strip()


def test_the_result_goes_to_a_file(tool: Tools) -> None:
    done = tool("dt-opt blocked_copy.dt -o out.mlir")
    done.prints()
    assert done.out == ""
    assert "dt.output @f" in (tool.folder / "out.mlir").read_text()


def test_passes_are_listed(tool: Tools) -> None:
    done = tool("dt-opt --list-passes")
    done.prints(
        "schedule-block\n"
        "    Partitions the output over the launch grid.\n"
        "      function: str  The function that the directive is applied to.\n"
        "      sizes: tuple[str, ...]  The labels to partition",
        "From xDSL: ",
    )
    assert "cse" in done.out.splitlines()[-1].removeprefix("From xDSL: ").split(", ")


def test_versions_are_printed(tool: Tools) -> None:
    tool("dt-opt --version").prints("dt-opt 0.1.0 on xDSL 0.74.0")


def test_help_names_the_options(tool: Tools) -> None:
    tool("dt-opt --help").prints("--pass-pipeline")


TO_TILES = "-p convert-dt-to-loop,apply-schedule,convert-loop-to-tile"


def test_lines_are_broken_before_results_and_behind_commas(tool: Tools) -> None:
    done = tool(f"dt-opt attention_of_rows.dt {TO_TILES}")
    done.prints()
    again = tool("dt-opt", stdin=done.out)
    for text in (done.out, again.out):
        assert max(len(line) for line in text.splitlines()) <= 100
        assert re.search(
            r"%acc = scf\.for %depth_start = %\S+ to %depth_size step %\S+"
            r" iter_args\(%acc_1 = %\S+\)\n"
            r" {8}-> \(!tile\.of<query: 64, key: 64, f32>\) \{\n",
            text,
        ), text


def test_kernels_alone_are_printed_and_parse(tool: Tools) -> None:
    done = tool(f"dt-opt attention_of_rows.dt {TO_TILES} --print-kernels-only")
    done.prints()
    assert done.out.startswith(
        "tile.kernel @attention_of_rows_kernel(\n"
        '    %queries_ptr: memref<?x?xf32> {host.name = "queries", host.axes = ["query", "depth"]},\n'
    )
    assert "builtin.module" not in done.out
    assert "host.func" not in done.out
    again = tool("dt-opt -p tile-cse", stdin=done.out)
    again.prints("tile.kernel @attention_of_rows_kernel(")


def test_ir_is_not_verified_on_demand(tool: Tools) -> None:
    tool("dt-opt malformed_output.mlir --disable-verify").prints("dt.output @f")


def test_unknown_operations_are_allowed_on_demand(tool: Tools) -> None:
    done = tool("dt-opt foreign_operation.mlir --allow-unregistered-dialect")
    done.prints('"other.thing"()')


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (
            "--pass-pipelin=x",
            ["dt-opt: error: --pass-pipelin is not an option; did you mean --pass-pipeline?"],
        ),
        ("extra", ["dt-opt: error: there is nothing to do with 'extra'"]),
        (
            "-p convert-dt-to-lop",
            [
                "error: 'convert-dt-to-lop' is not a pass",
                "help: did you mean 'convert-dt-to-loop'?",
            ],
        ),
        (
            "-p 'schedule-block{functio=f}'",
            [
                "error: pass 'schedule-block' has no option 'functio'",
                "help: did you mean 'function'?",
            ],
        ),
        (
            "-p 'schedule-num-warps{function=f warps=x}'",
            [
                "error: pass 'schedule-num-warps': Incompatible types",
                "help: its options: function: a name, or a text in quotes; warps: a number",
            ],
        ),
        ("-p cse,", ["error: the pipeline ends in a comma"]),
        ("-p ,cse", ["error: the pipeline ',cse' cannot be read: expected pass name here"]),
        (
            "--pass-pipeline=cse",
            [
                "error: 'cse' is not a pipeline on modules",
                "help: write 'builtin.module(pass,pass{…})'",
            ],
        ),
        (
            "--pass-pipeline='builtin.module(cse)' -p cse",
            ["error: give --pass-pipeline or -p, not both"],
        ),
        ("-p cse --print-ir-after=ces", ["error: 'ces' is not a pass"]),
        ("-t tritn", ["error: 'tritn' is not a target", "help: did you mean 'triton'?"]),
        ("-f mlir", ["copy.dt:1:1: error:"]),
        ("--load nothing.py", ["error: nothing.py is not a Python file that can be loaded"]),
        ("-o nowhere/out.mlir", ["error: nowhere/out.mlir: no such file or directory"]),
    ],
)
def test_arguments_are_refused(arguments: str, messages: list[str], tool: Tools) -> None:
    tool(f"dt-opt copy.dt {arguments}").refuses(*messages)


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ("nothing.dt", ["error: nothing.dt: no such file or directory"]),
        ("latin1.dt", ["error: latin1.dt is not a text in UTF-8"]),
        (
            "misspelled_operation.mlir",
            [
                "misspelled_operation.mlir:2:1: error: there is no operation 'dt.labl'",
                "help: did you mean 'dt.label'?",
            ],
        ),
        (
            "malformed_output.mlir",
            ["malformed_output.mlir:1:1: error: 'dt.output' is malformed: 'f' is not a function"],
        ),
        (
            "foreign_operation.mlir",
            ["foreign_operation.mlir:1:1: error: there is no operation 'other.thing'"],
        ),
        ("labels.mlir --no-implicit-module", ["error: builtin.module"]),
    ],
)
def test_inputs_are_refused(arguments: str, messages: list[str], tool: Tools) -> None:
    tool(f"dt-opt {arguments}").refuses(*messages)


def test_a_text_of_comments_is_an_empty_module(tool: Tools) -> None:
    tool("dt-opt -", "// nothing\n").prints("builtin.module {\n}")
