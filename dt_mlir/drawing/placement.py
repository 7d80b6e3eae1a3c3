"""The elements that each program instance of a kernel writes, step by step.

Found by running the block program without what it computes: stores keep their places, and what
they store is a constant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from dt_mlir.analysis.interface import Interface
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.events import Observer
from dt_mlir.interpreters.memory import Buffer
from dt_mlir.interpreters.run import run_module
from dt_mlir.interpreters.tile_level import TileFunctions
from dt_mlir.pipeline import run_pipeline
from dt_mlir.traversal import operations

MOST_INSTANCES = 4096
"""The most program instances of a picture."""
MOST_ELEMENTS = 2**22
"""The most elements of a tensor in it."""


class Step(NamedTuple):
    """Elements that a program instance stores at once."""

    instance: int
    """The program id."""
    ranges: tuple[tuple[int, int], ...]
    """The first index along each axis of the output, and the one after the last."""


class Placement(NamedTuple):
    """The elements that a kernel's program instances write."""

    kernel: str
    """The function that the kernel computes."""
    labels: tuple[str, ...]
    """The labels of its axes."""
    sizes: tuple[int, ...]
    """Their sizes."""
    steps: list[Step]
    """The stored regions, in program order."""


class _Recorder(Observer):
    """Takes note of stores."""

    def __init__(self) -> None:
        self.instance = 0
        self.steps: dict[str, list[Step]] = {}

    def starts(self, kernel: GridKernelOp, instance: int, instances: int) -> None:
        self.instance = instance

    def access(
        self, op: Operation, buffer: Buffer, places: Sequence[Array], mask: Array
    ) -> None:
        if not isinstance(op, tile.StoreOp):
            return
        shape = np.broadcast_shapes(np.shape(mask), *(np.shape(place) for place in places))
        kept = np.broadcast_to(mask, shape)
        if not np.any(kept):
            return
        ranges: list[tuple[int, int]] = []
        for place in places:
            found = np.broadcast_to(place, shape)[kept]
            ranges.append((int(found.min()), int(found.max()) + 1))
        self.steps.setdefault(buffer.name, []).append(Step(self.instance, tuple(ranges)))


def _without_values(module: ModuleOp) -> ModuleOp:
    """A module whose stores store constants, and which computes no more than their places."""
    bare = module.clone()
    for kernel in kernels_of(bare):
        for op in operations(kernel):
            if isinstance(op, tile.StoreOp):
                element = element_of(op.value.type)
                constant = arith.ConstantOp(identity(ReductionKind.ADD, element))
                new: Any = constant
                parent = op.parent
                assert parent is not None
                parent.insert_op_before(constant, op)
                if op.value.type != element:
                    new = tile.FillOp(constant.result, op.value.type)
                    parent.insert_op_before(new, op)
                op.operands[0] = new.results[0]
    run_pipeline(bare, ["dce"])
    return bare


def default_sizes(module: ModuleOp) -> dict[str, int]:
    """Sizes that show ten blocks along each label, the last of them ragged."""
    wanted: dict[str, int] = {}
    for kernel in kernels_of(module):
        for label, block in kernel.grid:
            wanted.setdefault(label, max(1, math.ceil(9.5 * block)))
    interface = Interface.of(module)
    given: dict[str, int] = {}
    for group in interface.groups:
        # Of labels of one size the first counts.
        blocked = [label for label in group if label in wanted]
        given.update((label, wanted[label]) for label in blocked[:1])
    return interface.sizes(given)


def placements(module: ModuleOp, given: Mapping[str, int]) -> list[Placement]:
    """Returns the elements that the program instances of each kernel write.

    Args:
        module: a module of the `tile` level.
        given: sizes of labels; without any, such that a few blocks are seen.

    Raises:
        CompileError: if there would be too much to see.
    """
    interface = Interface.of(module)
    sizes = {**default_sizes(module), **(interface.sizes(given) if given else {})}
    for kernel in kernels_of(module):
        instances = math.prod(-(-sizes[label] // block) for label, block in kernel.grid)
        if instances > MOST_INSTANCES:
            raise CompileError(
                f"the kernel of '{kernel.root.data}' has {instances} program instances at these "
                f"sizes, more than {MOST_INSTANCES}", None, "draw it at smaller sizes",
            )  # fmt: skip
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    inputs: dict[str, Any] = {}
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        if math.prod(shape) > MOST_ELEMENTS:
            raise CompileError(
                f"'{item.name}' has {math.prod(shape)} elements at these sizes", None,
                "draw it at smaller sizes",
            )
        inputs[item.name] = arithmetic.from_array(np.zeros(shape), item.element)
    recorder = _Recorder()
    tiles = TileFunctions(arithmetic, sizes, recorder)
    run_module(_without_values(module), inputs, sizes, arithmetic, tiles)
    found: list[Placement] = []
    for kernel in kernels_of(module):
        root = kernel.root.data
        labels = kernel.axes_of(kernel.args[kernel.argument_names.index(root)])
        shape = tuple(sizes[label] for label in labels)
        found.append(Placement(root, labels, shape, recorder.steps.get(root, [])))
    return found
