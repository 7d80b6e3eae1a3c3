"""`verify-warp`: checks that groups of warps use shared memory rightly, in whatever order they act.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
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
FARTHEST = 2**14
"""The number of blocks beyond which no block is looked for whose loops make many trips."""
SPREAD = 4
"""The instances that are explored along a label, for each trip of the loops of the last one."""


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
    """Returns the largest step of the loops that end where a label's size says, by label.

    Labels of the grid are left out: blocks are counted by themselves.
    """
    grid = {label for label, _ in kernel.grid}
    found: dict[str, int] = {}
    for op in operations_of(kernel, scf.ForOp):
        step = constant_index(op.step)
        if step is not None:
            for label in _labels_in(op.ub) - grid:
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
    instance: int = 0
    """Its number."""
    programs: int | None = None
    """The number of instances; None for as many as would be launched."""


class Cases:
    """The instances that are explored.

    Args:
        kernel: the kernel.
        multiprocessors: the number of multiprocessors that walk the blocks.
    """

    def __init__(self, kernel: warp.KernelOp, multiprocessors: int) -> None:
        depths = [op.depth for op in operations_of(kernel, warp.MBarrierCreateOp)]
        self.kernel, self.steps = kernel, steps_of(kernel)
        self.most = 2 * max(depths, default=1) + 2
        """The trips after which a ring has wrapped twice, and two more."""
        self.walks = kernel.programs is not None
        self.programs = 1
        """The number of instances that are launched where there are as many blocks."""
        if kernel.programs is not None:
            self.programs = multiprocessors * kernel.programs.value.data

    def _sizes(self, trips: int, label: str, blocks: int) -> dict[str, int]:
        """Returns sizes with so many steps of each loop, and so many blocks along a label."""
        found = {item.data: self.steps.get(item.data, 1) * trips for item in self.kernel.labels}
        for other, block in self.kernel.grid:
            found[other] = block * (blocks if other == label else 1)
        return found

    def near(self) -> Iterator[Case]:
        """Yields instances of the first blocks.

        Each loop makes up to `most` trips. The first instance walks one block, then two; with one
        trip of all other loops it walks as many as they make trips else.
        """
        first = self.kernel.grid[0][0]
        for trips in range(1, self.most + 1):
            yield Case(self._sizes(trips, first, 1))
        if self.walks:
            yield Case(self._sizes(self.most, first, (BLOCKS - 1) * self.programs + 1))
            yield Case(self._sizes(1, first, (self.most - 1) * self.programs + 1))

    def far(self, trips_of: Callable[[Case], int]) -> Iterator[Case]:
        """Yields instances of blocks behind the first, where a block's place decides about trips.

        Along each label of the grid, these are blocks up to the first one whose loops make `most`
        trips, as in causal attention, and those of the last one at other sizes. An instance that
        walks blocks walks the first and the last.

        Args:
            trips_of: returns how many trips a loop of an instance makes at most.
        """
        if not depends_on_blocks(self.kernel):
            return
        for label, block in self.kernel.grid:
            last = self._last(label, block, trips_of)
            whole = self._long(label, block, last)
            for instance in range(0, last, max(last // (SPREAD * self.most), 1)):
                yield Case(whole, instance, last)
            # Blocks may be counted from either end.
            for instance in (0, last - 1):
                yield Case(whole, instance, last)
                yield Case(self._long(label, block, last, 1), instance, last)
            if self.walks:
                yield Case(whole, 0, last - 1)

    def _long(self, label: str, block: int, blocks: int, fewer: int = 0) -> dict[str, int]:
        """Returns sizes with so many blocks along a label, and other labels as long as these.

        Args:
            label: the label.
            block: the size of its blocks.
            blocks: their number.
            fewer: the steps by which other labels are shorter.
        """
        step = max(self.steps.values(), default=1)
        trips = max(-(-blocks * block // step), self.most)
        return self._sizes(trips - fewer, label, blocks)

    def _last(self, label: str, block: int, trips_of: Callable[[Case], int]) -> int:
        """Returns the fewest blocks along a label with which loops of one make `most` trips.

        These are `BLOCKS` if there are none so near.
        """

        def reaches(blocks: int) -> bool:
            sizes = self._long(label, block, blocks)
            ends = (Case(sizes, instance, blocks) for instance in (0, blocks - 1))
            return max(map(trips_of, ends)) >= self.most

        below, found = 1, BLOCKS
        while not reaches(found):
            below, found = found, 8 * found
            if found > FARTHEST:
                return BLOCKS
        while found - below > 1:
            middle = (below + found) // 2
            below, found = (below, middle) if reaches(middle) else (middle, found)
        return found


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

            def trips_of(case: Case, kernel: warp.KernelOp = kernel) -> int:
                groups = actions_of(op, kernel, *case)[1]
                counts = (Counter(action.op for action in group) for group in groups)
                return max(max(count.values(), default=0) for count in counts)

            cases = Cases(kernel, MULTIPROCESSORS)
            explored: set[tuple[tuple[object, ...], ...]] = set()
            for case in chain(cases.near(), cases.far(trips_of)):
                protocol, actions = actions_of(op, kernel, *case)
                # Many sizes and instances do the same.
                done = tuple(map(tuple, actions))
                if done not in explored:
                    explored.add(done)
                    explore(kernel, protocol, actions)
