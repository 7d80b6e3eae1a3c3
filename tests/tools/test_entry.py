"""The ends of the processes of command-line tools."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import BIN, PROGRAMS

DTC = str(BIN / "dtc")
PROGRAM = str(PROGRAMS / "copy.dt")


def _run(entry: str) -> subprocess.CompletedProcess[str]:
    """Runs a made-up tool, which is the body of its `main`."""
    code = (
        "import sys, types, atexit, threading, time\n"
        "from dt_mlir.tools import entry\n"
        f"def main():\n    {entry}\n"
        "sys.modules['dt_mlir.tools.made_up'] = types.SimpleNamespace(main=main)\n"
        "entry._run('made_up')"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("pass", 0), ("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('why')", 1),
        ("raise KeyboardInterrupt", 130), ("raise ValueError('a fault')", 1),
    ],
)  # fmt: skip
def test_the_status_is_that_of_the_tool(body: str, status: int) -> None:
    done = _run(body)
    assert done.returncode == status
    said = {"sys.exit('why')": "why", "raise KeyboardInterrupt": "interrupted"}.get(body, "")
    if "fault" in body:
        assert done.stderr.strip().endswith("ValueError: a fault")
    else:
        assert done.stderr.strip() == said


def test_what_is_printed_registered_and_under_way_is_done_first() -> None:
    done = _run(
        "print('printed'); atexit.register(print, 'registered');"
        " threading.Thread(target=lambda: (time.sleep(0.2), print('under way'))).start()"
    )
    assert done.returncode == 0
    assert done.stdout.split("\n") == ["printed", "under way", "registered", ""]


def test_what_was_registered_before_runs() -> None:
    """As it does where the coverage of tests is measured."""
    code = (
        "import atexit, sys, types\n"
        "atexit.register(print, 'before')\n"
        "from dt_mlir.tools import entry\n"
        "sys.modules['dt_mlir.tools.made_up'] = types.SimpleNamespace(main=lambda: sys.exit(3))\n"
        "entry._run('made_up')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "before\n")


def test_nothing_is_taken_apart() -> None:
    """Python would call `__del__` of what modules hold."""
    done = _run("sys.held = type('Held', (), {'__del__': lambda self: print('gone')})()")
    assert done.returncode == 0
    assert done.stdout == ""


def test_what_cannot_be_printed_is_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([DTC, PROGRAM], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: no space left on device\n"
    late = _run("sys.stdout = open('/dev/full', 'w'); print('late')")
    assert late.returncode == 120


def test_a_closed_output_is_refused() -> None:
    done = subprocess.run(["sh", "-c", f"{DTC} {PROGRAM} >&-"], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: standard output is closed; -o names a file instead\n"
    quiet = subprocess.run(["sh", "-c", f"{DTC} {PROGRAM} 2>&-"], stdout=subprocess.PIPE)
    assert quiet.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [("f.dt x=4 --no", True), ("f.dt x=4 --cpu --no", False), ("f.dt x=4 --ray=here --no", False)],
)
def test_a_search_begins_to_import_before_all_else(arguments: str, begins: bool) -> None:
    code = (
        "import atexit, signal, sys\n"
        "from dt_mlir.tools import entry\n"
        "from dt_mlir.tuning.workers import processes\n"
        "def begin():\n"
        "    print('xdsl' in sys.modules, signal.getsignal(signal.SIGTERM) != signal.SIG_DFL)\n"
        "    atexit.register(print, 'ended')\n"
        "processes.begin_imports = begin\n"
        "entry.dt_tune()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--no" in done.stderr
    # What was begun is ended, although Python does not take the process apart.
    assert done.stdout.split("\n")[:-1] == ["False True", "ended"] * begins


def test_a_closed_standard_error_gets_nothing_into_the_output() -> None:
    done = subprocess.run(["sh", "-c", f"{DTC} nowhere.dt 2>&-"], stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_search_without_processes_is_refused_in_words() -> None:
    """Beginning to import early may fail; a process that is needed later fails again, in words."""
    code = (
        "import sys\n"
        "from dt_mlir.tools import entry\n"
        "from dt_mlir.tuning.workers import processes\n"
        "def begin():\n"
        "    raise OSError(24, 'Too many open files')\n"
        "processes.begin_imports = begin\n"
        "entry.dt_tune()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "nowhere.dt", "x=4"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "error: nowhere.dt: no such file or directory\n"
