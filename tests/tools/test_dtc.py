"""`dtc`: what it prints, draws, chooses and refuses."""

from pathlib import Path

import pytest
from command import Tools

SCHEDULED = Path(__file__).parents[1] / "filecheck" / "inputs" / "scheduled.dt"


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("", ["def f_kernel("]),
        ("--emit dt", ["dt.func @f[x] : f32", "sched.block @f(x: 8)"]),
        ("--emit loop", ["loop.for %x = x in %x_block size 8 step 8 tile of f"]),
        ("--emit tile", ["tile.kernel @f_kernel"]),
        ("--emit tile --print-debuginfo", ['loc("doubled.dt":1:']),
        (
            "--dtype A=f16,f=f16 --emit dt",
            ["dt.input @A : tensor<?xf16>", "dt.func @f[x] declared : f16"],
        ),
    ],
)
def test_levels_are_printed(options: str, parts: list[str], tool: Tools) -> None:
    tool(f"dtc doubled.dt {options}").prints(*parts)


def test_numbers_have_all_digits_of_types_that_are_declared_anew(tool: Tools) -> None:
    text = "Func f; In A; Var x; f[x] = A[x] * (1 / 3) + sqrt(2); f.compile();"
    Path("numbers.dt").write_text(text)
    for tail in ("", " --emit tile", " --auto x=8"):
        tool(f"dtc numbers.dt --dtype A=f64{tail}").prints("0.33333333333333", "1.4142135623730951")
    tool("dtc numbers.dt").prints("A[x] * 0.33333334 + 1.4142135;")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("--emit ttir --arch sm_80 --sizes x=64,y=64,k=32", "tt.func public @f_kernel"),
        (
            "--emit stats --arch gfx942",
            "kernel target registers spilled_bytes shared_bytes threads\nf_kernel gfx942 ",
        ),
    ],
)
def test_what_triton_compiles_is_printed(options: str, part: str, tool: Tools) -> None:
    # In one process Triton either compiles kernels or interprets them, as other tests want it.
    command = f"dtc '{SCHEDULED}' {options}"
    tool.in_a_process(command).prints(part)


def test_the_result_goes_to_a_file(tool: Tools) -> None:
    done = tool("dtc doubled.dt -o out.py")
    done.prints()
    assert done.out == ""
    assert "def f_kernel(" in Path("out.py").read_text()


