"""Functions of numbers have the values that PyTorch computes in f64."""

import itertools
import math

import pytest

from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.numbers import has_value, value_of

torch = pytest.importorskip("torch")

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 700.0, -700.0, 1e3, -1e3, 1e-300,
    1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan,
)  # fmt: skip
PRECISION = 1e-14
OF_ZEROS = ("maximum", "minimum", "clamp", "relu", "sign")
"""Functions whose zero may have any sign."""


def _reference(name: str, values: tuple[float, ...]) -> float:
    tensors = [torch.tensor(value, dtype=torch.float64) for value in values]
    if name == "clamp":
        return torch.minimum(torch.maximum(tensors[0], tensors[1]), tensors[2]).item()
    if name == "sign" and math.isnan(values[0]):
        # PyTorch says 0.
        return math.nan
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    return function(*tensors).item()


def _is_same(found: float, wanted: float, name: str) -> bool:
    if wanted == 0 and found == 0:
        return name in OF_ZEROS or math.copysign(1, found) == math.copysign(1, wanted)
    if not math.isfinite(wanted):
        return found == wanted or (math.isnan(wanted) and math.isnan(found))
    return math.isclose(found, wanted, rel_tol=PRECISION, abs_tol=5e-324)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "fma"])
def test_values_of_functions(name: str) -> None:
    assert has_value(name)
    for values in itertools.product(SPECIAL, repeat=FUNCTIONS[name].arity):
        wanted = _reference(name, values)
        try:
            found = value_of(name, values)
        except OverflowError:
            # What is too large is refused; infinities come of infinities, or are at a pole.
            assert math.isinf(wanted)
            assert all(map(math.isfinite, values))
            continue
        assert isinstance(found, float)
        assert _is_same(found, wanted, name), (name, values, found, wanted)


def test_fma_is_rounded_once() -> None:
    x, y = 1 + 2.0**-30, 1 - 2.0**-30
    assert value_of("fma", (x, y, -1.0)) == -(2.0**-60)
    assert value_of("fma", (1e300, 1e300, -math.inf)) == -math.inf
    with pytest.raises(OverflowError):
        value_of("fma", (-1e300, 1e300, 0.0))
    assert math.isnan(value_of("fma", (math.inf, 0.0, 1.0)))


@pytest.mark.parametrize(
    ("name", "operands", "wanted"),
    [
        ("//", (-7, 2), -4), ("%", (-7, 2), 1), ("/", (7, 2), 3.5), ("**", (2, 10), 1024),
        ("**", (2, -1), 0.5), ("**", (-1, 10**9 + 1), -1), ("**", (2, 0.5), math.sqrt(2)),
        ("abs", (-3,), 3), ("sign", (-3,), -1), ("relu", (-3,), 0), ("maximum", (3, 4), 4),
        ("maximum", (3, 2.5), 3.0), ("clamp", (7, 1, 3), 3), ("sqrt", (9,), 3.0),
        ("round", (2.5,), 2.0), ("fma", (2, 3, 4), 10.0),
    ],
)  # fmt: skip
def test_types_of_numbers(
    name: str, operands: tuple[int | float, ...], wanted: int | float
) -> None:
    found = value_of(name, operands)
    assert (type(found), found) == (type(wanted), wanted)
