"""Measures the error of each elementwise function in f32, beside PyTorch's.

    python benchmarks/accuracy.py --write docs/accuracy.md

The error is the largest distance from the result in float64, in units of the last place of f32,
over the sampled arguments. Exits with 1 if an accurate function is worse than twice PyTorch's
(or than 2 units, whichever is larger), or if a bound that the tests rely on does not hold.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dt_mlir.compiler import compile_program
from dt_mlir.interpreters.accuracy import ACCURATE, FAST
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()

import torch  # noqa: E402
import triton  # noqa: E402
from torch.nn import functional  # noqa: E402

Tensor = Any


def uniform(low: float, high: float) -> Callable[[int], Tensor]:
    """Arguments spread evenly."""
    return lambda n: torch.rand(n, dtype=torch.float64) * (high - low) + low


def logarithmic(low: float, high: float, signed: bool = False) -> Callable[[int], Tensor]:
    """Arguments spread evenly over exponents (to base 2)."""

    def draw(n: int) -> Tensor:
        values = torch.exp2(torch.rand(n, dtype=torch.float64) * (high - low) + low)
        return values * torch.sign(torch.rand(n, dtype=torch.float64) - 0.5) if signed else values

    return draw


SMALL = logarithmic(-40, 0, signed=True)
FUNCTIONS: dict[str, tuple[str, str, Callable[..., Tensor], Callable[..., Tensor], list[Any]]] = {
    # name: expression, row of the tables of bounds, PyTorch's, the exact one, arguments
    "exp": ("exp(A[x])", "math.exp", torch.exp, torch.exp, [uniform(-87, 88), SMALL]),
    "exp2": ("exp2(A[x])", "math.exp2", torch.exp2, torch.exp2, [uniform(-125, 127), SMALL]),
    "expm1": ("expm1(A[x])", "math.expm1", torch.expm1, torch.expm1, [uniform(-20, 88), SMALL]),
    "log": ("log(A[x])", "math.log", torch.log, torch.log, [logarithmic(-125, 127), uniform(0.5, 2)]),
    "log2": ("log2(A[x])", "math.log2", torch.log2, torch.log2, [logarithmic(-125, 127), uniform(0.5, 2)]),
    "log10": ("log10(A[x])", "math.log10", torch.log10, torch.log10, [logarithmic(-125, 127), uniform(0.5, 2)]),
    "log1p": ("log1p(A[x])", "math.log1p", torch.log1p, torch.log1p, [uniform(-0.99, 10), SMALL, logarithmic(0, 127)]),
    "sqrt": ("sqrt(A[x])", "math.sqrt", torch.sqrt, torch.sqrt, [logarithmic(-125, 127)]),
    "rsqrt": ("rsqrt(A[x])", "math.rsqrt", torch.rsqrt, torch.rsqrt, [logarithmic(-125, 127)]),
    "sin": ("sin(A[x])", "math.sin", torch.sin, torch.sin, [uniform(-100, 100), SMALL, uniform(-1e5, 1e5)]),
    "cos": ("cos(A[x])", "math.cos", torch.cos, torch.cos, [uniform(-100, 100), SMALL, uniform(-1e5, 1e5)]),
    "tan": ("tan(A[x])", "math.tan", torch.tan, torch.tan, [uniform(-100, 100), SMALL]),
    "tanh": ("tanh(A[x])", "math.tanh", torch.tanh, torch.tanh, [uniform(-10, 10), SMALL]),
    "erf": ("erf(A[x])", "math.erf", torch.erf, torch.erf, [uniform(-5, 5), SMALL]),
    "sigmoid": ("sigmoid(A[x])", "sigmoid", torch.sigmoid, torch.sigmoid, [uniform(-87, 87), SMALL]),
    "silu": ("silu(A[x])", "silu", functional.silu, lambda x: x * torch.sigmoid(x), [uniform(-80, 80), SMALL]),
    "gelu": ("gelu(A[x])", "gelu", functional.gelu, lambda x: 0.5 * x * torch.erfc(-x * 0.5**0.5), [uniform(-3, 10), SMALL]),
    "softplus": ("softplus(A[x])", "softplus", functional.softplus, lambda x: torch.logaddexp(x, torch.zeros_like(x)), [uniform(-80, 80), SMALL]),
    "x / y": ("A[x] / B[x]", "arith.divf", torch.div, torch.div, [logarithmic(-60, 60, True)]),
    "pow": ("A[x] ** B[x]", "math.powf", torch.pow, torch.pow, [(logarithmic(-6, 6), uniform(-10, 10))]),
    "x ** 3": ("A[x] ** 3", "math.powf", lambda x: torch.pow(x, 3), lambda x: x**3, [uniform(-10, 10)]),
    "fma": ("fma(A[x], B[x], A[x])", "math.fma", lambda x, y: x * y + x, lambda x, y: x * y + x, [uniform(-1, 1)]),
    "x // y": ("A[x] // B[x]", "floordiv", torch.floor_divide, lambda x, y: torch.floor(x / y), [logarithmic(-6, 6, True)]),
    "x % y": ("A[x] % B[x]", "mod", torch.remainder, lambda x, y: x - torch.floor(x / y) * y, [logarithmic(-6, 6, True)]),
}  # fmt: skip


def units(got: Tensor, want: Tensor) -> Tensor:
    """The distance in units of the last place of f32; 0 where the result is no normal number."""
    _, exponent = torch.frexp(want.abs())
    unit = torch.exp2((exponent - 24).double())
    normal = (want.abs() >= 2.0**-126) & (want.abs() < 3.4e38)
    return torch.where(normal, (got.double() - want).abs() / unit, 0.0)


def arguments(drawn: list[Any], count: int, two: bool) -> list[Tensor]:
    """The arguments of a function, as f32."""
    columns: list[list[Tensor]] = [[], []]
    for draw in drawn:
        first, second = draw if isinstance(draw, tuple) else (draw, draw)
        columns[0].append(first(count))
        columns[1].append(second(count))
    found = [torch.cat(column).float().to(DEVICE) for column in columns]
    return found if two else found[:1]


def run(expression: str, accurate: bool, operands: list[Tensor]) -> Tensor:
    """Returns the outputs of a compiled kernel."""
    math = "f.math(accurate);" if accurate else ""
    names = "A, B" if len(operands) == 2 else "A"
    text = (
        f"Func f; In {names}; Var x; f[x] = {expression};"
        f"f.block(x:1024); f.tensorize(x:1024); {math} f.compile();"
    )
    with loaded(compile_program(text, expression).source) as module:
        return module.f(*operands)


def main() -> int:
    """Measures, and prints or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="write the table to a Markdown file")
    parser.add_argument("--count", type=int, default=2**22, help="samples of each distribution")
    args = parser.parse_args()
    torch.manual_seed(0)
    failed: list[str] = []
    rows: list[str] = []
    for name, (expression, row, torch_function, exact, drawn) in FUNCTIONS.items():
        operands = arguments(drawn, args.count, "B[" in expression)
        want = exact(*(x.double() for x in operands))
        errors = {
            "fast": units(run(expression, False, operands), want),
            "accurate": units(run(expression, True, operands), want),
            "torch": units(torch_function(*operands), want),
        }
        if name == "fma":
            # PyTorch has none.
            errors["torch"] = torch.full((1,), float("nan"))
        worst = {key: float(value.max()) for key, value in errors.items()}
        for key, table in (("fast", FAST), ("accurate", ACCURATE)):
            bound = table.get(row, 0.5)
            exactly = [x.double().cpu().numpy() for x in operands]
            if name == "x ** 3":
                exactly.append(np.full(exactly[0].shape, 3.0))
            allowed = bound(*exactly) if callable(bound) else bound
            used = float(np.max(errors[key].cpu().numpy() / allowed))
            if used > 1.001:
                failed.append(f"{name} ({key}) uses {used:.2f} of its bound")
        if worst["accurate"] > max(2.0, 2 * worst["torch"]):
            ours, theirs = worst["accurate"], worst["torch"]
            failed.append(f"{name} (accurate): {ours:.2f}, PyTorch's {theirs:.2f}")
        place = int(errors["fast"].argmax())
        at = ", ".join(f"{float(x[place]):.4g}" for x in operands)
        cells = " | ".join(
            "–" if worst[key] != worst[key] else f"{worst[key]:.2f}"
            for key in ("fast", "accurate", "torch")
        )
        rows.append(f"| `{name}` | {cells} | {at} |")
        print(rows[-1], flush=True)
    where = torch.cuda.get_device_name() if DEVICE == "cuda" else "Triton's interpreter"
    text = f"""# How accurate elementwise functions are

The largest error found in f32, in units of the last place of the result, against float64: of
`math(fast)` (the default), of `math(accurate)` and of PyTorch's own function. The last column is
the argument at which the fast one is worst. Results below the least normal number are left out.

| function | fast | accurate | PyTorch | worst at |
| --- | --- | --- | --- | --- |
{chr(10).join(rows)}

Measured by `benchmarks/accuracy.py` with {args.count} arguments of each distribution on {where},
torch {torch.__version__}, triton {triton.__version__}, {datetime.date.today()}.

`x // y` and `x % y` are exact wherever the quotient is below 2^28. A fast `x ** y` and a fast
exponential are as wrong as the exponent is large: their error is proportional to it.
"""
    if args.write is not None:
        args.write.write_text(text, encoding="utf-8")
    for message in failed:
        print(f"missed: {message}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
