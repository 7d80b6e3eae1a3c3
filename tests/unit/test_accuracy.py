"""The accuracy that kernels may compute with."""

from __future__ import annotations

import numpy as np
import pytest

from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.runtime.execute import make_inputs, reference

TEXT = "Func f; In A : {left}, B : {right}; Var x, y; RVar k; f[x, y] = {value}; f.compile();"


@pytest.mark.parametrize(
    ("left", "right", "value", "cut"),
    [
        ("f8e4m3", "f8e4m3", "rdot(A[x, k], B[k, y], k)", True),
        ("f8e5m2", "f8e4m3", "rdot(A[x, k], B[k, y], k)", True),
        ("f16", "f16", "rdot(A[x, k], B[k, y], k)", False),
        ("f8e4m3", "f8e4m3", "A[x, y] * B[x, y]", False),
    ],
)
def test_tensor_cores_cut_off_products_of_bytes(
    left: str, right: str, value: str, cut: bool
) -> None:
    module, _ = compile_text(TEXT.format(left=left, right=right, value=value), "-")
    assert not Accuracy.of(module).cut
    on_gpu = Accuracy.of(module, on_gpu=True)
    assert on_gpu.cut == cut
    sizes = {"x": 2, "y": 3, "k": 64}
    inputs = make_inputs(module, sizes)
    exact, cut_off = (
        reference(module, inputs, sizes, accuracy)["f"] for accuracy in (None, on_gpu)
    )
    assert np.array_equal(exact.value, cut_off.value)
    if cut:
        # 34 of 2^13 parts of the sum of magnitudes, which 64 products of at most 1 bound.
        assert (cut_off.error > 100 * exact.error).all()
        assert (cut_off.error < 34 * 2.0**-13 * 64 + 1e-3).all()
    else:
        assert np.array_equal(exact.error, cut_off.error)