def test_help_names_the_options(tool: Tools) -> None:
    tool("dtc --help").prints("--emit LEVEL")


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ("", ["dtc: error: the following arguments are required: file"]),
        (
            "doubled.dt --emit tiles",
            ["error: --emit: there is no level 'tiles'", "help: did you mean 'tile'?"],
        ),
        (
            "doubled.dt --emt tile",
            ["dtc: error: --emt is not an option; did you mean --emit?"],
        ),
        (
            "doubled.dt --run x=8 y=4",
            ["'y=4'; an option takes several values with commas between them"],
        ),
        ("doubled.dt --dtype A=f16,A=f32", ["error: --dtype: 'A' is given two types"]),
        ("doubled.dt --dtype A", ["error: --dtype: 'A' is not of the form name=value"]),
        ("doubled.dt --dtype A=half", ["error: 'half' is not an element type"]),
        ("doubled.dt --dtype A=half --print-pipeline", ["error: 'half' is not an element type"]),
        (
            "doubled.dt --run x=many",
            ["error: --run: the size of 'x' must be a number of 0 or more, not 'many'"],
        ),
        (
            "doubled.dt --run --emit loop",
            ["error: --run runs the program; it does not go with --emit or --print-pipeline"],
        ),
        (
            "doubled.dt --emit stats --arch sm_42",
            ["error: 'sm_42' is not a target", "help: there are sm_80, ", "gfx942"],
        ),
        (
            "doubled.dt --emit dt --print-kernels-only",
            ["error: --print-kernels-only goes with --emit loop, tile and warp"],
        ),
        ("nothing.dt", ["error: nothing.dt: no such file or directory"]),
        ("nothing.dt --print-pipeline", ["error: nothing.dt: no such file or directory"]),
        (
            "misspelled_operation.mlir",
            [
                "error: misspelled_operation.mlir: dtc compiles programs",
                "help: dt-opt takes .mlir",
            ],
        ),
        ("largest_products.dt --run i=3,j=4", ["error: the labels i, j have one size"]),
        (
            "largest_products.dt --run k=0",
            [
                "error: the program cannot run on these inputs: gram: 'k' has size 0, but maximum"
                " in 'gram' needs 1 or more",
            ],
        ),
        ("doubled.dt --best --choose B=4", ["error: --best chooses; it does not go with --choose"]),
        (
            "doubled.dt --device h200",
            ["error: --device is about what --best, --auto and --emit cost are for"],
        ),
        ("doubled.dt --database found.sqlite", ["error: --database is about what --best takes"]),
        (
            "doubled.dt --auto --best",
            ["error: --best and --auto both choose a schedule; give one of them"],
        ),
        (
            "doubled.dt --auto --choose B=4",
            ["error: --auto leaves the program's space aside; it does not go with --choose"],
        ),
        (
            "doubled.dt --auto --device abacus",
            [
                "error: there are no figures of the device 'abacus'",
                "help: there are those of a100, b200, h100, h200, mi300x",
            ],
        ),
        (
            "doubled.dt --auto z=4",
            ["error: there is no label 'z' to give a size"],
        ),
        (
            "doubled.dt --auto x=many",
            ["error: --auto: the size of 'x' must be a number of 0 or more, not 'many'"],
        ),
    ],
)
def test_arguments_are_refused(arguments: str, messages: list[str], tool: Tools) -> None:
    tool(f"dtc {arguments}").refuses(*messages)


def test_what_fails_leaves_an_output_file_as_it_was(tool: Tools) -> None:
    output = Path("out.py")
    output.write_text("keep\n")
    tool("dtc undeclared.dt -o out.py").refuses("undeclared.dt:2:8: error: 'B' is not declared")
    assert output.read_text() == "keep\n"


# A program whose schedule is a space is compiled once it is chosen.


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            "--choose B=32,WHERE=1,f.num_warps=8",
            [
                "f.block(x:32, y:32);",
                "f.num_warps(8);",
                "f.compile();",
                "def g_kernel",
                "def f_kernel",
            ],
        ),
        (
            "--choose B=32 --emit dt",
            [
                "sched.block @f(x: 32, y: 32)",
                "sched.num_warps @f({4, 8})",
                "sched.alternatives @WHERE",
            ],
        ),
    ],
)
def test_schedules_are_chosen(options: str, parts: list[str], tool: Tools) -> None:
    tool(f"dtc space_of_schedules.dt {options}").prints(*parts)


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (
            "",
            [
                "space_of_schedules.dt:10:1: error: the schedule is a space of 8 schedules: it"
                " leaves open B = {16, 32}, f.num_warps = {4, 8}, WHERE = {0: g.fuse_at(f, y), 1:"
                " none}",
                "help: choose, as in '--choose B=16,…', take the best that was found with"
                " '--best', or search it with dt-tune (in Python with dt_mlir.tune, or compile it"
                " with autotuned())",
            ],
        ),
        (
            "--choose B=32",
            [
                "error: the schedule is a space of 4 schedules: it leaves open f.num_warps ="
                " {4, 8}, WHERE = {0: g.fuse_at(f, y), 1: none}",
            ],
        ),
        ("--choose B=32,B=16", ["error: --choose: 'B' is chosen twice"]),
        ("--choose B", ["error: --choose: 'B' is not of the form name=value"]),
        (
            "--best --database none.sqlite",
            ["error: there is no database none.sqlite", "help: search with dt-tune first"],
        ),
    ],
)
def test_choices_are_refused(options: str, messages: list[str], tool: Tools) -> None:
    tool(f"dtc space_of_schedules.dt {options}").refuses(*messages)


