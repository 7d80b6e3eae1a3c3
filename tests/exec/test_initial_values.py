"""Triton reduces behind no loop what its trips load: the loop may do something else with it."""

from collections.abc import Callable, Iterator

import pytest
import torch
from compiling import compiling_process, layouts_of

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.triton.initial_values import HIDDEN
from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
REWRITTEN = "efficient_layout"
"""The mark of what Triton's pass (`tritongpu-optimize-thread-locality`) has rewritten."""
SUMS = """
Func f, g;
In A;
Var x;
RVar y, k;
g[x, y] = rmax(A[x, y, k], k);
f[x] = rsum(g[x, y], y);
g.fuse_at(f, y);
f.block(x:64);
f.tensorize(x:64, k:{tile});
f.compile();
"""
PARTS = """
Func f;
In A;
Var x, y;
RVar k;
f[x, y] = rmin(A[k, x], k) + y;
f.rfactor(k:128, parts);
parts.block(k_part:1, x:512);
parts.tensorize(x:512, k:4);
f.block(y:32);
f.tensorize(x:1024, k_part:16, y:32);
f.num_warps(8);
f.compile();
"""
"""Its layout has elements of several rows in turns among a thread's registers."""
PROGRAMS = {
    "tiles": (SUMS.format(tile=0), {"x": 64, "y": 16, "k": 64}),
    "one trip": (SUMS.format(tile=64), {"x": 64, "y": 16, "k": 64}),
    "a tail": (SUMS.format(tile=0), {"x": 61, "y": 5, "k": 60}),
    "parts": (PARTS, {"x": 3, "y": 3, "k": 3}),
}


@pytest.fixture(scope="module")
def compiler() -> Iterator[Callable[..., list[str]]]:
    """Compiles in a process of its own."""
    with compiling_process() as pool:
        yield lambda *args: pool.submit(layouts_of, *args).result()


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_loop_is_rewritten(name: str, compiler: Callable[..., list[str]]) -> None:
    text, sizes = PROGRAMS[name]
    source = compile_program(text, name).source
    assert HIDDEN in source
    assert not any(REWRITTEN in found for found in compiler(source, text, sizes))
    # Without, Triton does.
    open_ = source.replace(f"{HIDDEN}(0.0)", "0.0").replace(f"{HIDDEN}(float('inf'))", "float('inf')")
    assert any(REWRITTEN in found for found in compiler(open_, text, sizes))


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str) -> None:
    """Shows a fault on a GPU alone: Triton's interpreter rewrites nothing."""
    text, sizes = PROGRAMS[name]
    program = compile_program(text, name)
    generator = torch.Generator().manual_seed(1)
    (item,) = Interface.of(program.algorithm).inputs
    shape = [sizes[str(label)] for label in item.axes or ()]
    given = torch.randn(shape, generator=generator) + 2
    with loaded(program.source) as module:
        if name == "parts":
            found = module.f(given.to(DEVICE), y=sizes["y"])
            wanted = given.amin(0)[:, None] + torch.arange(sizes["y"])
        else:
            found = module.f(given.to(DEVICE))
            wanted = given.amax(2).sum(1)
    assert torch.allclose(found.cpu(), wanted, rtol=1e-5)
