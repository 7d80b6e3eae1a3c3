"""`verify-warp`: checks that groups of warps use shared memory rightly, in whatever order they act.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.shared_memory import SHARED_MEMORY, shared_memory_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile, warp
from dt_mlir.traversal import operations_of

BLOCKS = 2
"""The blocks that an instance walks where every number of trips of the other loops is tried."""


def check_resources(kernel: warp.KernelOp) -> None:
    """Checks that shared memory holds what a kernel allocates.

    Raises:
        CompileError: if it does not.
    """
    total = shared_memory_of(kernel)
    if total > SHARED_MEMORY:
        raise CompileError(
            f"the kernel of '{kernel.root.data}' takes {total} bytes of shared memory, more than "
            f"the {SHARED_MEMORY} that there are", kernel,
            f"smaller tiles, or fewer stages ({kernel.root.data}.num_stages), would fit",
        )  # fmt: skip


def steps_of(kernel: warp.KernelOp) -> dict[str, int]:
    """Returns the steps of the loops over labels."""
    found: dict[str, int] = {}
    for op in operations_of(kernel, scf.ForOp):
        step = constant_index(op.step)
        if step is not None and isinstance(op.ub.owner, tile.SizeOp):
            label = op.ub.owner.label.data
            found[label] = max(step, found.get(label, 1))
    return found


def sizes_to_check(kernel: warp.KernelOp, multiprocessors: int) -> Iterator[dict[str, int]]:
    """Returns sizes at which each loop makes up to twice as many trips as rings have stages, and 2.

    A ring then wraps twice. The first instance walks one block, then two; with one trip of all
    other loops it walks as many as they make trips else.

    Args:
        kernel: the kernel.
        multiprocessors: the number of multiprocessors that walk the blocks.
    """
    depth = max((op.depth for op in operations_of(kernel, warp.MBarrierCreateOp)), default=1)
    steps, most = steps_of(kernel), 2 * depth + 2
    walks = kernel.programs is not None
    cases = [(1, trips) for trips in range(1, most + 1)]
    cases += [(BLOCKS, most), (most, 1)] if walks else []
    for blocks, trips in cases:
        sizes = {label.data: steps.get(label.data, 1) * trips for label in kernel.labels}
        programs = 1
        if kernel.programs is not None:
            programs = multiprocessors * kernel.programs.value.data
        for number, (label, block) in enumerate(kernel.grid):
            count = (blocks - 1) * programs + 1 if number == 0 else 1
            sizes[label] = block * count
        yield sizes


@dataclass(frozen=True)
class VerifyWarpPass(ModulePass):
    """Checks that groups of warps use shared memory rightly, in whatever order they act.

    Every order of the actions of all groups, and of the ends of copies, is explored, at sizes at
    which rings wrap twice. Deadlocks are found, and reads of what is not ready, writes to what is
    still read, missing fences, and whatever depends on which group is faster. Shared memory must
    hold what is allocated. The IR stays as it is.
    """

    name = "verify-warp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [kernel for kernel in op.ops if isinstance(kernel, warp.KernelOp)]
        if not kernels:
            return
        try:
            # No other pass runs a kernel: compiling needs no NumPy.
            from dt_mlir.interpreters.tile_level import MULTIPROCESSORS
            from dt_mlir.interpreters.warp_interleavings import check_kernel
        except ImportError:
            raise CompileError(
                "checking what groups of warps do needs numpy", kernels[0],
                "pip install 'dt-mlir[run]'",
            ) from None  # fmt: skip
        for kernel in kernels:
            check_resources(kernel)
            for sizes in sizes_to_check(kernel, MULTIPROCESSORS):
                check_kernel(op, kernel, sizes)
