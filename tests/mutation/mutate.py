"""Seeds faults in copies of the compiler, one at a time, and says which tests notice.

    python tests/mutation/mutate.py                        # all faults, as many at once as cores
    python tests/mutation/mutate.py --only loop-end-not-clipped --layers exec
    python tests/mutation/mutate.py --list

A fault that no test notices is a gap in the tests. The faults are in `faults.py` beside this file
and, those in passes, in `faults_in_loops.py`, `faults_in_tiles.py` and `faults_in_warps.py`; one whose text is no longer
in the compiler exactly once is stale and is to be written anew.

Each fault gets a folder with a copy of the repository and an environment of its own, in which the
copy takes the place of the installed package: an environment variable alone would not reach every
process, since lit and some tests start tools with variables of their own choice.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from faults import FAULTS, Fault
from places import passes_of

ROOT = Path(__file__).resolve().parents[2]

COPIED = (
    "dt_mlir", "dialects", "passes", "tools", "tests", "examples", "docs", "benchmarks",
    "pyproject.toml", "constraints.txt", "Makefile", "README.md", "CONTRIBUTING.md", "LICENSE",
)  # fmt: skip
"""The parts of the repository that the tests need."""

NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")

TOOLS = (
    "dt-opt", "dt-reduce", "dt-run", "dt-tune", "dtc", "filecheck", "lit", "pytest", "xdsl-opt",
)  # fmt: skip
"""The programs that tests start."""

COMPARISONS = ("test_goldens.py", "test_docs.py", "test_packaging.py")
"""Unit tests that compare whole texts, or install the package: they would notice trivially."""

PROBE = """
import sys
from pathlib import Path
import dt_mlir
from dt_mlir.compiler import compile_program
print(Path(dt_mlir.__file__).resolve().parent)
for path in sorted(Path("examples").glob("*.dt")):
    try:
        compile_program(path.read_text(), str(path))
    except Exception:
        continue
    sys.exit(0)
sys.exit(3)
"""
"""Says which package is imported, and whether it still compiles an example."""

NAMED_PASS = ("tests/semantics/named_pass.py", "--drawn", "100")
"""The arguments that name the pass in which a fault is."""

CANARY = "this is the copy that is to be tested"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run of a layer."""

    failed: bool
    test: str = ""
    """The first test that failed."""
    text: str = ""
    """The output of the run."""


@dataclass
class Result:
    """The outcome of a fault."""

    fault: Fault
    caught: dict[str, str] = field(default_factory=dict[str, str])
    """The layers that noticed, each with its first test that failed."""
    invalid: str = ""
    """Why the fault says nothing about the tests."""

    @property
    def verdict(self) -> str:
        """The layers that noticed, or that none did."""
        return self.invalid or ", ".join(self.caught) or "SURVIVED"


