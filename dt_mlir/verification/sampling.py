"""A part of a program's outputs that can be computed from a part of its inputs.

Where a label only says which element is meant (it indexes outputs and inputs, and is neither
reduced over nor used as a size), some of its indices can be computed by themselves: a few rows and
columns of a matrix product cost little, however large it is. Its value and conditions on it are
those of the index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.analysis.equivalence import classes_of
from dt_mlir.analysis.interface import Input, Interface, output_names
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.interpreters.bounded import Array
from dt_mlir.traversal import operations, operations_of

MOST_POINTS = 2**31
"""The points of a sample beyond which nothing is computed."""
MANY = 2**25
"""The points of a sample beyond which the first and the last index of a label are enough."""


@dataclass(frozen=True)
class Sample:
    """Some indices of each label."""

    sizes: dict[str, int]
    """The number of indices of each label."""
    indices: dict[str, Array]
    """The indices of each label that is sampled, ascending."""

    def places(self, axes: list[str | int]) -> list[tuple[int, Array]]:
        """The axes of a tensor that are sampled, each with the indices to take."""
        return [
            (number, self.indices[axis])
            for number, axis in enumerate(axes)
            if isinstance(axis, str) and axis in self.indices
        ]

    def input_places(self, item: Input) -> list[tuple[int, Array]]:
        """The axes of an input that are sampled."""
        return self.places(item.axes or [])


def sample(
    module: ModuleOp, sizes: Mapping[str, int], most: int = 2**20, seed: int = 0
) -> Sample:
    """Chooses indices, so that there is not too much to compute.

    Args:
        module: a program at the `dt` level.
        sizes: a size for each label.
        most: about how many points of the functions' index spaces may be computed.
        seed: the seed of the choice; the first and the last index are always there.

    Raises:
        CompileError: if even a sample is more than can be computed.
    """
    interface = Interface.of(module)
    free = _free_groups(module, interface)
    first = {label: group[0] for group in free for label in group}
    counts = {group[0]: sizes[group[0]] for group in free}
    functions = _needed(module)

    def points(counts: Mapping[str, int]) -> float:
        def extent(label: str) -> float:
            return counts[first[label]] if label in first else max(1, sizes[label])

        return sum(
            math.prod(map(extent, op.label_names)) * (1 + _reduced(op.body.block, extent))
            for op in functions
        )

    for least, enough in ((4, most), (2, MANY)):
        while points(counts) > enough:
            smaller = [
                {**counts, label: max(least, count // 2)}
                for label, count in counts.items() if count > least
            ]  # fmt: skip
            if not smaller:
                break
            # Of labels that save as much, the one with most indices is left with fewer.
            counts = min(smaller, key=lambda found: (points(found), max(found.values())))
    if points(counts) > MOST_POINTS:
        raise CompileError(
            f"checking a result needs {points(counts):.0e} points, of which no part can be chosen",
            module,
            "choose smaller sizes; labels that are reduced over or sizes count whole",
        )  # fmt: skip
    generator = np.random.default_rng(seed)
    found: dict[str, int] = dict(sizes)
    indices: dict[str, Array] = {}
    for group in free:
        size, count = sizes[group[0]], counts[group[0]]
        if count == size:
            continue
        inner = generator.choice(np.arange(1, size - 1), count - 2, replace=False)
        chosen = np.sort(np.concatenate([[0, size - 1], inner]))
        for label in group:
            found[label] = count
            indices[label] = chosen
    return Sample(found, indices)


def _needed(module: ModuleOp) -> list[dt.FuncOp]:
    """The functions that the outputs read, themselves among them."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
    found: dict[str, None] = {}
    pending = list(output_names(module))
    while pending:
        name = pending.pop()
        if name in functions and name not in found:
            found[name] = None
            pending += [read.source_name for read in operations_of(functions[name], dt.ReadOp)]
    return [functions[name] for name in found]


def _reduced(block: Block, extent: Callable[[str], float]) -> float:
    """The points over which the reductions of a block go, one beside the other."""
    return sum(
        math.prod(map(extent, op.label_names)) * (1 + _reduced(op.body.block, extent))
        for op in block.ops if isinstance(op, dt.ReduceOp)
    )


def _free_groups(module: ModuleOp, interface: Interface) -> list[list[str]]:
    """The labels that only say which element is meant; those of one group mean the same one."""
    bound: set[str] = set()
    axes: dict[str, list[str | int]] = {i.name: i.axes or [] for i in interface.inputs}
    reads: list[dt.ReadOp] = []
    functions = _needed(module)
    axes.update({op.sym_name.data: list(op.label_names) for op in functions})
    for op in (inner for function in functions for inner in operations(function)):
        match op:
            case dt.ReduceOp():
                bound.update((*op.label_names, *op.size_labels))
            case dt.SizeOp() | dt.ClampOp():
                bound.add(op.label.data)
            case dt.ReadOp():
                bound.update(op.size_labels)
                reads.append(op)
            case _:
                pass
    groups: DisjointSet[str] = DisjointSet(interface.labels)
    for op in reads:
        for axis in range(len(op.indices)):
            # What is not needed has no axes.
            names = axes[op.source_name]
            name = names[axis] if axis < len(names) else None
            if not isinstance(name, str):
                continue
            label = op.label_alone(axis)
            if label is not None and _same_size(interface, label, name):
                groups.union(label, name)
            else:
                # An element is found by its number: all of the axis has to be there.
                bound.add(name)
                if label is not None:
                    bound.add(label)
    outer = {label for names in axes.values() for label in names if isinstance(label, str)}
    return [
        group for group in classes_of(groups, interface.labels)
        if interface.used & set(group) and set(group) & outer and not bound & set(group)
    ]


def _same_size(interface: Interface, label: str, other: str) -> bool:
    """Returns whether two labels have one size, so that one never leaves the axis of the other."""
    return any(label in group and other in group for group in interface.groups)
