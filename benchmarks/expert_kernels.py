"""Kernels as an expert writes them by hand: tiles by name, sizes that divide, no masks to spare."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _matmul(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """A product of contiguous matrices; blocks are walked in groups of rows."""
    pid = tl.program_id(0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * blocks_n
    first = pid // in_group * GROUP_M
    height = min(blocks_m - first, GROUP_M)
    rows = (first + pid % in_group % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid % in_group // height * BLOCK_N + tl.arange(0, BLOCK_N)
    inside_rows = (rows < M)[:, None]
    inside_columns = (columns < N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        a_at = a_ptr + rows[:, None] * K + depth[None, :]
        b_at = b_ptr + depth[:, None] * N + columns[None, :]
        if M % BLOCK_M == 0 and N % BLOCK_N == 0 and K % BLOCK_K == 0:
            a = tl.load(a_at)
            b = tl.load(b_at)
        else:
            a = tl.load(a_at, mask=inside_rows & (depth < K)[None, :], other=0.0)
            b = tl.load(b_at, mask=(depth < K)[:, None] & inside_columns, other=0.0)
        total = tl.dot(a, b, total)
    at = c_ptr + rows[:, None] * N + columns[None, :]
    value = total.to(c_ptr.dtype.element_ty)
    if M % BLOCK_M == 0 and N % BLOCK_N == 0:
        tl.store(at, value)
    else:
        tl.store(at, value, mask=inside_rows & inside_columns)


def matmul_expert(a, b):
    """A product by the hand-written kernel, in 128 x 256 blocks."""
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256),)
    _matmul[grid](a, b, c, m, n, k, 128, 256, 64, 8, num_warps=8, num_stages=3)
    return c


@triton.jit
def _softmax(a_ptr, out_ptr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    """Softmax of one row, which is held whole."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, WIDTH)
    inside = columns < COLUMNS
    a = tl.load(a_ptr + row * COLUMNS + columns, mask=inside, other=-float("inf"))
    power = tl.exp(a - tl.max(a, 0))
    tl.store(out_ptr + row * COLUMNS + columns, power / tl.sum(power, 0), mask=inside)


def softmax_expert(a):
    """Softmax of each row by the hand-written kernel."""
    rows, columns = a.shape
    out = torch.empty_like(a)
    width = triton.next_power_of_2(columns)
    warps = min(32, max(4, width // 512))
    _softmax[(rows,)](a, out, columns, width, num_warps=warps)
    return out
