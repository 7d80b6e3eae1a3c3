"""NaN, infinities and empty extents behave as in PyTorch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from texts import replaced, text_of

from dt_mlir.compiler import compile_program
from dt_mlir.element_types import ELEMENT_TYPES
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
INF, NAN = float("inf"), float("nan")
VALUES = torch.tensor([1.0, -1.0, 0.0, -0.0, INF, -INF, NAN, 2.5])

ELEMENTWISE = {
    "maximum(A[x, y], B[x, y])": torch.maximum,
    "minimum(A[x, y], B[x, y])": torch.minimum,
    "where(A[x, y] > B[x, y], A[x, y], 0)": lambda a, b: torch.where(a > b, a, torch.zeros_like(a)),
    "where(A[x, y] != B[x, y], 1, 0)": lambda a, b: (a != b).int(),
    "where(A[x, y] == B[x, y], 1, 0)": lambda a, b: (a == b).int(),
    "where(A[x, y] <= B[x, y], 1, 0)": lambda a, b: (a <= b).int(),
    "where(A[x, y] < B[x, y], 1, 0)": lambda a, b: (a < b).int(),
    "where(A[x, y] >= B[x, y], 1, 0)": lambda a, b: (a >= b).int(),
    "where(not A[x, y] < B[x, y], 1, 0)": lambda a, b: (~(a < b)).int(),
    "clamp(A[x, y], -1, 1) + 0 * B[0, 0]": lambda a, b: torch.clamp(a, -1, 1),
    "relu(A[x, y]) + 0 * B[0, 0]": lambda a, b: torch.relu(a),
    "A[x, y] // B[x, y]": torch.floor_divide,
    "A[x, y] % B[x, y]": torch.remainder,
    "abs(A[x, y]) * B[x, y]": lambda a, b: a.abs() * b,
    "sign(A[x, y]) + 0 * B[0, 0]": lambda a, b: torch.where(a.isnan(), a, torch.sign(a)),
}
REDUCTIONS = {
    "rmax(A[x, k], k)": lambda a: a.amax(1),
    "rmin(A[x, k], k)": lambda a: a.amin(1),
    "rsum(A[x, k], k)": lambda a: a.sum(1),
    "rprod(A[x, k], k)": lambda a: a.prod(1),
    "rargmax(A[x, k], k)": lambda a: a.argmax(1),
    "rargmin(A[x, k], k)": lambda a: a.argmin(1),
    "where(rany(A[x, k] > 2, k), 1, 0)": lambda a: (a > 2).any(1).int(),
    "where(rall(A[x, k] > 2, k), 1, 0)": lambda a: (a > 2).all(1).int(),
}
SCHEDULES = {
    "scalar": "",
    "tiles": "f.tensorize(x:4, {label}:4);\n",
    "whole": "f.block(x:2);\nf.tensorize(x:2, {label}:0);\n",
}


def same(got: torch.Tensor, want: torch.Tensor) -> bool:
    return torch.equal(got.cpu().nan_to_num(7e30, 8e30, 9e30), want.nan_to_num(7e30, 8e30, 9e30))


def scheduled(text: str, schedule: str, label: str) -> str:
    """Returns a program with one of `SCHEDULES`, which is about 'x' and another label."""
    directives = SCHEDULES[schedule].format(label=label)
    return replaced(text, ("f.compile();", f"{directives}f.compile();"))


def run(text: str, *args: Any) -> torch.Tensor:
    with loaded(compile_program(text, "special").source) as module:
        return module.f(*(a.to(DEVICE) for a in args))


@pytest.mark.parametrize("schedule", list(SCHEDULES))
@pytest.mark.parametrize("expression", list(ELEMENTWISE))
def test_elementwise(expression: str, schedule: str) -> None:
    size = len(VALUES)
    a, b = VALUES[:, None].repeat(1, size), VALUES[None].repeat(size, 1)
    b[0, 0] = 1.0
    text = text_of("sum_of_two", ("A[x, y] + B[x, y]", expression))
    got = run(scheduled(text, schedule, "y"), a, b)
    assert same(got, ELEMENTWISE[expression](a, b).to(got.dtype))


@pytest.mark.parametrize("math", ["", "f.math(accurate); ", "f.math(fast); "])
@pytest.mark.parametrize("element", [torch.float32, torch.float64])
def test_powers(element: torch.dtype, math: str) -> None:
    """Signs of zeros count, and 1 and -1 have infinite powers."""
    values = torch.cat([VALUES, torch.tensor([-2.5, 3.0, -3.0, 0.5, -0.5, 1e-30])]).to(element)
    a, b = torch.cartesian_prod(values, values).T.contiguous()
    kind = "f64" if element == torch.float64 else "f32"
    text = f"Func f; In A : {kind}, B : {kind}; Var x; f[x] = A[x] ** B[x]; {math}f.compile();"
    got, want = run(text, a, b).cpu(), (a.double() ** b.double()).to(element)
    assert torch.allclose(got, want, rtol=1e-5, equal_nan=True)
    assert torch.equal(got.signbit() & ~got.isnan(), want.signbit() & ~want.isnan())


@pytest.mark.parametrize(("base", "exponent"), [
    ("i32", "i32"), ("i64", "i64"), ("i64", "i32"), ("i32", "i8"), ("i32", "u8"), ("i8", "bool"),
])  # fmt: skip
def test_integer_powers(base: str, exponent: str) -> None:
    """Products wrap; of a negative exponent it is the truncated quotient of 1 by a power."""
    width, limits = 64 if base == "i64" else 32, torch.iinfo(getattr(torch, f"int{base[1:]}"))
    bases = [0, 1, -1, 2, -2, 3, 7, -6, 2**7 - 1, limits.max, limits.min, limits.max // 2]
    few = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 101]
    ends = {"bool": [], "u8": [254, 255], "i8": [-1, -2, 126, 127, -127, -128]}
    size = 2 ** (int(exponent[1:]) - 1) if exponent[1:].isdigit() else 0
    few += ends.get(exponent, [-1, -2, -3, size - 1, size // 2, -size, 1 - size])
    kinds = {"bool": torch.bool, "u8": torch.uint8}
    kind = kinds.get(exponent) or getattr(torch, f"int{exponent[1:]}")
    pairs = [(x, y) for x in bases for y in few if exponent != "bool" or y < 2]
    a = torch.tensor([x for x, _ in pairs], dtype=getattr(torch, f"int{base[1:]}"))
    b = torch.tensor([y for _, y in pairs]).to(kind)
    want = [
        pow(x, y, 2**width) if y >= 0 else x ** (y & 1) if x in (1, -1) else 0 for x, y in pairs
    ]
    want = [(number + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) for number in want]
    text = f"Func f; In A : {base}, B : {exponent}; Var x; f[x] = A[x] ** B[x]; f.compile();"
    assert run(text, a, b).tolist() == want
    module = compile_text(text, "powers")[0]
    arithmetic = BoundedArithmetic(Accuracy())
    types = {"A": ELEMENT_TYPES[base], "B": ELEMENT_TYPES[exponent]}
    inputs = {
        name: arithmetic.from_array(tensor.numpy(), types[name])
        for name, tensor in (("A", a), ("B", b))
    }
    interpreted = run_module(module, inputs, {"x": len(pairs)}, arithmetic)
    assert interpreted["f"].value.tolist() == want


@pytest.mark.parametrize("schedule", list(SCHEDULES))
@pytest.mark.parametrize("expression", list(REDUCTIONS))
def test_reductions(expression: str, schedule: str) -> None:
    generator = torch.Generator().manual_seed(0)
    a = torch.rand(24, 13, generator=generator) + 1
    for row in range(24):
        for value in VALUES[4:7][: row % 4]:
            a[row, torch.randint(13, (), generator=generator)] = value
    text = text_of("row_sums", ("rsum(A[x, k], k)", expression))
    got = run(scheduled(text, schedule, "k"), a)
    want = REDUCTIONS[expression](a).to(got.dtype)
    if got.dtype.is_floating_point:
        # Finite sums and products depend on the order.
        finite = want.isfinite()
        assert torch.allclose(got.cpu()[finite], want[finite], rtol=1e-5)
        got, want = got.cpu()[~finite], want[~finite]
    assert same(got, want)


@pytest.mark.parametrize("schedule", list(SCHEDULES))
@pytest.mark.parametrize(("name", "argument"), [("rargmax", torch.argmax), ("rargmin", torch.argmin)])
def test_places_of_extremes_in_a_domain(
    name: str, argument: Callable[[torch.Tensor], torch.Tensor], schedule: str
) -> None:
    """Places count from the first of the box; an infinity inside is not one from outside."""
    rows, columns, a = 9, 13, torch.arange(9 * 13.0).reshape(9, 13) % 5
    a[1:4], a[4, 5], a[5, 2], a[6, 6:] = -torch.inf, torch.nan, torch.nan, torch.inf
    lengths = torch.arange(rows, dtype=torch.int32) + 3
    text = text_of("place_of_the_largest_in_a_domain", ("rargmax", name))
    text = scheduled(text, schedule, "k")
    want: list[int] = []
    for row in range(rows):
        inside = a[row, 2 * row : min(row + 3, columns)]
        want.append(2 * row + int(argument(inside)) if len(inside) else -1)
    assert run(text, a, lengths).tolist() == want


DOMAINS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "k <= x": lambda x, y, k: k <= x,
    "k >= y, k <= x": lambda x, y, k: (k >= y) & (k <= x),
    "2 * k > x + 3": lambda x, y, k: 2 * k > x + 3,
    "k < x + y": lambda x, y, k: k < x + y,
    "k % 3 == 1, k >= y": lambda x, y, k: (k % 3 == 1) & (k >= y),
    "k >= x - 4, k <= x + 4": lambda x, y, k: (k >= x - 4) & (k <= x + 4),
}


@pytest.mark.parametrize("tile", ["k:16", "k:0", "k:8"])
@pytest.mark.parametrize("conditions", list(DOMAINS))
def test_products_over_domains_leave_out_what_is_not_finite(conditions: str, tile: str) -> None:
    """Infinities and NaN outside of the domain reach no sum, and those inside reach theirs."""
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.rand(37, 37, generator=generator) + 1 for _ in range(2))
    for matrix in (a, b):
        places = torch.randint(37, (6, 2), generator=generator)
        for value, (row, column) in zip(3 * [torch.inf, torch.nan], places.tolist()):
            matrix[row, column] = value
    text = text_of("product_over_a_domain", ("k <= x", conditions), ("k:16", tile))
    x, y, k = torch.meshgrid(*(3 * [torch.arange(37)]), indexing="ij")
    terms = torch.where(DOMAINS[conditions](x, y, k), a[:, None] * b.T[None], 0)
    want = terms.double().sum(-1)
    got = run(text, a, b).cpu()
    assert not want.isfinite().all()
    assert not want.isnan().all()
    assert torch.allclose(got.double(), want, rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("expression", ["rsum(A[x, k], k)", "rprod(A[x, k], k)"])
def test_reductions_of_nothing(expression: str) -> None:
    text = text_of(
        "row_sums", ("rsum(A[x, k], k);", f"{expression};\nf.tensorize(x:4, k:8);")
    )
    want = REDUCTIONS[expression](torch.zeros(5, 0))
    assert same(run(text, torch.zeros(5, 0)), want)


@pytest.mark.parametrize("expression", ["rmax(A[x, k], k)", "rmin(A[x, k], k)", "rargmax(A[x, k], k)"])
def test_extremes_of_nothing_are_refused(expression: str) -> None:
    text = text_of("row_sums", ("rsum(A[x, k], k)", expression))
    with pytest.raises(ValueError, match="'k' has size 0, but .* needs 1 or more"):
        run(text, torch.zeros(5, 0))


@pytest.mark.parametrize("math", ["fast", "accurate"])
@pytest.mark.parametrize(
    ("function", "lowest"), [("tanh", -1.0), ("erf", -1.0), ("sigmoid", 0.0), ("gelu", None), ("silu", None)]
)
def test_functions_that_level_off_stay_between_their_limits(
    function: str, lowest: float | None, math: str
) -> None:
    text = text_of("hyperbolic_tangent", ("tanh", function), ("fast", math))
    # Of infinities PyTorch's own gelu is not a number.
    large = torch.tensor([20.0, 1e4, 1e30] + ([] if lowest is None else [INF]))
    ends = torch.cat([large, -large])
    theirs = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}
    want = theirs[function](ends) if lowest is None else torch.where(ends > 0, 1.0, lowest)
    got = run(text, ends).cpu()
    assert torch.allclose(got, want, rtol=1e-6, atol=1e-7)
    if lowest is None:
        return
    between = run(text, torch.linspace(-12, 12, 2**18)).cpu()
    assert between.max() <= 1
    assert between.min() >= lowest
    assert run(text, torch.tensor([NAN])).isnan().all()


@pytest.mark.skipif(DEVICE == "cpu", reason="Triton's interpreter widens f8 wrongly")
@pytest.mark.parametrize("target", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("source", ["f8e4m3", "f8e5m2"])
def test_widening_keeps_every_byte(source: str, target: str) -> None:
    """Values that are infinite or not a number stay so."""
    types = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
    types |= {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
    values = torch.arange(256, dtype=torch.uint8).view(types[source])
    text = text_of("widened_bytes", ("f16", target), ("f8e4m3", source))
    assert same(run(text, values), values.to(types[target]))


@pytest.mark.parametrize("exponent", [-1, -2, -3, 0, 1, 33])
def test_integer_powers_of_numbers(exponent: int) -> None:
    text = f"Func f; In A : i32; Var x; f[x] = A[x] ** cast({exponent}, i32); f.compile();"
    bases = [0, 1, -1, 2, -3, 2**31 - 1, -(2**31)]
    want = [
        (pow(x, exponent, 2**32) if exponent >= 0 else x ** (exponent & 1) if x in (1, -1) else 0)
        for x in bases
    ]
    got = run(text, torch.tensor(bases, dtype=torch.int32)).tolist()
    assert got == [(number + 2**31) % 2**32 - 2**31 for number in want]


@pytest.mark.parametrize("schedule", list(SCHEDULES))
def test_bytes_without_a_sign_become_signed_ones(schedule: str) -> None:
    """The highest bit is the sign then, wherever a byte is widened."""
    text = "Func f; In A : u8, B : i8; Var x; RVar y; f[x, y] = cast(A[x, y], i8) * 2 + A[x, y] + B[x, y]; f.compile();"
    a = torch.arange(256, dtype=torch.uint8).reshape(16, 16)
    b = a.flip(0).to(torch.int8)
    want = a.to(torch.int8).int() * 2 + a.int() + b.int()
    assert torch.equal(run(scheduled(text, schedule, "y"), a, b).cpu(), want)


@pytest.mark.skipif(DEVICE == "cpu", reason="Triton's interpreter narrows to f8 wrongly")
@pytest.mark.parametrize("narrow", ["f8e4m3", "f8e5m2"])
def test_what_is_read_beyond_the_end_counts_as_nothing_in_f8(narrow: str) -> None:
    """A target may make a large number of an infinity."""
    text = f"Func f; In A; Var x, y; f[x] = rsum(1 / cast(A[x, y], {narrow}), y); "
    text += "f.block(x:16); f.tensorize(x:16, y:32); f.compile();"
    assert torch.equal(run(text, torch.ones(5, 40)).cpu(), torch.full((5,), 40.0))
