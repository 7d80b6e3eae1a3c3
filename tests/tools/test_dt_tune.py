"""`dt-tune`: searches, and what it refuses."""

import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import Done, Tools
from variants import vary

from dt_mlir.diagnostics import CompileError

BASELINES = """\
import torch


def twice(A, V):
    return (A + V[0]) * 2


def less(A):
    return A[1:]


def wrong(A):
    return A + A[0] + 1


def fails(A):
    raise KeyError("A")
"""


@pytest.fixture(autouse=True)
def baselines(tool: Tools) -> None:
    """Writes functions that programs are compared with."""
    (tool.folder / "base.py").write_text(BASELINES)


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def shows(done: Done, pattern: str) -> None:
    """Asserts that a command succeeds and that a pattern is found on standard output."""
    done.prints()
    assert re.search(pattern, done.out), done.out


SPACE = "9 schedules, 9 tried, 3 illegal, 6 timed (interpreter)\n"
BEST = r"f\.block\(x:(4|8|16), y:\1\);"


def test_search_finds_the_best_schedule(tool: Tools) -> None:
    done = tool(
        "dt-tune three_places.dt x=20 y=9 --cpu --jobs 2 --database db.sqlite --rounds 2"
        " --keep 1000 --plot all.png -o best.dt --baseline torch=base.py:twice"
    )
    done.prints(
        f"three_places.dt on cpu\n{SPACE}  3 illegal: g.fuse_at: 'f' has no loop over 'z' (such as "
    )
    assert re.search(r"^certificate [0-9a-f]{16}: \d+ proved$", done.err, re.MULTILINE), done.err
    # Two rounds, two beside the baseline, and one more if it was the fastest while others came.
    shows(
        done,
        r"ms +of best +rounds +registers +spilled +shared +schedule\n"
        r".* 1\.000 +[45] .* WHERE=[02], B=(4|8|16)\n",
    )
    shows(done, r" 1\.000 +2 +the best schedule\n.* 2 +torch\n")
    for picture in ("all.png", "all.svg"):
        assert Path(picture).stat().st_size > 0
    shows(tool("dtc best.dt"), BEST)
    # What was measured is not measured again.
    again = "dt-tune three_places.dt x=20,y=9 --cpu --database db.sqlite --rounds 2 --timeout 0.01"
    tool(again).prints(SPACE)
    done = tool("dtc three_places.dt --best --database db.sqlite -o best.py")
    done.remarks("remark: WHERE=")
    assert re.search(
        r"remark: WHERE=[02], B=(4|8|16), measured at x=20,y=9.* on cpu with dt-mlir", done.err
    ), done.err
    assert re.search(BEST, Path("best.py").read_text())


def test_search_of_trials_at_two_sizes(tool: Tools) -> None:
    for sizes in ("x=20 y=9", "x=8 y=8"):
        done = tool(
            f"dt-tune three_places.dt {sizes} --cpu --jobs 2 --database db.sqlite --rounds 1"
            " --trials 3 --seed 1"
        )
        done.prints("9 schedules, 3 tried,")
    best = "dtc three_places.dt --database db.sqlite"
    done = tool(f"{best} --best")
    done.refuses(
        "error: there are records for ",
        "help: say which, as in --best x=4096,y=4096 and --device (in Python: sizes= and device=)",
    )
    assert re.search(r"records for .*x=.* on cpu; .*x=.* on cpu", done.err), done.err
    tool(f"{best} --best x=8 --device CPU").remarks("measured at x=8,y=8")
    done = tool(f"{best} --best x=7")
    done.refuses("error: no schedule of the space has been measured")


def test_search_of_illegal_schedules_alone(tool: Tools) -> None:
    vary(
        "two_blocks.dt",
        ("Func f", "Func f, g"), ("Var x", "Var x, z"), ("f.block(x:B)", "f.block(z:B)"),
        ("f.compile();", "f.compile(); g[z] = A[z]; g.compile();"),
    )  # fmt: skip
    done = tool("dt-tune two_blocks.dt --cpu x=8 z=8 --database db")
    done.refuses("error: no schedule of the space has a time")
    parts = [
        "2 schedules, 2 tried, 2 illegal, 0 timed (interpreter)",
        "2 illegal: f.block: there is no label 'z' in the kernel of 'f'",
        "no schedule has a time",
    ]
    places = [done.out.find(part) for part in parts]
    assert 0 <= places[0] < places[1] < places[2], done.out


