"""`verify-warp`: checks that groups of warps use shared memory rightly, in whatever order they act.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from dt_mlir.analysis.block_dependence import depends_on_blocks
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
    """Returns the largest step of the loops that end where a label's size says, by label."""
    found: dict[str, int] = {}
    for op in operations_of(kernel, scf.ForOp):
        step = constant_index(op.step)
        if step is not None:
            for label in _labels_in(op.ub):
                found[label] = max(step, found.get(label, 1))
    return found


def _labels_in(value: SSAValue) -> set[str]:
    """Returns the labels of which a value's expression has the sizes."""
    found: set[str] = set()
    seen = {value}
    pending = [value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, tile.SizeOp):
            found.add(owner.label.data)
        elif isinstance(owner, Operation):
            pending += [operand for operand in owner.operands if operand not in seen]
            seen.update(owner.operands)
    return found


class Case(NamedTuple):
    """A program instance that is explored."""

    sizes: dict[str, int]
    """The size of each label."""
    instance: int
    """Its number."""


def cases_to_check(kernel: warp.KernelOp, multiprocessors: int) -> Iterator[Case]:
    """Returns sizes at which each loop makes up to twice as many trips as rings have stages, and 2.

    A ring then wraps twice. The first instance walks one block, then two; with one trip of all
    other loops it walks as many as they make trips else. Where a block's place decides about trips,
    as in causal attention, the instances of blocks along each label of the grid are explored, too,
    so many that a loop makes as many trips for the blocks before one.

    Args:
        kernel: the kernel.
        multiprocessors: the number of multiprocessors that walk the blocks.
    """
    depth = max((op.depth for op in operations_of(kernel, warp.MBarrierCreateOp)), default=1)
    steps, most = steps_of(kernel), 2 * depth + 2
    per = 1 if kernel.programs is None else multiprocessors * kernel.programs.value.data

    def sizes(trips: int, label: str, blocks: int) -> dict[str, int]:
        found = {item.data: steps.get(item.data, 1) * trips for item in kernel.labels}
        for other, block in kernel.grid:
            found[other] = block * (blocks if other == label else 1)
        return found

    walked = (BLOCKS - 1) * per + 1
    first = kernel.grid[0][0]
    for trips in range(1, most + 1):
        yield Case(sizes(trips, first, 1), 0)
    if kernel.programs is not None:
        yield Case(sizes(most, first, walked), 0)
        yield Case(sizes(1, first, (most - 1) * per + 1), 0)
    if not depends_on_blocks(kernel):
        return
    step = max(steps.values(), default=1)
    for label, block in kernel.grid:
        # Behind blocks that are far smaller than a step, a loop makes no further trip.
        blocks = -(-step * most // block) + 1 if block * most >= step else BLOCKS
        trips = max(-(-blocks * block // step), most)
        if kernel.programs is not None:
            blocks = max(blocks, walked)
        instances = min(blocks, per) if kernel.programs is not None else blocks
        for instance in range(instances):
            yield Case(sizes(trips, label, blocks), instance)
        # Blocks may be counted from either end.
        for instance in sorted({0, instances - 1}):
            for fewer in sorted({trips - 1, most}):
                yield Case(sizes(fewer, label, blocks), instance)


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
            from dt_mlir.interpreters.warp_interleavings import actions_of, explore
        except ImportError:
            raise CompileError(
                "checking what groups of warps do needs numpy", kernels[0],
                "pip install 'dt-mlir[run]'",
            ) from None  # fmt: skip
        for kernel in kernels:
            check_resources(kernel)
            explored: set[tuple[tuple[object, ...], ...]] = set()
            for sizes, instance in cases_to_check(kernel, MULTIPROCESSORS):
                protocol, actions = actions_of(op, kernel, sizes, instance)
                # Many sizes and instances do the same.
                done = tuple(map(tuple, actions))
                if done not in explored:
                    explored.add(done)
                    explore(kernel, protocol, actions)
