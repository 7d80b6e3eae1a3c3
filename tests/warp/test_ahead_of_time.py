"""Kernels of Gluon compile to machine code for sm_90, without a GPU."""

from __future__ import annotations

from pathlib import Path

from apart import apart
from xdsl.context import Context
from xdsl.dialects import get_all_dialects

from dt_mlir.backend.python_module import emit_module
from dt_mlir.registry import DIALECTS
from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon
from dt_mlir.tools.parsing import parse_mlir

PRODUCT = Path(__file__).parents[1] / "filecheck" / "dialects" / "warp" / "product.mlir"


def compiled(text: str, sizes: dict[str, int]) -> list[tuple[str, int, int | None, str, list[str]]]:
    """Returns of each kernel the name, shared memory, spilled bytes, assembly and problems."""
    context = Context()
    for name, dialect in {**get_all_dialects(), **DIALECTS}.items():
        context.register_dialect(name, dialect)
    module = parse_mlir(context, text, "product.mlir")
    return [
        (kernel.name, kernel.shared, kernel.spills, kernel.asm["ptx"], kernel.problems())
        for kernel in compile_gluon(module, emit_module(module), sizes)
    ]


def test_a_product() -> None:
    sizes = {"x": 4096, "y": 4096, "k": 4096}
    ((name, shared, spills, ptx, problems),) = apart(compiled, PRODUCT.read_text(), sizes)
    assert name == "mm_kernel"
    assert not problems
    # Rings of 6 tiles of A, 3 of B and 2 of the result, and barriers.
    assert 3 * (2 * 8192 + 32768) + 2 * 32768 <= shared < 232448
    assert spills == 0
    assert ptx.count("wgmma.mma_async") == 8
    assert "setmaxnreg" in ptx
