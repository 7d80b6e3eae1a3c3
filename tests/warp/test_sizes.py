"""Kernels whose warps are specialized for sizes of labels that the program leaves open."""

from __future__ import annotations

import numpy as np
import pytest
from apart import apart
from running import computed, machine_code
from test_attention import text
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.dialects import host
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.traversal import operations_of


def lowered(form: str, head: int, level: str = "warp") -> ModuleOp:
    """Returns attention with open heads, specialized for some."""
    program = text(form, f"o.warp_specialize(d:{head}, c:{head}); o.num_stages(2);")
    program = program.replace("d = 64", "d").replace("c = 64", "c")
    module, _ = compile_text(program, "attention.dt")
    run_pipeline(module, default_pipeline(level))
    return module


@pytest.mark.parametrize("form", ["plain", "causal", "with a bias"])
@pytest.mark.parametrize(("head", "size"), [(64, 64), (80, 80), (8, 8), (64, 48), (16, 17)])
def test_any_size_is_computed(form: str, head: int, size: int) -> None:
    """Triton's kernel is launched where a label has another size."""
    module, tiles = lowered(form, head), lowered(form, head, "tile")
    run_pipeline(module.clone(), ["verify-warp"])
    (launch,) = operations_of(module, host.LaunchOp)
    assert launch.known_sizes == {"d": head, "c": head}
    sizes = {"h": 2, "i": 130, "j": 70, "d": size, "c": size}
    random = np.random.default_rng(1)
    arrays = {
        name: random.normal(size=[sizes[x] for x in axes]).astype(np.float32)
        for name, axes in {"Q": "hic", "K": "hjc", "V": "hjd"}.items()
    }
    found, wanted = (computed(each, arrays, sizes, "o") for each in (module, tiles))
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=2e-3)


def compiled(head: int) -> list[tuple[str, int | None, list[str]]]:
    sizes = {"h": 64, "i": 4096, "j": 4096, "d": head, "c": head}
    return machine_code(lowered("plain", head), sizes)


def test_it_compiles() -> None:
    ((ptx, spills, problems),) = apart(compiled, 128)
    assert not problems
    assert spills == 0
    assert ptx.count("wgmma.mma_async") > 8


def test_labels_of_one_size_are_one() -> None:
    """Queries, keys and values that are one tensor have one size of heads."""
    program = text("plain", "o.warp_specialize(d:64, c:64); o.num_stages(2);")
    program = program.replace("d = 64", "d").replace("c = 64", "c")
    for name in "QKV":
        program = program.replace(f"{name}[", "X[")
    program = program.replace("In Q : bf16, K : bf16, V : bf16;", "In X : bf16;")
    module, _ = compile_text(program, "attention.dt")
    run_pipeline(module, [*default_pipeline("warp"), "verify-warp"])
    (launch,) = operations_of(module, host.LaunchOp)
    assert launch.known_sizes == {"d": 64}
    assert not launch.equal_labels
    sizes = {"h": 2, "i": 70, "j": 70, "d": 64, "c": 64}
    arrays = {"X": np.random.default_rng(1).normal(size=[2, 70, 64]).astype(np.float32)}
    tiles, _ = compile_text(program, "attention.dt")
    run_pipeline(tiles, default_pipeline("tile"))
    found, wanted = (computed(each, arrays, sizes, "o") for each in (module, tiles))
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=2e-3)