def test_a_program_runs_without_its_schedule(tool: Tools) -> None:
    tool("dt-run space_of_schedules.dt x=5 y=3").prints("f: 5 x 3")


# What program instances compute is drawn.


def test_program_instances_are_drawn(tool: Tools) -> None:
    done = tool("dtc grouped_blocks.dt --draw blocks.svg --sizes x=40,y=20")
    done.prints()
    assert done.out == ""
    picture = Path("blocks.svg").read_text()
    assert "f[x = 40, y = 20]: 15 program instances" in picture
    # The first block, in tiles of half its width; the last, cut off at the edge.
    place = 'y="42.00" width="{}" height="180.00" fill="{}" stroke="{}"'
    tile = place.format("109.60", "#440154", "#fff")
    block = place.format("219.20", "none", "#000")
    shapes = [f'<rect x="46.00" {tile}', f'<rect x="155.60" {tile}', f'<rect x="46.00" {block}']
    lines = picture[picture.index("15 program instances") :].splitlines()
    first = next(i for i, line in enumerate(lines) if shapes[0] in line)
    assert all(shape in line for shape, line in zip(shapes, lines[first:]))
    assert any(">14</text>" in line for line in lines[first + 3 :])


def test_a_drawn_program_is_compiled_too(tool: Tools) -> None:
    tool("dtc grouped_blocks.dt --draw blocks.svg -o out.py").prints()
    assert "<rect" in Path("blocks.svg").read_text()
    assert "def f_kernel(" in Path("out.py").read_text()


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        ("--draw blocks.png", ["error: --draw: blocks.png does not end in .svg"]),
        (
            "--explain --emit tile",
            ["error: --explain does not go with --emit, --print-pipeline or --run"],
        ),
        (
            "--draw blocks.svg --emit tile",
            ["error: --draw does not go with --emit or --print-pipeline"],
        ),
        (
            "--draw blocks.svg --sizes x=40000,y=20000",
            [
                "error: the kernel of 'f' has 12500000 program instances at these sizes, more than"
                " 4096",
                "help: draw it at smaller sizes",
            ],
        ),
        (
            "--draw blocks.svg --sizes z=4",
            ["error: there is no label 'z' to give a size"],
        ),
    ],
)
def test_drawings_are_refused(options: str, messages: list[str], tool: Tools) -> None:
    tool(f"dtc grouped_blocks.dt {options}").refuses(*messages)


@pytest.mark.parametrize("options", ["", "--emit tile"])
def test_a_program_is_not_written_over(options: str, tool: Tools) -> None:
    before = Path("grouped_blocks.dt").read_text()
    tool(f"dtc grouped_blocks.dt {options} -o ./grouped_blocks.dt").refuses(
        "error: -o: ./grouped_blocks.dt is an input, and would be overwritten",
        "help: name another file",
    )
    assert Path("grouped_blocks.dt").read_text() == before


def test_a_loaded_file_is_not_written_over(tool: Tools) -> None:
    Path("passes.py").write_text("# Nothing.\n")
    tool("dtc grouped_blocks.dt --load passes.py -o passes.py").refuses(
        "error: -o: passes.py is an input, and would be overwritten"
    )
    assert Path("passes.py").read_text() == "# Nothing.\n"


@pytest.mark.parametrize(
    "options", ["--emit cost --sizes x=65,y=9", "--emit stats --sizes x=65,y=9", "--auto x=65,y=9",
                "--run x=65,y=9"]
)  # fmt: skip
def test_sizes_contradict_fixed_ones(options: str, tool: Tools) -> None:
    *_, option, _ = options.split()
    tool(f"dtc grouped_blocks.dt {options} --fix x=64,y=9").refuses(
        f"error: --fix gives 'x' the size 64, and {option} 65", "help: give it one size"
    )
