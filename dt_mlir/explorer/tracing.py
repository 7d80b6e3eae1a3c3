"""The elements that each program instance touches, from the interpreter's events.

Kernels run on inputs of zeros. Products are left out, since no place depends on one: an index of
data is an integer that was loaded, and what is not loaded is zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Attribute, Operation

from dt_mlir.analysis.interface import Interface
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.diagnostics import CompileError, Place, file_line_col
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.drawing.placement import MOST_ELEMENTS
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Value, shape_of
from dt_mlir.interpreters.bounded import Array, Bounded
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.events import Observer
from dt_mlir.interpreters.memory import Buffer
from dt_mlir.interpreters.run import run_module
from dt_mlir.interpreters.tile_level import TileFunctions

MOST_INSTANCES = 400
"""The most program instances of a picture."""
MOST_EVENTS = 6000
"""The most accesses that are kept of all instances together; half of them are stores."""
MOST_WORK = 12000
"""The most accesses and trips that are run; a picture of more ends there."""
WANTED_BLOCKS = 3.5
"""The blocks along a label of the grid, and the tiles along one of a loop, that are drawn."""

Run = tuple[int, int, int]
"""Indices from the first up to the second, in steps of the third."""


@dataclass(frozen=True)
class Footprint:
    """The elements that a program instance touches with one operation at one time."""

    tensor: str
    stores: bool
    axes: list[list[Run]]
    """The indices along each axis of the lanes that are not masked off."""
    lanes: int
    """The lanes of the tile."""
    active: int
    """Those of them that are not masked off."""
    box: list[tuple[int, int]]
    """The first index along each axis and the one behind the last, masked lanes included."""
    exact: bool
    """True if the touched elements are all combinations of the indices of the axes."""
    trips: list[tuple[str, int]]
    """The loops around it, outermost first, each with the value of its induction variable."""
    place: Place | None
    """The place of the operation."""


@dataclass
class KernelTrace:
    """The accesses of a kernel."""

    name: str
    root: str
    grid: list[tuple[str, int, int]]
    """The labels of the grid, each with its size and that of a block."""
    persistent: bool
    instances: list[list[Footprint]] = field(default_factory=list[list[Footprint]])


@dataclass
class Trace:
    """The accesses of a module's kernels at some sizes."""

    sizes: dict[str, int]
    tensors: dict[str, list[int]]
    """The extents of each tensor."""
    labels: dict[str, list[str]]
    """The labels of the axes of each tensor."""
    kernels: list[KernelTrace]
    truncated: bool = False
    """True if some accesses were left out."""


class _Places(BoundedArithmetic):
    """Computes no products: a picture shows where they are, and not what they are."""

    def dot(
        self, lhs: Value, rhs: Value, axes: tuple[int, ...], sizes: Sequence[int], type: Attribute
    ) -> Bounded:
        rank = max(len(shape_of(lhs)), len(shape_of(rhs))) - len(axes)
        return self.from_array(np.zeros((1,) * rank), type)


class EnoughError(Exception):
    """An end of a run that has shown enough."""


class BoundedObserver(Observer):
    """Ends a run after so much work."""

    def __init__(self) -> None:
        self.work = 0

    def counted(self) -> None:
        """Counts a piece of work.

        Raises:
            EnoughError: where there was enough.
        """
        self.work += 1
        if self.work > MOST_WORK:
            raise EnoughError

    def trip(self, loop: Operation, index: int) -> None:
        self.counted()


class Recorder(BoundedObserver):
    """Keeps the accesses of each instance."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace
        self.left = [0, 0]
        """The loads and the stores that are still kept of the instance."""
        self.trips: dict[Operation, int] = {}

    def starts(self, kernel: GridKernelOp, instance: int, instances: int) -> None:
        self.trips.clear()
        if instance == 0:
            grid = [(label, self.trace.sizes[label], block) for label, block in kernel.grid]
            self.trace.kernels.append(KernelTrace(
                kernel.sym_name.data, kernel.root.data, grid, kernel.programs is not None
            ))  # fmt: skip
        self.trace.kernels[-1].instances.append([])
        self.left = [max(2, MOST_EVENTS // 2 // instances)] * 2

    def trip(self, loop: Operation, index: int) -> None:
        super().trip(loop, index)
        self.trips[loop] = index

    def leaves(self, loop: Operation) -> None:
        self.trips.pop(loop, None)

    def access(
        self, op: Operation, buffer: Buffer, places: Sequence[Array], mask: Array
    ) -> None:
        shape = np.broadcast_shapes(np.shape(mask), *(np.shape(place) for place in places))
        self.trace.tensors.setdefault(buffer.name, list(buffer.shape))
        self.counted()
        stores = isinstance(op, tile.StoreOp | warp.TmaStoreOp)
        self.left[stores] -= 1
        if self.left[stores] < 0 or not math.prod(shape):
            self.trace.truncated |= self.left[stores] < 0
            return
        kept = np.broadcast_to(mask, shape)
        full = [np.broadcast_to(np.asarray(place), shape) for place in places]
        chosen = [index[kept] for index in full]
        axes = [runs(np.unique(index)) for index in chosen]
        counts = math.prod(sum(len(range(*run)) for run in axis) for axis in axes)
        active = int(np.count_nonzero(kept))
        distinct = len(np.unique(np.stack(chosen), axis=1).T) if chosen and active else active
        loops = [(_induction_variable(loop), index) for loop, index in self.trips.items()]
        self.trace.kernels[-1].instances[-1].append(Footprint(
            buffer.name, stores, axes, math.prod(shape),
            active, [(int(index.min()), int(index.max()) + 1) for index in full],
            distinct == counts, loops, file_line_col(op.location),
        ))  # fmt: skip


def _induction_variable(loop: Operation) -> str:
    """The name of a loop's induction variable."""
    return loop.regions[0].block.args[0].name_hint or "i"


