"""Times the compiler: whole processes against `xdsl-opt`, and how time grows with programs.

    python benchmarks/compile_time.py [--rounds N] [--sizes 20,80,320] [--plot curves.png]

The goals: `dtc` takes at most 2.0 times as long as `xdsl-opt` on ten lines, `dt-opt --help` at
most 1.5 times as long as `xdsl-opt --help`. In one process, once everything is imported, programs
of 80 functions take at most 1.5 s, a sum of 1000 terms or a tree of 1000 operations 1 s, and the
time of a function is the same within a factor of 1.5 from 20 to 320 functions.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dt_mlir.compiler import compile_program

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


def _chain(count: int, first: str, following: Callable[[int], str], schedule: str) -> str:
    names = [f"f{i}" for i in range(count)]
    lines = [f"Func {', '.join(names)};", "In A;", "Var x, y;", "RVar k;", f"f0[x, y] = {first};"]
    lines += [f"f{i}[x, y] = {following(i)};" for i in range(1, count)]
    return "\n".join([*lines, schedule, f"f{count - 1}.compile();"])


def unfused(count: int) -> str:
    """A chain of functions, each in a kernel of its own."""
    schedule = "\n".join(
        f"f{i}.block(x:8, y:64); f{i}.tensorize(x:8, y:64); f{i}.num_warps(4);"
        for i in range(count)
    )
    return _chain(count, "A[x, y] * 2", lambda i: f"f{i - 1}[x, y] + {i}", schedule)


def fused(count: int) -> str:
    """A chain of functions in one kernel."""
    schedule = "\n".join(f"f{i}.fuse_at(f{i + 1}, y);" for i in range(count - 1))
    last = f"f{count - 1}"
    schedule += f"\n{last}.block(x:8, y:64); {last}.tensorize(x:8, y:64);"
    return _chain(count, "A[x, y] * 2", lambda i: f"f{i - 1}[x, y] + {i}", schedule)


def reductions(count: int) -> str:
    """A chain of functions, each of which sums over rows of the one before."""
    schedule = "\n".join(
        f"f{i}.block(x:8, y:64); f{i}.tensorize(x:8, y:64{', k:64' if i else ''});"
        f" f{i}.num_warps(4);"
        for i in range(count)
    )
    following = "f{0}[x, y] - rsum(f{0}[x, k], k)"
    return _chain(count, "A[x, y] * 2", lambda i: following.format(i - 1), schedule)


def terms(count: int) -> str:
    """One sum of many terms."""
    total = " + ".join(f"A[x]*{i}" for i in range(count))
    return f"Func f; In A; Var x; f[x] = {total}; f.block(x:64); f.tensorize(x:64); f.compile();"


def tree(count: int) -> str:
    """A balanced tree of many operations."""

    def part(first: int, last: int) -> str:
        middle = (first + last) // 2
        if last - first == 1:
            return f"A[x]*{first}.5"
        return f"({part(first, middle)} + {part(middle, last)})"

    shown = part(0, count // 2)
    return f"Func f; In A; Var x; f[x] = {shown}; f.block(x:64); f.tensorize(x:64); f.compile();"


CHAINS = (unfused, fused, reductions)
GOALS = {"unfused 80": 1.5, "fused 80": 1.5, "reductions 80": 1.5, "terms 1000": 1.0,
         "tree 1000": 1.0}  # fmt: skip


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


def compile_seconds(text: str, rounds: int) -> float:
    """The median time that a program takes to compile."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        compile_program(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def curves(sizes: list[int], rounds: int) -> dict[str, list[float]]:
    """Times programs that grow, and print the times with the goals."""
    compile_program(reductions(2))
    found: dict[str, list[float]] = {}
    for make in CHAINS:
        found[make.__name__] = [compile_seconds(make(size), rounds) for size in sizes]
        each = [t / size for t, size in zip(found[make.__name__], sizes)]
        shown = ", ".join(
            f"{size}: {t:.2f} s" for size, t in zip(sizes, found[make.__name__])
        )
        print(f"{make.__name__}: {shown}; a function takes {each[-1] / each[0]:.2f} times as long")
    for make in (terms, tree):
        print(f"{make.__name__} 1000: {compile_seconds(make(1000), rounds):.2f} s")
    for name, goal in GOALS.items():
        print(f"  goal: {name} in {goal} s")
    return found


def plot(sizes: list[int], found: dict[str, list[float]], path: Path) -> None:
    """Draws the curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for name, times in found.items():
        pyplot.plot(sizes, times, marker="o", label=name)
    pyplot.xlabel("functions")
    pyplot.ylabel("seconds")
    pyplot.legend()
    pyplot.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="of the comparison of processes")
    parser.add_argument("--sizes", default="20,80,320", help="the numbers of functions")
    parser.add_argument("--plot", type=Path, help="where to draw the curves")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    found = curves(sizes, 1)
    if args.plot is not None:
        plot(sizes, found, args.plot)
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "ten.mlir"
        module.write_text(TEN_LINES)
        program, output = ROOT / "examples" / "matmul.dt", Path(folder) / "mm.py"
        ours: list[object] = [BIN / "dtc", program, "-o", output]
        theirs: list[object] = [BIN / "xdsl-opt", module]
        compare("dtc matmul.dt / xdsl-opt ten.mlir", ours, theirs, args.rounds, 2.0)
        ours, theirs = [BIN / "dt-opt", "--help"], [BIN / "xdsl-opt", "--help"]
        compare("dt-opt --help / xdsl-opt --help", ours, theirs, args.rounds, 1.5)


if __name__ == "__main__":
    main()
