"""Refusals of passes in an order, or with options, that `dtc` never gives them."""

import pytest
from command import Tools

ORDERS = [
    (
        "fused.dt", "schedule-align-storage{function=g multiples='x:8'},"
        "schedule-fuse-at{function=g consumer=f label=x}",
        ["error: g.fuse_at: the storage of 'g' is aligned, and fused it has none"],
    ),
    (
        "fused.dt", "schedule-block{function=g sizes='x:4'},"
        "schedule-fuse-at{function=g consumer=f label=x}",
        ["error: g.fuse_at: 'g' is already partitioned into blocks", "help: fuse it first"],
    ),
    (
        "fused.dt", "schedule-tensorize{function=g sizes='x:4'},"
        "schedule-fuse-at{function=g consumer=f label=x}",
        ["error: g.fuse_at: the loops of 'g' are already tiled", "help: fuse it first"],
    ),
    (
        "fused.dt", "schedule-num-warps{function=g warps=4},"
        "schedule-fuse-at{function=g consumer=f label=x}",
        [
            "error: g.fuse_at: 'g' has a 'num_warps', which belongs to the kernel that it is fused"
            " into",
            "help: write 'f.num_warps(…)'",
        ],
    ),
    (
        "fused.dt", "schedule-block{function=g sizes='x:4'},schedule-inline{function=g}",
        ["error: g.inline: 'g' is already partitioned into blocks", "help: inline it first"],
    ),
    (
        "fused.dt", "schedule-tensorize{function=g sizes='x:4'},schedule-inline{function=g}",
        ["error: g.inline: the loops of 'g' are already tiled", "help: inline it first"],
    ),
    (
        "fused.dt", "schedule-num-warps{function=g warps=4},schedule-inline{function=g}",
        [
            "error: g.inline: 'g' has a 'num_warps', which belongs to the kernel that it is"
            " inlined into",
            "help: set it for its readers",
        ],
    ),
    (
        "fused.dt", "schedule-align-storage{function=g multiples='x:4'},schedule-inline{function=g}",
        ["error: g.inline: the storage of 'g' is aligned, and inlined it has none"],
    ),
    (
        "copy.dt", "schedule-tensorize{function=f sizes='x:6'},schedule-block{function=f sizes='x:8'}",
        [
            "error: f.block: a block of 8 is not a multiple of the tile of 6 along 'x'",
            "help: choose a multiple of 6",
        ],
    ),
    (
        "copy.dt", "schedule-block{function=f sizes='x:8'},schedule-map{function=f order=x},"
        "schedule-block{function=f sizes='y:8'}",
        ["error: f.block: the grid is already mapped", "help: block all labels before map"],
    ),
    (
        "copy.dt", "schedule-block{function=f sizes='x:4'},schedule-fuse{function=f labels=x,y,m}",
        ["error: f.fuse: the loop over 'x' is already tiled or split", "help: join it first"],
    ),
    (
        "copy.dt", "schedule-tensorize{function=f sizes='x:4'},schedule-split{function=f sizes='x:2'}",
        ["error: f.split: the loop over 'x' is already tiled", "help: split it first"],
    ),
    (
        "copy.dt", "schedule-tensorize{function=f sizes='x:4'},schedule-rename{function=f renamed='x:m'}",
        ["error: f.rename: the loop over 'x' is already tiled or split", "help: rename it first"],
    ),
    (
        "fused.dt", "schedule-fuse-at{function=g consumer=f label=x},"
        "schedule-rename{function=f renamed='x:m'}",
        [
            "error: f.rename: 'g' is fused into the kernel of 'f' already",
            "help: rename labels first, and fuse then",
        ],
    ),
    (
        "sum_of_squares.dt", "schedule-online{function=f label=k},"
        "schedule-rename{function=f renamed='k:m'}",
        [
            "error: f.rename: the loop over 'k' already computes reductions in one pass",
            "help: rename it first",
        ],
    ),
    (
        "fused.dt", "schedule-align-storage{function=g multiples='x:8'},"
        "schedule-rename{function=g renamed='x:m'}",
        [
            "error: g.rename: 'g' is already laid out in memory",
            "help: rename its labels first",
        ],
    ),
    ("copy.dt", "verify-tile", ["error: 'loop.kernel' is not of the 'tile' level"]),
    (
        "row_scaled.dt",
        "schedule-tensorize{function=f sizes='x:6'},convert-loop-to-tile,verify-tile",
        ["error: the axis 'x' still has a bound", "help: run tile-place-masks first"],
    ),
]  # fmt: skip
"""A program, passes behind `convert-dt-to-loop`, and what the last of them refuses."""

