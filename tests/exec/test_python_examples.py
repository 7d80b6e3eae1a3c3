"""The examples in Python run, and agree with PyTorch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", ["linear_gelu", "softmax", "attention", "transformer"])
def test_example(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DT_MLIR_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the largest difference is" in done.stdout