def test_search_says_why_a_baseline_has_no_time(tool: Tools) -> None:
    reasons = {
        "less": r"its results have other shapes than the program's",
        "fails": r"KeyError: 'A'",
        "wrong": r"its 'f' differs from the program's by up to \S+, and the largest element is ",
    }
    for function, reason in reasons.items():
        done = tool(
            "dt-tune two_blocks.dt --cpu x=8 --database db --rounds 1"
            f" --baseline a=base.py:{function}"
        )
        done.refuses("error: the baseline 'a' has no time: ")
        assert re.search(f"error: the baseline 'a' has no time: {reason}", done.err), done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--cpu y=8 --database db", "error: there is no label 'y' to give a size"),
        ("--cpu x=0 --database db", "error: 'x' has size 0, but needs 1"),
        ("--cpu x --database db", "error: sizes: 'x' is not of the form name=value"),
        (
            "--cpu x=8 --jobs 0",
            "dt-tune: error: argument --jobs: '0' is not a number of 1 or more",
        ),
        (
            "--cpu x=8 --plot plot.gif",
            "error: --plot: plot.gif ends in neither .png nor .svg",
        ),
        (
            "--cpu x=8 --baseline base",
            "error: --baseline: 'base' is not of the form name=file.py:function",
        ),
        ("--cpu x=8 --baseline a=none.py:f", "error: --baseline: there is no file none.py"),
        (
            "--cpu x=8 --baseline a=base.py:other",
            "error: --baseline: base.py has no function 'other'",
        ),
        (
            "--cpu x=8 --baseline a=two_blocks.dt:f",
            "error: --baseline: two_blocks.dt is no Python file: invalid syntax (two_blocks.dt, line 1)",
        ),
        (
            "--cpu x=8 --baseline a=base.py:less --baseline a=base.py:less",
            "error: --baseline: each needs a name of its own",
        ),
        (
            "--cpu x=8 --keep 0.5",
            "error: --keep is at least 1",
        ),
        (
            "--cpu x=8 --timeout 0",
            "error: --timeout and --budget are more than 0",
        ),
        (
            "--cpu x=8 --budget nan",
            "error: argument --budget: 'nan' is not a number of seconds, 0 or more",
        ),
        ("--cpu x=8 -o none/best.dt", "error: none/best.dt: no such file or directory"),
        ("--cpu x=8 --plot none/p.svg", "error: none/p.svg: no such file or directory"),
        ("--cpu x=8 -o extensions", "error: extensions: is a directory"),
        (
            "--cpu x=8 --database extensions",
            "error: extensions cannot be used as a database: unable to open database file",
        ),
    ],
)
def test_arguments_are_refused(arguments: str, message: str, tool: Tools) -> None:
    tool(f"dt-tune two_blocks.dt {arguments}").refuses(message)


def test_a_label_that_nothing_uses_needs_no_size(tool: Tools) -> None:
    vary("two_blocks.dt", ("Var x", "Var x, z"))
    done = tool("dt-tune two_blocks.dt --cpu x=0 --database db")
    done.refuses("error: 'x' has size 0, but needs 1")


