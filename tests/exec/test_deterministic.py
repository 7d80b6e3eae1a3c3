"""Rows of kernels that promise it are the same, bit by bit, however many there are."""

from typing import Any

import pytest
import torch

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
ROWS = (1, 7, 64, 1000)

PROGRAMS = {
    "split product": (
        """Func mm, f : f16; In A : f16, B : f16, bias; Var x, y; RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
f[x, y] = gelu(mm[x, y] + bias[y]);
mm.rfactor(k:4, parts);
parts.block(k_part:1, x:16, y:16); parts.tensorize(x:16, y:16, k:16);
mm.fuse_at(f, y); f.block(x:16, y:16); f.tensorize(x:16, y:16, k_part:0);
f.deterministic(x);
f.compile();
""",
        {"A": (None, 70), "B": (70, 24), "bias": (24,)},
    ),
    "softmax": (
        """Func top, total, f; In A; Var x, y; RVar k;
top[x] = rmax(A[x, k], k);
total[x] = rsum(exp(A[x, k] - top[x]), k);
f[x, y] = exp(A[x, y] - top[x]) / total[x];
f.online(k); f.block(x:8); f.tensorize(x:8, k:16, y:16);
f.deterministic(x);
f.compile();
""",
        {"A": (None, 45)},
    ),
    "norm with a product": (
        """Func square, f; In A, W; Var x, y; RVar k;
square[x] = rsum(A[x, k] * A[x, k], k);
f[x, y] = rdot(A[x, k] * rsqrt(square[x] / len(k) + 1e-6), W[k, y], k);
f.online(k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);
f.deterministic(x);
f.compile();
""",
        {"A": (None, 70), "W": (70, 20)},
    ),
    "decoding in parts": (
        """Func s, top, p, total, o : f16; In Q : f16, K : f16, V : f16; Var b, r, d; RVar j, c;
s[b, r, j] = rdot(Q[b, r, c], K[b, j, c], c) * 0.25;
top[b, r] = rmax(s[b, r, j], j);
p[b, r, j] = exp(s[b, r, j] - top[b, r]);
total[b, r] = rsum(p[b, r, j], j);
o[b, r, d] = rdot(p[b, r, j], V[b, j, d], j) / total[b, r];
o.online(j); o.rfactor(j:2, partial);
partial.precision(narrow); partial.block(j_part:1, b:1);
partial.tensorize(r:16, j:16, c:0, d:0);
o.block(b:1); o.tensorize(r:4, d:0, j_part:0);
o.deterministic(b);
o.compile();
""",
        {"Q": (None, 4, 16), "K": (None, 40, 16), "V": (None, 40, 16)},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_do_not_depend_on_their_number(name: str) -> None:
    text, shapes = PROGRAMS[name]
    program = compile_program(text)
    rows = ROWS if DEVICE != "cpu" else (1, 7, 64, 100)
    generator = torch.Generator().manual_seed(0)
    given: dict[str, Any] = {}
    for tensor, shape in shapes.items():
        extents = [rows[-1] if extent is None else extent for extent in shape]
        values = torch.randn(*extents, generator=generator)
        is_half = f"{tensor} : f16" in text
        given[tensor] = (values.half() if is_half else values).to(DEVICE)
    with loaded(program.source) as module:
        kernel = getattr(module, text.rsplit("\n", 2)[1].partition(".")[0])

        def first(count: int) -> torch.Tensor:
            tensors = [v[:count] if shapes[n][0] is None else v for n, v in given.items()]
            return kernel(*tensors)

        every = first(rows[-1])
        assert every.isfinite().all()
        for count in rows[:-1]:
            assert torch.equal(first(count), every[:count]), count
