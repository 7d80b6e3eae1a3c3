"""Times `dtc` on the matrix product against `xdsl-opt` on a module of ten lines, in turns.

    python benchmarks/compile_time.py [ROUNDS]

The goals: `dtc` takes at most 2.5 times as long, `dt-opt --help` at most 1.5 times as long as
`xdsl-opt --help`.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[1]

TEN_LINES = """builtin.module {
  func.func @f(%a: f32, %b: f32) -> f32 {
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.subf %1, %a : f32
    %3 = arith.maximumf %2, %0 : f32
    %4 = arith.divf %3, %b : f32
    func.return %4 : f32
  }
}
"""


def seconds(command: list[object]) -> float:
    start = time.perf_counter()
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(name: str, ours: list[object], theirs: list[object], rounds: int, goal: float) -> None:
    seconds(ours), seconds(theirs)
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    first, second = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs)
    verdict = "reached" if ratio <= goal else "missed"
    print(f"{name}: {first:.3f} s against {second:.3f} s, ratio {ratio:.2f}, goal {goal} {verdict}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "ten.mlir"
        module.write_text(TEN_LINES)
        program, output = ROOT / "examples" / "matmul.dt", Path(folder) / "mm.py"
        ours: list[object] = [BIN / "dtc", program, "-o", output]
        theirs: list[object] = [BIN / "xdsl-opt", module]
        compare("dtc matmul.dt / xdsl-opt ten.mlir", ours, theirs, rounds, 2.5)
        ours, theirs = [BIN / "dt-opt", "--help"], [BIN / "xdsl-opt", "--help"]
        compare("dt-opt --help / xdsl-opt --help", ours, theirs, rounds, 1.5)


if __name__ == "__main__":
    main()