def test_without_a_gpu_there_is_a_help(tool: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    tool("dt-tune two_blocks.dt x=8").refuses(
        "error: there is no GPU to tune for", "help: --cpu times Triton's interpreter instead"
    )


def test_what_is_no_program_is_refused(tool: Tools) -> None:
    done = tool("dt-tune base.py --cpu x=8")
    done.refuses("base.py: dt-tune takes programs, FILE.dt")


def test_a_directive_that_is_wrong_everywhere_is_refused(tool: Tools) -> None:
    vary(
        "two_blocks.dt", ("{4, 8}", "{3}"), ("block(x:B)", "block(x:B); f.num_warps(3)")
    )
    done = tool("dt-tune two_blocks.dt --cpu x=8 --database db")
    done.refuses("error: f.num_warps: 3 is not a power of two")


def test_a_result_that_cannot_be_checked_is_refused(tool: Tools) -> None:
    vary(
        "two_blocks.dt",
        ("A[x] + A[0]", "rsum(A[z] + x - len(x), z)"), ("Var x", "Var x; RVar z"),
    )  # fmt: skip
    done = tool("dt-tune two_blocks.dt --cpu x=100000,z=100000")
    done.refuses("error: checking a result needs 1e+10 points, of which no part can be chosen")


def test_a_database_of_something_else_is_refused(tool: Tools) -> None:
    with closing(sqlite3.connect("foreign")) as database:
        database.execute("CREATE TABLE candidates (a)")
        database.commit()
    tool("dt-tune two_blocks.dt --cpu x=8 --database foreign").refuses(
        "error: foreign cannot be used as a database: it is one of something else, or of another"
        " version"
    )


MATMUL = """\
Func f : f16;
In A : f16, B : f16;
Var x, y;
RVar k;
f[x, y] = rdot(A[x, k], B[k, y], k);
f.compile();
"""


def test_a_space_is_derived_and_searched_by_prediction(tool: Tools) -> None:
    (tool.folder / "product.dt").write_text(MATMUL)
    search = "dt-tune product.dt --auto x=64 y=32,k=64 --cpu --jobs 2 --database db --rounds 2"
    done = tool(f"{search} -o best.dt --trials 4")
    shows(done, r"^product\.dt on cpu\n\d+ schedules, 4 tried, 4 timed \(interpreter\)\n")
    shows(done, r"  tiles left out by prediction: \d+ ")
    shows(done, r"ms +of best .*\n.* 1\.000 +\d .* f=block\(x:\d+, y:\d+\) tensorize\(")
    tool("dtc best.dt").prints("")
    # The first one is that of `auto`, and a longer search knows what this one measured.
    tool("dtc product.dt --auto x=64,y=32,k=64 -o auto.py").prints("")
    done = tool(f"{search} --trials 6")
    shows(done, r"schedules, 6 tried, 6 timed")
    tool("dtc product.dt --best x=64 --database db -o best.py").remarks("remark: f=", "measured at ")
    assert "def f(A, B, *, out=None):" in Path("best.py").read_text()


def test_a_best_schedule_keeps_the_rounding_of_the_program(tool: Tools) -> None:
    (tool.folder / "product.dt").write_text(MATMUL.replace("f16", "f32"))
    tool("dt-tune product.dt --auto x=16 y=16,k=16 --cpu --jobs 2 --database db --trials 2").prints("")
    text = MATMUL.replace("f16", "f32").replace("f.compile", "f.precision(tf32); f.compile")
    (tool.folder / "product.dt").write_text(text)
    tool("dtc product.dt --best --database db").refuses(
        "error: no schedule of the space has been measured"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--cpu x=8 --device h200", "error: --device is about what --auto is for"),
        ("--cpu x=8 --auto --device h0", "error: there are no figures of the device 'h0'"),
        ("--cpu x=8 --gpus all", "error: --gpus goes neither with --cpu nor with --ray"),
        ("--cpu x=8 --ray 127.0.0.1:1", "error: --ray: there is no cluster at 127.0.0.1:1: "),
    ],
)
def test_arguments_about_devices_are_refused(arguments: str, message: str, tool: Tools) -> None:
    done = tool(f"dt-tune two_blocks.dt {arguments}")
    done.refuses(message)


def test_a_best_schedule_is_found_where_sizes_follow_from_others(tool: Tools) -> None:
    text = "Func f; In X; Var p = size(X, 0) // 2;\nf[p] = X[2 * p] + X[2 * p + 1];\nf.compile();\n"
    (tool.folder / "halves.dt").write_text(text)
    tool("dt-tune halves.dt --auto X_0=12 --cpu --jobs 1 --database db --trials 2 --rounds 1").prints("")
    tool("dtc halves.dt --best X_0=12 --database db -o best.py").remarks("measured at ")


def test_an_address_is_no_size(tool: Tools) -> None:
    done = tool("dt-tune two_blocks.dt --cpu --ray x=8 x=9")
    done.refuses("error: --ray: 'x=8' is not an address", "help: write sizes in front of --ray")


def test_a_gpu_without_figures_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from dt_mlir.tools.searching import _predicted

    assert _predicted(None, "NVIDIA GeForce RTX 4090", False) is None
    with pytest.raises(CompileError, match="there are no figures of the device") as error:
        _predicted(None, "NVIDIA GeForce RTX 4090", True)
    assert error.value.hint == "name one that is like it, as in --device h100"
    found = _predicted("h100", "NVIDIA GeForce RTX 4090", True)
    assert found is not None
    assert found.name == "NVIDIA H100"
