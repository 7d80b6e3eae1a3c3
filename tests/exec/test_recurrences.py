"""Linear recurrences that are scanned, at special values and in each of their forms."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
INF, NAN = float("inf"), float("nan")

FORMS: dict[str, tuple[str, Callable[[int, int], bool], Callable[[int, int, int], bool]]] = {
    "up": ("i > j, i <= t), j, j <= t", lambda j, t: j <= t, lambda i, j, t: j < i <= t),
    "own": ("i >= j, i <= t), j, j <= t", lambda j, t: j <= t, lambda i, j, t: j <= i <= t),
    "late": ("i >= j, i < t), j, j <= t", lambda j, t: j <= t, lambda i, j, t: j <= i < t),
    "before": ("i > j, i < t), j, j < t", lambda j, t: j < t, lambda i, j, t: j < i < t),
    "first": ("i > j, i <= t), j, j < t", lambda j, t: j < t, lambda i, j, t: j < i <= t),
    "last": ("i < j, i >= t), j, j > t", lambda j, t: j > t, lambda i, j, t: t <= i < j),
    "down": ("i < j, i >= t), j, j >= t", lambda j, t: j >= t, lambda i, j, t: t <= i < j),
    "behind": ("i < j, i > t), j, j > t", lambda j, t: j > t, lambda i, j, t: t < i < j),
}
"""The domains, and which elements and factors they have."""
FACTORS = {
    "zeros": [0.5, 0.0, 2.0, -1.0, 0.0, 0.0, 3.0, 0.25, 1.0],
    "first infinite": [INF, 0.5, 2.0, 1.0, 0.0, 3.0, 1.0, 2.0, 4.0],
    "last infinite": [1.0, 0.5, 2.0, 1.0, 0.0, 3.0, 1.0, 2.0, -INF],
    "infinite": [1.0, 0.5, 2.0, INF, 2.0, 3.0, 1.0, 2.0, 4.0],
}
ELEMENTS = [1.0, -2.0, 0.0, 4.0, 0.5, -8.0, 3.0, 1.0, 2.0]


def defined(form: str, factors: Sequence[float]) -> list[float]:
    """The sums of products that the algorithm says."""
    _, is_element, is_factor = FORMS[form]
    found: list[float] = []
    for t in range(len(factors)):
        total = torch.tensor(0.0)
        for j in filter(lambda j: is_element(j, t), range(len(factors))):
            term = torch.tensor(1.0)
            for i in filter(lambda i: is_factor(i, j, t), range(len(factors))):
                term = term * factors[i]
            total = total + term * ELEMENTS[j]
        found.append(total.item())
    return found


@pytest.mark.parametrize("schedule", ["", "h.tensorize(t:4);", "h.tensorize(t:0);"])
@pytest.mark.parametrize("form", FORMS)
def test_special_factors(form: str, schedule: str) -> None:
    text = (
        "Func h; In A, B; Var t = size(A, 0); RVar j = len(t), i;\n"
        f"h[t] = rsum(B[j] * rprod(A[i], i, {FORMS[form][0]});\n"
        f"h.scan(t); {schedule}\nh.compile();\n"
    )
    with loaded(compile_program(text).source) as module:
        _check(module.h, form)


def _check(kernel: Any, form: str) -> None:
    for name, factors in FACTORS.items():
        given = (torch.tensor(x, device=DEVICE) for x in (factors, ELEMENTS))
        got, wanted = kernel(*given).cpu(), torch.tensor(defined(form, factors))
        # Multiplied by an infinity, a sum is NaN or infinite by another rule than its terms are.
        finite = wanted.isfinite()
        assert torch.equal(got.isfinite(), finite), (name, got, wanted)
        assert torch.allclose(got[finite], wanted[finite], rtol=1e-5), (name, got, wanted)