def runs(indices: Array) -> list[Run]:
    """Returns sorted numbers as runs of equal steps.

    Args:
        indices: numbers in rising order, of shape (n,).
    """
    found: list[Run] = []
    numbers = [int(index) for index in indices]
    first = 0
    while first < len(numbers):
        step = numbers[first + 1] - numbers[first] if first + 1 < len(numbers) else 1
        last = first
        while last + 1 < len(numbers) and numbers[last + 1] - numbers[last] == step:
            last += 1
        found.append((numbers[first], numbers[last] + 1, step))
        first = last + 1
    return found


def picture_sizes(
    module: ModuleOp,
    given: Mapping[str, int],
    blocks: float = WANTED_BLOCKS,
    trips: float = WANTED_BLOCKS,
) -> dict[str, int]:
    """Returns sizes that show a few blocks and trips, the last of them ragged.

    Args:
        module: a module with kernels of the `tile` level.
        given: sizes of labels, which are kept.
        blocks: the number of blocks along each label of a grid.
        trips: the number of tiles along other labels.

    Raises:
        CompileError: if there is no such label, or sizes contradict each other.
    """
    interface = Interface.of(module)
    interface.sizes(given)
    steps: dict[str, int] = {}
    blocked: set[str] = set()
    for kernel in kernels_of(module):
        for label, block in kernel.grid:
            blocked.add(label)
            steps[label] = max(steps.get(label, 1), block)
        for op in kernel.walk():
            if isinstance(op, tile.RangeOp) and isinstance(op.axis.extent, int):
                label = op.label.data
                steps[label] = max(steps.get(label, 1), op.axis.extent * op.stride)
    wanted = dict(given)
    known = interface.derived()
    for group in interface.groups:
        step = max((steps.get(label, 0) for label in group), default=0)
        if not (known | set(wanted) | set(interface.fixed)) & set(group) and step:
            count = blocks if blocked & set(group) else trips
            wanted[group[0]] = max(2, math.ceil(count * step))
    try:
        return interface.sizes(wanted)
    except CompileError:
        return interface.sizes(given)


def trace(module: ModuleOp, given: Mapping[str, int]) -> Trace:
    """Runs a module's block programs, and returns what each of their instances touches.

    Args:
        module: a module with kernels of the `tile` level; kernels of the `warp` level beside them
            are left out.
        given: sizes of labels; others are chosen such that a few blocks are seen.

    Raises:
        CompileError: if there would be too much to see, or the program cannot run.
    """
    sizes = picture_sizes(module, given)
    tiles = _of_tiles(module)
    for kernel in kernels_of(tiles):
        instances = math.prod(-(-sizes[label] // block) for label, block in kernel.grid)
        if instances > MOST_INSTANCES:
            raise CompileError(
                f"the kernel of '{kernel.root.data}' has {instances} program instances at these "
                f"sizes, more than {MOST_INSTANCES}", None, "give smaller ones with --sizes",
            )  # fmt: skip
    found = Trace(sizes, {}, labels_of(tiles), [])
    try:
        run_on_zeros(tiles, sizes, Recorder(found))
    except EnoughError:
        found.truncated = True
    return found


def run_on_zeros(module: ModuleOp, sizes: Mapping[str, int], observer: Observer) -> None:
    """Runs a module on inputs of zeros, without computing products.

    Raises:
        CompileError: if inputs are too large, or the program cannot run.
    """
    interface = Interface.of(module)
    arithmetic = _Places(Accuracy.of(module))
    inputs: dict[str, Any] = {}
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        if math.prod(shape) > MOST_ELEMENTS:
            raise CompileError(
                f"'{item.name}' has {math.prod(shape)} elements at these sizes", None,
                "give smaller ones with --sizes",
            )
        # A scalar of 1 divides nothing by 0.
        start = np.zeros if item.axes is not None or isinstance(item.element, AnyFloat) else np.ones
        inputs[item.name] = arithmetic.from_array(start(shape), item.element)
    run_module(module, inputs, sizes, arithmetic, TileFunctions(arithmetic, sizes, observer))


def labels_of(module: ModuleOp) -> dict[str, list[str]]:
    """Returns the labels of the axes of each tensor of a module's kernels."""
    found: dict[str, list[str]] = {}
    for kernel in kernels_of(module):
        for name, arg in zip(kernel.argument_names, kernel.args):
            found.setdefault(name, list(kernel.axes_of(arg)))
    return found


def _of_tiles(module: ModuleOp) -> ModuleOp:
    """Returns a copy without kernels of the `warp` level."""
    copy = module.clone()
    function = host.function_of(copy)
    for launch in [] if function is None else function.launches():
        launch.specialized = None
    for op in list(copy.ops):
        if isinstance(op, warp.KernelOp):
            op.detach()
            op.erase()
    return copy
