"""`dt-opt --verify-diagnostics`: what is expected is produced, and nothing else."""

import pytest
from command import Tools

REFUSED = """Func f; In A; Var x;
f[x] = A[x];
f.block(x:0);
f.compile();
"""
ERROR = "f.block: the number for 'x' must be positive, not 0"

MATCHED = [
    "f.block(x:0); # expected-error {{must be positive}}",
    "f.block(x:0);\n# expected-error@-1 {{must be positive}}",
    "# expected-error@+1 {{must be positive}}\nf.block(x:0);",
    "f.block(x:0);\n# expected-error@above {{f.block}}",
    "# expected-error@below {{f.block}}\nf.block(x:0);",
]


@pytest.mark.parametrize("line", MATCHED)
def test_places(line: str, tool: Tools) -> None:
    text = REFUSED.replace("f.block(x:0);", line)
    tool("dt-opt -f dt - -p verify-schedule --verify-diagnostics", text).prints()


def check(tool: Tools, text: str, passes: str = "convert-dt-to-loop,apply-schedule") -> str:
    """The messages of a comparison that fails."""
    done = tool(f"dt-opt -f dt - -p {passes} --split-input-file --verify-diagnostics", text)
    assert done.status == 1
    assert not done.out
    return done.err


def test_an_error_that_is_not_expected(tool: Tools) -> None:
    assert check(tool, REFUSED).startswith(f"<stdin>:3:1: error: unexpected error: {ERROR}")


def test_an_error_that_is_not_produced(tool: Tools) -> None:
    text = REFUSED.replace("x:0", "x:8") + "# expected-error@above {{must be positive}}\n"
    message = "<stdin>:5:1: error: the expected error 'must be positive' was not produced"
    assert check(tool, text).startswith(message)


def test_an_error_of_another_line_is_named_with_the_one_that_is_missing(tool: Tools) -> None:
    text = REFUSED + "# expected-error {{must be positive}}\n"
    err = check(tool, text)
    assert "<stdin>:5:1: error: the expected error 'must be positive' was not produced" in err
    assert f"<stdin>:3:1: note: unexpected error: {ERROR}" in err


def test_helps_and_notes_are_expected_too(tool: Tools) -> None:
    text = REFUSED.replace("f.block(x:0);", "f.block(x:4);\nf.block(x:8);")
    err = check(tool, text)
    assert "unexpected error: f.block: 'x' already has blocks of 4" in err
    assert "unexpected help: leave one of them out" in err
    assert "<stdin>:3:1: note: unexpected note: the other one is here" in err


def test_lines_are_counted_from_the_start_of_the_file(tool: Tools) -> None:
    first = REFUSED.replace("f.block(x:0);", "f.block(x:0); # expected-error {{positive}}")
    err = check(tool, first + "# // -----\n" + REFUSED)
    assert err.startswith("<stdin>:8:1: error: unexpected error")


def test_warnings_are_expected(tool: Tools) -> None:
    text = REFUSED.replace("f.block(x:0);", "g[x] = A[x];").replace("Func f", "Func f, g")
    command = "dt-opt -f dt - --verify-diagnostics"
    done = tool(command, text)
    done.refuses("<stdin>:3:1: error: unexpected warning: function 'g' is never used")
    expected = "g[x] = A[x]; # expected-warning {{'g' is never used}}"
    done = tool(command, text.replace("g[x] = A[x];", expected))
    done.prints("dt.func @f")
    assert not done.err


def test_a_diagnostic_without_a_place(tool: Tools) -> None:
    text = REFUSED.replace("f.block(x:0);\n", "")
    text += "# expected-error@unknown {{there is no function 'g' to schedule}}\n"
    text += "# expected-help@unknown {{nothing that is compiled}}\n"
    passes = "'convert-dt-to-loop,schedule-num-warps{function=g warps=4}'"
    tool(f"dt-opt -f dt - -p {passes} --verify-diagnostics", text).prints()


@pytest.mark.parametrize(
    "comment",
    [
        "expected-eror {{x}}", "expected-error@here {{x}}", "expected-error: x",
        "expected-error {{x", "expected-eror@above (y) expected-error {{x}}",
    ],
)
def test_comments_of_another_form_are_refused(comment: str, tool: Tools) -> None:
    done = tool("dt-opt -f dt - --verify-diagnostics", f"{REFUSED}# {comment}\n")
    done.refuses(
        "<stdin>:5:3: error: 'expected-", "does not begin a valid expectation",
        "help: write 'expected-",
    )


def test_notes_and_two_expectations_on_a_line(tool: Tools) -> None:
    lines = (
        "f.block(x:4); # expected-note {{the other one}}\n"
        "f.block(x:8); # expected-error {{blocks of 4}} expected-help {{leave one}}"
    )
    text = REFUSED.replace("f.block(x:0);", lines)
    passes = "convert-dt-to-loop,apply-schedule"
    for given in (text, text.replace("\n", "\r\n")):
        tool(f"dt-opt -f dt - -p {passes} --verify-diagnostics", given).prints()


def test_places_outside_of_the_text(tool: Tools) -> None:
    text = REFUSED.replace("x:0", "x:8") + "# expected-error@+100 {{x}} expected-error@-100 {{x}}\n"
    err = check(tool, text)
    assert err.count("the expected error 'x' was not produced") == 2


def test_all_parts_are_checked(tool: Tools) -> None:
    err = check(tool, REFUSED + "# // -----\n" + REFUSED)
    assert "<stdin>:3:1: error: unexpected error" in err
    assert "<stdin>:8:1: note: unexpected error" in err


def test_only_comments_expect(tool: Tools) -> None:
    module = '"test.op"() {a = "expected-error {{x}}"} : () -> ()'
    options = "--allow-unregistered-dialect --verify-diagnostics"
    tool(f"dt-opt - {options}", module).prints("test.op")