OPTIONS = [
    (
        "schedule-block{function=ff sizes='x:8'}",
        ["error: ff.block: there is no function 'ff' to schedule", "help: did you mean 'f'?"],
    ),
    (
        "schedule-num-warps{function=h warps=2}",
        [
            "error: h.num_warps: there is no function 'h' to schedule",
            "help: nothing that is compiled needs one of that name",
        ],
    ),
    (
        "schedule-num-stages{function=h stages=2}",
        ["error: h.num_stages: there is no function 'h' to schedule"],
    ),
    (
        "schedule-block{function=f sizes='x=8'}",
        ["error: f.block: 'x=8' is not an argument of a directive"],
    ),
    (
        "schedule-block{function=f}",
        ["error: pass 'schedule-block' needs the option 'sizes'", "help: its options: function:"],
    ),
    (
        "loop-fix-sizes{sizes='q:4'}",
        ["error: nothing that is compiled uses a label 'q' to fix the size of"],
    ),
    (
        "loop-fix-sizes{sizes='x:0'}",
        ["error: loop-fix-sizes: the number for 'x' must be positive, not 0"],
    ),
]
"""Passes behind `convert-dt-to-loop`, and what they refuse."""

CHOICES = [
    ("'WHERF:0'", ["error: the schedule leaves no 'WHERF' open\n", "help: did you mean 'WHERE'?"]),
    (
        "'tile:64'",
        [
            "error: the schedule leaves no 'tile' open\n",
            "help: it leaves open: BM = {64, 128}, WHERE = {0: f.map(x:x1/4, x1), 1: none}",
        ],
    ),
    ("'BM:32'", ["error: 'BM' cannot be 32\n", "help: it is one of {64, 128}"]),
    ("'WHERE:3'", ["error: 'WHERE' cannot be 3"]),
    ("'BM'", ["error: 'BM' is not a choice of the form 'name:option'"]),
    (
        "'BM:64','WHERE:1'},sched-select{choices='BM:64'",
        ["error: the schedule leaves no 'BM' open\n", "help: everything is decided"],
    ),
]
"""The option of `sched-select`, and what it refuses."""

TYPES = [
    ("'B:f16'", ["error: there is no input or function 'B' to give a type"]),
    ("'A:half'", ["error: 'half' is not an element type"]),
    ("'A'", ["error: 'A' gives no type", "help: write 'name:type'"]),
]
"""The option of `dt-set-types`, and what it refuses."""

SIZES = [
    ("q=4", ["error: nothing that is compiled uses a label 'q' to fix the size of"]),
    ("x=4,y=5", ["error: 'y' is fixed at 5, but", "has the same size and is fixed at 4"]),
    ("x=0", ["error: loop-fix-sizes: the number for 'x' must be positive, not 0"]),
]
"""The sizes of `dtc --fix`, and what is refused."""


def quoted(passes: str) -> str:
    """A pipeline as an argument of a command: its strings have double quotes."""
    return "'" + passes.replace("'", '"') + "'"


REFUSED = [
    *((program, f"convert-dt-to-loop,{passes}", messages) for program, passes, messages in ORDERS),
    *(("copy.dt", f"convert-dt-to-loop,{passes}", messages) for passes, messages in OPTIONS),
    *(("space.mlir", f"sched-select{{choices={item}}}", messages) for item, messages in CHOICES),
    *(("copy.dt", f"dt-set-types{{types={item}}}", messages) for item, messages in TYPES),
    (
        "copy.dt", "loop-fix-sizes{sizes='x:4'}",
        ["error: the module is not of the 'loop' level"],
    ),
]  # fmt: skip
"""A program, a pipeline, and what its last pass refuses."""


@pytest.mark.parametrize(("program", "pipeline", "messages"), REFUSED)
def test_passes_are_refused(
    program: str, pipeline: str, messages: list[str], tool: Tools
) -> None:
    tool(f"dt-opt {program} -p {quoted(pipeline)}").refuses(*messages)


@pytest.mark.parametrize(("sizes", "messages"), SIZES)
def test_fixed_sizes_are_refused(sizes: str, messages: list[str], tool: Tools) -> None:
    tool(f"dtc sizes_that_are_equal.dt --fix {sizes}").refuses(*messages)
