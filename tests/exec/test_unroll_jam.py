"""Tiles that are taken apart: every element is what it is without, to the bit."""

import numpy as np
import pytest
import torch
from texts import text_of

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, make_inputs, prepare_triton

DEVICE = prepare_triton()

SIZES: dict[str, list[dict[str, int]]] = {
    "apart_window": [{"p": 4, "q": 8, "c": 3}, {"p": 9, "q": 17, "c": 3}, {"p": 1, "q": 1, "c": 1}],
    "apart_window_inside": [{"X_0": 15, "r": 2, "X_1": 22}, {"X_0": 5, "r": 2, "X_1": 7}],
    "apart_transposed": [{"c": 5, "X_1": 11}, {"c": 1, "X_1": 8}],
    "apart_product": [{"x": 31, "y": 33, "k": 17}, {"x": 64, "y": 1, "k": 16}],
    "apart_softmax": [{"x": 19, "y": 13}, {"x": 6, "y": 1}, {"x": 1, "y": 8}],
    "apart_gather": [{"t": 11, "c": 7, "T_0": 5}, {"t": 8, "c": 4, "T_0": 5}],
    "apart_arguments": [{"A_0": 9, "k": 19}, {"A_0": 12, "k": 3}, {"A_0": 5, "k": 1}],
    "apart_stencil": [{"x": 7, "y": 19}, {"x": 4, "y": 16}, {"x": 1, "y": 1}],
}
"""The programs, with the sizes that are tried: ragged ones, ones that tiles divide, one element."""


def _without(text: str) -> str:
    first, _, rest = text.partition("f.unroll_jam(")
    return first + rest.partition(");")[2]


@pytest.mark.parametrize("special", [False, True], ids=["numbers", "special"])
@pytest.mark.parametrize("name", SIZES)
def test_same_to_the_bit(name: str, special: bool) -> None:
    text = text_of(name)
    program = compile_program(text, name)
    interface = Interface.of(program.algorithm)
    with loaded(program.source) as module, loaded(compile_program(_without(text), name).source) as other:
        for sizes in SIZES[name]:
            given = interface.sizes(sizes)
            inputs = make_inputs(program.algorithm, given, seed=3)
            for tensor in inputs.values():
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    # The order in which a dot adds is its own: sums of whole numbers are exact.
                    flat = (tensor * 4).round_().view(-1)
                    if special:
                        flat[0], flat[-1], flat[len(flat) // 2] = torch.inf, -torch.inf, -0.0
                    tensor.view(-1)[:] = flat
            arguments = [v.to(DEVICE) if isinstance(v, torch.Tensor) else v for v in inputs.values()]
            needed = {n: given[n] for n in interface.free_labels()}
            found, wanted = (m.f(*arguments, **needed).cpu() for m in (module, other))
            assert np.array_equal(found.numpy(), wanted.numpy(), equal_nan=found.is_floating_point()), sizes
