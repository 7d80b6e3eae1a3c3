"""Measures which lines and branches of `dt_mlir/` the tests reach.

Processes that lit and pytest start are counted in: a `sitecustomize` in their path starts the
measurement in each of them.

    python tests/measure_coverage.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = 95
"""The percentage of lines and branches that must be reached."""
OMITTED = {
    "dt_mlir/backend/triton/support.py": "its text is copied into emitted modules, and runs there",
}
"""The parts that are left out, with the reason."""


def main() -> int:
    """Runs all tests, and report; 1 if too little is reached or a test fails."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "coveragerc"
        omitted = "\n".join(f"    {ROOT / name}" for name in OMITTED)
        settings.write_text(
            f"[run]\nbranch = True\nparallel = True\nsource = {ROOT / 'dt_mlir'}\n"
            f"data_file = {folder}/data\nomit =\n{omitted}\n"
            "[report]\nexclude_also =\n    if TYPE_CHECKING:\n    @abstractmethod\n"
            "    raise AssertionError\n",
            encoding="utf-8",
        )
        (Path(folder) / "sitecustomize.py").write_text(
            "import coverage\ncoverage.process_startup()\n", encoding="utf-8"
        )
        env = {**os.environ, "COVERAGE_PROCESS_START": str(settings), "PYTHONPATH": folder}
        tools = Path(sys.executable).parent
        failed = False
        for command in (
            [tools / "lit", "-q", "tests/filecheck", "examples/plugin/tests"],
            [tools / "pytest", "-n", "auto", "-q", "-W", "ignore", "--full"],
        ):
            failed |= subprocess.run(command, cwd=ROOT, env=env, check=False).returncode != 0
        report = [sys.executable, "-m", "coverage"]
        options = [f"--rcfile={settings}"]
        subprocess.run([*report, "combine", "-q", *options, folder], cwd=ROOT, check=False)
        done = subprocess.run(
            [*report, "report", *options, "--skip-covered", "--show-missing",
             f"--fail-under={LEAST}"],
            cwd=ROOT, check=False,
        )  # fmt: skip
    for name, reason in OMITTED.items():
        print(f"left out: {name}: {reason}")
    return 1 if failed or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
