"""Kernels as an expert writes them by hand: tiles by name, sizes that divide, no masks to spare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from dt_mlir.dialects import sched
from dt_mlir.frontend.emit import compile_text

Function = Callable[..., Any]


@dataclass(frozen=True)
class Winner:
    """The parameters of the schedule that a hand-written kernel takes over."""

    tiles: Mapping[str, int]
    """The tile of each label that has one."""
    warps: int = 4
    stages: int = 3
    group: int = 8
    """The blocks of rows that program instances walk in a group."""

    @staticmethod
    def of(program: str) -> Winner:
        """Reads the parameters of a program's first kernel with tiles.

        Args:
            program: the text, with its schedule.
        """
        module, _ = compile_text(program, "-")
        found: dict[str, dict[str, Any]] = {}
        for op in module.walk():
            if isinstance(op, sched.DirectiveOp):
                found.setdefault(op.function_name, {})[op.directive_name] = op.argument_list
        of = next((one for one in found.values() if "tensorize" in one), {})
        tiles = {str(item.key): int(item.value) for item in of.get("tensorize", ())}
        groups = [item.factor for item in of.get("map", ()) if item.factor]

        def number(name: str, otherwise: int) -> int:
            return int(of[name][0].value) if name in of else otherwise

        return Winner(
            tiles, number("num_warps", 4), number("num_stages", 3), groups[0] if groups else 1
        )


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


def matmul_expert(winner: Winner) -> Function:
    """Returns the product by the hand-written kernel, with the parameters of a schedule."""
    tiles = winner.tiles
    rows, columns, depth = tiles.get("x", 128), tiles.get("y", 256), tiles.get("k", 64)

    def function(a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(m, rows) * triton.cdiv(n, columns),)
        _matmul[grid](
            a, b, c, m, n, k, rows, columns, depth, winner.group, num_warps=winner.warps,
            num_stages=winner.stages,
        )
        return c

    return function


@triton.jit
def _softmax(a_ptr, out_ptr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):
    """Softmax of one row, which is held whole."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, WIDTH)
    inside = columns < COLUMNS
    a = tl.load(a_ptr + row * COLUMNS + columns, mask=inside, other=-float("inf"))
    power = tl.exp(a - tl.max(a, 0))
    tl.store(out_ptr + row * COLUMNS + columns, power / tl.sum(power, 0), mask=inside)


def softmax_expert(winner: Winner) -> Function:
    """Returns softmax of each row by the hand-written kernel, with the warps of a schedule."""

    def function(a):
        rows, columns = a.shape
        out = torch.empty_like(a)
        width = triton.next_power_of_2(columns)
        _softmax[(rows,)](a, out, columns, width, num_warps=winner.warps)
        return out

    return function


EXPERTS: dict[str, Callable[[Winner], Function]] = {
    "matmul_expert": matmul_expert, "softmax_expert": softmax_expert,
}  # fmt: skip
"""Makers of functions that take a winner's parameters, by name."""