class Processes:
    """Starts processes, and ends them with all that they started."""

    def __init__(self) -> None:
        self.running: set[subprocess.Popen[str]] = set()
        self.lock = threading.Lock()

    def run(
        self, command: Sequence[str | Path], cwd: Path, env: dict[str, str], timeout: float
    ) -> tuple[int | None, str]:
        """The exit status (None after the timeout) and the output."""
        process = subprocess.Popen(
            [str(part) for part in command], cwd=cwd, env=env, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        with self.lock:
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            self.end(process)

    def end(self, process: subprocess.Popen[str]) -> None:
        """Ends a process and its children, which share its group."""
        with self.lock:
            self.running.discard(process)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def end_all(self) -> None:
        """Ends everything that still runs."""
        for process in list(self.running):
            self.end(process)


class Workspace:
    """A copy of the repository, and an environment in which it is what is imported.

    Args:
        folder: an empty folder.
        source: the tree to copy.
        processes: starts what runs here.
    """

    def __init__(self, folder: Path, source: Path, processes: Processes) -> None:
        self.tree = folder / "tree"
        self.outcomes = folder.parent / "outcomes.json"
        self.processes = processes
        shutil.copytree(source, self.tree, symlinks=True)
        environment = folder / "env"
        venv.EnvBuilder(with_pip=False, symlinks=True).create(environment)
        self.bin = environment / "bin"
        self.python = self.bin / "python"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = environment / "lib" / version / "site-packages"
        # Plain folders: what an editable installation adds to them is not followed.
        also = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        folders = [str(self.tree), *also, *site.getsitepackages()]
        (packages / "copy.pth").write_text("\n".join(folders))
        for point in entry_points(group="console_scripts"):
            if point.name in TOOLS:
                module, _, function = point.value.partition(":")
                script = self.bin / point.name
                script.write_text(
                    f"#!{self.python}\nimport sys\nfrom {module} import {function}\n"
                    f"sys.exit({function}())\n"
                )
                script.chmod(0o755)
        temporary = folder / "tmp"
        temporary.mkdir()
        dropped = ("PYTHONHOME", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "LIT_OPTS")
        self.env = {k: v for k, v in os.environ.items() if k not in dropped} | {
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONPATH": str(self.tree),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(temporary),
        }

    def apply(self, fault: Fault) -> None:
        """Puts a fault into the copy."""
        path = self.tree / fault.file
        path.write_text(path.read_text(encoding="utf-8").replace(fault.old, fault.new), "utf-8")
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*"):
            stale.unlink()

    def run(self, command: Sequence[str | Path], timeout: float) -> tuple[int | None, str]:
        """Runs a command in the copy."""
        return self.processes.run(command, self.tree, self.env, timeout)

    def probe(self) -> str:
        """Why nothing can be said of the copy; empty if it compiles at least one example."""
        status, output = self.run([self.python, "-c", PROBE], 300)
        first, _, _ = output.partition("\n")
        if status in (0, 3) and Path(first) != (self.tree / "dt_mlir").resolve():
            raise SystemExit(f"not the copy is imported, but {first}")
        return "" if status == 0 else "breaks everything"


@dataclass(frozen=True)
class Layer:
    """A set of tests that are run together."""

    name: str
    run: Callable[[Workspace, int, float], Outcome]
    """Runs the tests in a workspace with so many processes, until the first failure."""
    exists: Callable[[], bool] = lambda: True


def _lit(*targets: str) -> Callable[[Workspace, int, float], Outcome]:
    def run(workspace: Workspace, processes: int, timeout: float) -> Outcome:
        options = ["--max-failures", "1", "-j", str(processes), "-v"]
        status, text = workspace.run(
            [workspace.bin / "lit", *options, *targets], timeout
        )
        if status is None:
            return Outcome(True, "hang")
        found = re.search(r"^(?:FAIL|TIMEOUT|UNRESOLVED): [^:]+ :: (\S+)", text, re.MULTILINE)
        return Outcome(status != 0, found[1] if found else "?", text)

    return run


def _pytest(folder: str, *ignored: str) -> Callable[[Workspace, int, float], Outcome]:
    def run(workspace: Workspace, processes: int, timeout: float) -> Outcome:
        options = ["-x", "-rfE", "--full", "--tb=short", "-p", "no:cacheprovider"]
        options += ["-n", str(processes)] if processes > 1 else []
        options += [f"--ignore={folder}/{name}" for name in ignored]
        status, text = workspace.run(
            [workspace.python, "-m", "pytest", folder, *options], timeout
        )
        if status is None:
            return Outcome(True, "hang")
        found = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", text, re.MULTILINE)
        # 5: there was no test.
        return Outcome(status not in (0, 5), found[1] if found else f"status {status}", text)

    return run


def _named(workspace: Workspace, processes: int, timeout: float) -> Outcome:
    command: list[str | Path] = [workspace.python, *NAMED_PASS]
    if workspace.outcomes.exists():
        command += ["--differing-from", workspace.outcomes]
    status, text = workspace.run(command, timeout)
    if status is None:
        return Outcome(True, "hang")
    found = re.search(r"^named (.*)$", text, re.MULTILINE)
    return Outcome(status != 0, found[1] if found else f"status {status}", text)


LAYERS = {
    layer.name: layer
    for layer in (
        Layer("filecheck", _lit("tests/filecheck", "examples/plugin/tests")),
        Layer("unit", _pytest("tests/unit", *COMPARISONS)),
        Layer("exec", _pytest("tests/exec", "test_ahead_of_time.py")),
        Layer(
            "fuzz", _pytest("tests/fuzz"),
            lambda: any((ROOT / "tests" / "fuzz").glob("test_*.py")),
        ),
        Layer("semantics", _named),
        Layer("goldens", _pytest("tests/unit/test_goldens.py")),
    )
}  # fmt: skip
"""The layers, in the order in which they are tried."""


def snapshot(folder: Path) -> Path:
    """A copy of the repository as it is now: every fault is seeded in the same text."""
    tree = folder / "base"
    tree.mkdir()
    for name in COPIED:
        path = ROOT / name
        if path.is_symlink():
            (tree / name).symlink_to(os.readlink(path))
        elif path.is_dir():
            shutil.copytree(path, tree / name, symlinks=True, ignore=NOT_COPIED)
        elif path.exists():
            shutil.copy2(path, tree / name)
    # Each test on textual IR is a process or several, which would compile everything again.
    compileall.compile_dir(tree / "dt_mlir", quiet=1)
    return tree


def stale(fault: Fault, tree: Path) -> str:
    """Returns a defect in the text of a fault, or an empty text."""
    path = tree / fault.file
    count = path.read_text(encoding="utf-8").count(fault.old) if path.exists() else 0
    if count != 1:
        return f"STALE: its text occurs {count} times"
    return "STALE: it changes nothing" if fault.old == fault.new else ""


class Check:
    """The whole check.

    Args:
        folder: where everything goes.
        layers: the layers to run, in order.
        every_layer: whether to go on after the first layer that notices.
        processes: how many processes each layer may use.
        timeout: the seconds after which a layer counts as hanging.
    """

    def __init__(
        self, folder: Path, layers: list[Layer], every_layer: bool, processes: int, timeout: float
    ) -> None:
        self.folder = folder
        self.layers = layers
        self.every_layer = every_layer
        self.width = processes
        self.timeout = timeout
        self.processes = Processes()
        self.base = snapshot(folder)
        self.stopped = False

    @contextlib.contextmanager
    def workspace(self):
        """A fresh workspace, which is removed afterwards."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield Workspace(folder, self.base, self.processes)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sanity(self) -> None:
        """Checks that what runs under lit and pytest is the copy: a package that cannot be imported
        fails there, and with the words that stand in the copy alone."""
        with self.workspace() as workspace:
            if workspace.probe():
                raise SystemExit("no example compiles even without a fault")
            init = workspace.tree / "dt_mlir" / "__init__.py"
            init.write_text(f"raise SystemError({CANARY!r})\n")
            for run in (
                _lit("tests/filecheck/dialects/dt/ops.mlir"),
                _pytest("tests/unit/test_goldens.py"),
            ):
                outcome = run(workspace, 1, self.timeout)
                if not outcome.failed or CANARY not in outcome.text:
                    raise SystemExit(f"the tests do not run on the copy:\n{outcome.text}")
            bare = {"PATH": os.environ.get("PATH", os.defpath)}
            for tool in ("dt-opt", "dtc"):
                _, text = self.processes.run(
                    [workspace.bin / tool, "--help"], self.folder, bare, self.timeout
                )
                if CANARY not in text:
                    raise SystemExit(f"'{tool}' does not run on the copy:\n{text}")

    def record(self) -> None:
        """Records what the programs of the layer `semantics` become without a fault."""
        with self.workspace() as workspace:
            command = [workspace.python, *NAMED_PASS, "--record", workspace.outcomes]
            status, text = workspace.run(command, self.timeout)
            if status != 0:
                raise SystemExit(f"the corpus does not compile without a fault:\n{text}")

    def baseline(self) -> None:
        """Checks that every layer passes without a fault: else each would seem to be noticed."""
        with self.workspace() as workspace:
            for layer in self.layers:
                started = time.monotonic()
                outcome = layer.run(workspace, os.cpu_count() or 1, self.timeout)
                if outcome.failed:
                    tail = "\n".join(outcome.text.splitlines()[-40:])
                    raise SystemExit(
                        f"'{layer.name}' fails without any fault: {outcome.test}\n{tail}"
                    )
                say(f"without a fault, {layer.name} passes in {time.monotonic() - started:.0f} s")

    def one(self, fault: Fault) -> Result:
        """Seed a fault and run the layers."""
        result = Result(fault, invalid=stale(fault, self.base))
        if result.invalid or self.stopped:
            return result
        with self.workspace() as workspace:
            workspace.apply(fault)
            result.invalid = workspace.probe()
            for layer in self.layers:
                if result.invalid or self.stopped or (result.caught and not self.every_layer):
                    break
                outcome = layer.run(workspace, self.width, self.timeout)
                if outcome.failed and not self.stopped:
                    result.caught[layer.name] = outcome.test
        return result

    def all(self, faults: list[Fault], jobs: int) -> list[Result]:
        """Checks faults, several at once; the results are in the faults' order."""
        found: dict[str, Result] = {}
        pool = ThreadPoolExecutor(jobs)
        try:
            for future in as_completed([pool.submit(self.one, fault) for fault in faults]):
                result = future.result()
                found[result.fault.name] = result
                tests = "; ".join(result.caught.values())
                say(f"[{len(found)}/{len(faults)}] {result.fault.name}: {result.verdict}  {tests}")
        finally:
            self.stopped = True
            self.processes.end_all()
            pool.shutdown(cancel_futures=True)
        return [found[fault.name] for fault in faults]


def say(line: str) -> None:
    """Shows progress at once, also in a file."""
    print(line, flush=True)


def report(results: list[Result], layers: list[Layer]) -> bool:
    """Prints the table and the counts; returns whether every fault was noticed."""
    rows = [
        (r.fault.name, r.verdict, "; ".join(r.caught.values()), r.fault.summary) for r in results
    ]
    titles = ("fault", "noticed by", "test", "summary")
    widths = [max(map(len, column)) for column in zip(titles, *rows)]
    print()
    for row in (titles, tuple("-" * width for width in widths), *rows):
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip())
    print()
    for layer in layers:
        print(f"{layer.name}: {sum(layer.name in r.caught for r in results)}")
    living = [r for r in results if passes_of(r.fault.file)]
    if any(layer.name == "semantics" for layer in layers) and living:
        named = [r for r in living if _is_named(r)]
        print(f"faults in passes whose pass --verify-semantics names: {len(named)} of {len(living)}")
        for r in living:
            if r not in named:
                print(f"  not {r.fault.name}: {r.caught.get('semantics', 'nothing differs')}")
    survived = [r for r in results if not r.caught and not r.invalid]
    invalid = [r for r in results if r.invalid]
    print(f"survived: {len(survived)}")
    print(f"stale or invalid: {len(invalid)}")
    print(f"faults: {len(results)}")
    return not survived and not invalid


