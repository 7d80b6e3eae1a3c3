"""Measures the CPU time of a kernel's call, beside a plain launch of the same kernel by Triton.

    python benchmarks/launch.py

The plain launch has the same arguments: it is the generated kernel's own, with sizes, strides
and the grid worked out before. Rounds of all contenders alternate; the tensors are small, so that
the GPU keeps up.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import triton

import dt_mlir as dt
from dt_mlir.runtime import launch


def product() -> dt.Kernel:
    """A matrix product: three tensors, three sizes and six strides."""
    mm, A, B = dt.Func("mm"), dt.In("A", "f16"), dt.In("B", "f16")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm.block(x=16, y=16).tensorize(x=16, y=16, k=16).compile()


def scaled() -> dt.Kernel:
    """`A * s + B`: three tensors, a number, one size, three strides."""
    f, A, B, s, x = dt.Func("f"), dt.In("A", "f32"), dt.In("B", "f32"), dt.SIn("s"), dt.Var("x")
    f[x] = A[x] * s + B[x]
    return f.block(x=256).tensorize(x=256).compile()


def cases() -> dict[str, tuple[dt.Kernel, tuple[Any, ...]]]:
    half: dict[str, Any] = {"device": "cuda", "dtype": torch.float16}
    a, b = torch.rand(32, 32, **half), torch.rand(32, 32, **half)
    c, d = torch.rand(500, device="cuda"), torch.rand(500, device="cuda")
    return {"mm": (product(), (a, b)), "scaled": (scaled(), (c, d, 0.5))}


def plain_launch(kernel: dt.Kernel, inputs: tuple[Any, ...], out: Any) -> Callable[[], Any]:
    """The launch that a kernel's wrapper makes, by itself."""
    noted: list[Any] = []
    note = launch._Noted.__getitem__

    def noting(self: Any, grid: Any) -> Any:
        def run(*arguments: Any, **options: Any) -> Any:
            noted.append((self.kernel, grid, arguments, options))
            return note(self, grid)(*arguments, **options)

        return run

    launch._Noted.__getitem__ = noting
    try:
        wrapper, _ = kernel._wrapper_for(inputs, {})
        launch.record(wrapper, inputs, {"out": out})
    finally:
        launch._Noted.__getitem__ = note
    ((jit, grid, arguments, options),) = noted

    def run() -> None:
        jit[grid](*arguments, **options)

    return run


def microseconds(function: Callable[[], Any], count: int) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        function()
    taken = time.perf_counter() - start
    torch.cuda.synchronize()
    return taken / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--count", type=int, default=300, help="calls in a round")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    for name, (kernel, inputs) in cases().items():
        out = kernel(*inputs)
        run = plain_launch(kernel, inputs, out)

        def plain_and_empty(run: Any = run, out: Any = out) -> None:
            torch.empty(out.shape, dtype=out.dtype, device=out.device)
            run()

        wrapper, _ = kernel._wrapper_for(inputs, {})
        contenders: dict[str, Callable[[], Any]] = {
            "plain launch": run,
            "kernel(…, out=out)": lambda k=kernel, i=inputs, o=out: k(*i, out=o),
            "generated wrapper, out=out": lambda w=wrapper, i=inputs, o=out: w(*i, out=o),
            "plain launch and torch.empty": plain_and_empty,
            "kernel(…)": lambda k=kernel, i=inputs: k(*i),
            "as an operator": lambda k=kernel, i=inputs: k.operator(*i),
        }
        times: dict[str, list[float]] = {label: [] for label in contenders}
        for function in contenders.values():
            microseconds(function, options.count)
        for _ in range(options.rounds):
            for label, function in contenders.items():
                times[label].append(microseconds(function, options.count))
        plain = statistics.median(times["plain launch"])
        for label, found in times.items():
            middle = statistics.median(found)
            print(f"{name:8} {label:30} {middle:7.2f} us  {middle / plain:.2f} of the plain launch")


if __name__ == "__main__":
    main()
