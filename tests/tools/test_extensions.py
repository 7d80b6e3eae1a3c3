"""`--load`: passes, directives and boundary conditions of a user, and what is refused of them.

A file that is refused changes nothing. What is loaded stays loaded, so that other files are loaded
in processes of their own.
"""

from pathlib import Path

import pytest
from command import Tools
from variants import vary

SCHEDULED = Path(__file__).parents[1] / "filecheck" / "inputs" / "scheduled.dt"


@pytest.mark.parametrize(
    ("file", "messages"),
    [
        (
            "takes_a_name.py",
            [
                "error: extensions/takes_a_name.py: 'tile-cse' is the name of a built-in pass",
                "help: give the pass another name, or --override to put it in the other's place",
            ],
        ),
        (
            "broken.py",
            [
                "error: extensions/broken.py:1: cannot be loaded: NameError: name 'nonsense' is not"
                " defined",
            ],
        ),
        (
            "fails_to_load.py",
            ["error: extensions/fails_to_load.py:5: cannot be loaded: AttributeError"],
        ),
        (
            "after_a_number.py",
            [
                "error: extensions/after_a_number.py: 'after' of the pass 'after-a-number' is not"
                " the name of a pass",
            ],
        ),
        (
            "not_a_name.py",
            [
                "error: extensions/not_a_name.py:",
                ": cannot be loaded: ValueError: '2x' is not a name for a directive",
            ],
        ),
    ],
)
@pytest.mark.parametrize("command", ["dtc", "dt-opt"])
def test_files_are_refused(command: str, file: str, messages: list[str], tool: Tools) -> None:
    tool(f"{command} --load extensions/{file} copy.dt").refuses(*messages)


@pytest.mark.parametrize(
    ("file", "messages"),
    [
        (
            "nowhere.py",
            [
                "error: the pass 'nowhere' runs after 'tile-fuse-map', which the pipeline does not"
                " have",
                "help: did you mean 'tile-fuse-maps'?",
            ],
        ),
        (
            "at_the_end.py",
            [
                "error: the pass 'at-the-end' runs after 'verify-tile', which checks what all"
                " passes have made",
                "help: let it run after 'tile-report-spills'",
            ],
        ),
    ],
)
def test_places_in_the_pipeline_are_refused(
    file: str, messages: list[str], tool: Tools
) -> None:
    tool.in_a_process(f"dtc --load extensions/{file} copy.dt").refuses(*messages)


def test_a_pass_without_a_place_is_warned_of(tool: Tools) -> None:
    done = tool.in_a_process("dtc --load extensions/without_place.py copy.dt -o out.py")
    done.remarks(
        "warning: extensions/without_place.py: dtc does not run the pass 'without-place', which"
        " has no 'after'"
    )


def test_a_pass_takes_the_place_of_a_built_in_one(tool: Tools) -> None:
    done = tool.in_a_process(
        "dt-opt --load extensions/takes_a_name.py --override copy.dt -p tile-cse"
    )
    done.prints("the other one")


def test_a_pass_that_makes_malformed_ir_is_named(tool: Tools) -> None:
    tool.in_a_process(f"dtc --load extensions/map_from_outside.py '{SCHEDULED}'").refuses(
        "error: 'tile.map' is malformed: its operand is defined outside the region around it",
        "note: the pass 'map-from-outside' made it",
    )


def test_a_pass_that_fails_is_named(tool: Tools) -> None:
    done = tool.in_a_process("dt-opt --load extensions/marks.py copy.dt -p fail")
    assert done.status == 3
    assert "extensions/marks.py:49: fault: AssertionError: this never holds\n" in done.err
    assert "note: in the pass 'fail'" in done.err
    assert "internal fault" not in done.err


@pytest.mark.parametrize(
    ("directive", "messages"),
    [
        (
            "f.mark(k)",
            [
                "marked_sum.dt:4:3: error: nothing has consumed the attribute 'my.mark' of"
                " 'scf.for'",
                "options of tl.range are printed from 'triton.range'",
            ],
        ),
        (
            "f.mark(x)",
            [
                "error: the loop over 'x' has one trip and vanishes: its attribute 'my.mark' would"
                " be lost",
            ],
        ),
        (
            "f.bad_option(k)",
            [
                "error: 'triton.range' has no option 'speed'",
                "help: Triton's loops have num_stages: i32, loop_unroll_factor: i32",
            ],
        ),
    ],
)
def test_what_a_directive_leaves_is_refused(
    directive: str, messages: list[str], tool: Tools
) -> None:
    vary("marked_sum.dt", ("f.mark(k)", directive))
    tool.in_a_process("dtc --load extensions/marks.py marked_sum.dt").refuses(*messages)


@pytest.mark.parametrize("condition", ["nowhere", "first"])
def test_a_place_that_is_out_of_bounds_is_the_nearest_one(condition: str, tool: Tools) -> None:
    vary("shifted_read.dt", ("nowhere", condition))
    done = tool.in_a_process(
        f"dtc --load extensions/boundary_{condition}.py shifted_read.dt"
        " --verify-semantics --run x=7,y=5"
    )  # fmt: skip
    # At every level, and on Triton's interpreter.
    done.remarks("exactly")
    done.prints("right on the")


def test_a_boundary_condition_that_fails_is_named(tool: Tools) -> None:
    vary("shifted_read.dt", ("nowhere", "fails"))
    done = tool.in_a_process("dtc --load extensions/boundary_fails.py shifted_read.dt")
    assert done.status == 3
    assert "error: " in done.err
    assert "extensions/boundary_fails.py:10: fault: " in done.err
    assert "internal fault" not in done.err


def test_a_crash_of_the_verifier_names_the_pass(tool: Tools) -> None:
    done = tool.in_a_process("dtc --load extensions/kind_of_a_kind.py sum_of_squares.dt")
    assert done.status == 3
    assert "note: in the verification of what the pass 'kind-of-a-kind' made" in done.err