def _is_named(result: Result) -> bool:
    """Returns whether the pass that a fault is in was named."""
    item = result.caught.get("semantics", "").partition(":")[0]
    return item in passes_of(result.fault.file)


def main() -> int:
    """Runs the check; 0 if every fault was noticed."""
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="check only these faults")
    parser.add_argument(
        "--layers", metavar="NAME,…", default=",".join(LAYERS),
        help=f"the layers to run, in order (of {', '.join(LAYERS)})",
    )  # fmt: skip
    parser.add_argument(
        "--all-layers", action="store_true", help="run all layers, not only until one notices"
    )
    parser.add_argument(
        "--jobs", type=int, default=cores, help="how many faults to check at once (default: cores)"
    )
    parser.add_argument(
        "--timeout", type=float, default=1800, help="seconds after which a layer counts as a hang"
    )
    parser.add_argument(
        "--no-baseline", action="store_true", help="take it that the tests pass without a fault"
    )
    parser.add_argument("--list", action="store_true", help="list the faults")
    options = parser.parse_args()

    chosen = [f for f in FAULTS if options.only is None or f.name in options.only]
    if unknown := set(options.only or ()) - {f.name for f in chosen}:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    if unknown := set(options.layers.split(",")) - set(LAYERS):
        parser.error(f"there is no layer {', '.join(sorted(unknown))}")
    if options.jobs < 1:
        parser.error("--jobs must be positive")
    if options.list:
        for fault in chosen:
            print(f"{fault.name}\n    {fault.file}: {fault.summary}")
        return 0

    # Ended like this, the check takes its processes and folders with it too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    layers = [LAYERS[name] for name in options.layers.split(",") if LAYERS[name].exists()]
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        width = max(1, cores // options.jobs)
        check = Check(Path(folder), layers, options.all_layers, width, options.timeout)
        check.sanity()
        if not options.no_baseline:
            check.baseline()
        if any(layer.name == "semantics" for layer in layers):
            check.record()
        results = check.all(chosen, options.jobs)
    return 0 if report(results, layers) else 1


if __name__ == "__main__":
    sys.exit(main())
