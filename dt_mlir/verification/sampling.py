"""A part of a program's outputs that can be computed from a part of its inputs.

Where a label only says which element is meant (it indexes outputs and inputs, and is neither
reduced over nor used as a size), some of its indices can be computed by themselves: a few rows and
columns of a matrix product cost little, however large it is. Its value and conditions on it are
those of the index.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineDimExpr

from dt_mlir.analysis.interface import Input, Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.interpreters.bounded import Array
from dt_mlir.traversal import operations

MOST_POINTS = 2**31
"""The points of a sample beyond which nothing is computed."""


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
    module: ModuleOp, sizes: Mapping[str, int], most: int = 2**22, seed: int = 0
) -> Sample:
    """Chooses indices, so that there is not too much to compute.

    Args:
        module: a program at the `dt` level.
        sizes: a size for each label.
        most: about how many points of all labels' index space may be computed.
        seed: the seed of the choice; the first and the last index are always there.

    Raises:
        CompileError: if even a sample is more than can be computed.
    """
    interface = Interface.of(module)
    free = _free_groups(module, interface)
    used = [group for group in interface.groups if interface.used & set(group)]
    # Each label of a group is walked by itself.
    ranks = {group[0]: len(interface.used & set(group)) for group in used}
    fixed = 1.0
    for group in used:
        if group not in free:
            fixed *= max(1, sizes[group[0]]) ** ranks[group[0]]
    counts = {group[0]: sizes[group[0]] for group in free}
    while counts and fixed * math.prod(float(n) ** ranks[x] for x, n in counts.items()) > most:
        largest = max(counts, key=lambda label: counts[label])
        if counts[largest] <= 4:
            break
        counts[largest] = max(4, counts[largest] // 2)
    points = fixed * math.prod(float(n) ** ranks[x] for x, n in counts.items())
    if points > MOST_POINTS:
        raise CompileError(
            f"checking a result needs {points:.0e} points, of which no part can be chosen", module,
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


def _free_groups(module: ModuleOp, interface: Interface) -> list[list[str]]:
    """The groups of labels that only say which element is meant."""
    bound: set[str] = set()
    numbered: set[tuple[str, int]] = set()
    axes: dict[str, list[str | int]] = {i.name: i.axes or [] for i in interface.inputs}
    for op in operations(module):
        match op:
            case dt.FuncOp():
                axes[op.sym_name.data] = list(op.label_names)
            case dt.ReduceOp():
                bound.update((*op.label_names, *op.size_labels))
            case dt.SizeOp() | dt.ClampOp():
                bound.add(op.label.data)
            case dt.ReadOp():
                bound.update(op.size_labels)
                for axis, expr in enumerate(op.indices):
                    alone = isinstance(expr, AffineDimExpr) and expr.position < len(op.labels)
                    if alone and not op.is_guarded:
                        continue
                    numbered.add((op.source_name, axis))
                    bound.update(
                        op.used_labels[i] for i in expr.used_dims() if i < len(op.labels)
                    )
            case _:
                pass
    for name, axis in numbered:
        # What is not needed has no axes.
        label = axes[name][axis] if axis < len(axes[name]) else None
        if isinstance(label, str):
            bound.add(label)
    for item in interface.definitions:
        bound.update((item.label, *item.sizes))
    outer = {label for names in axes.values() for label in names if isinstance(label, str)}
    return [
        group
        for group in interface.groups
        if interface.used & set(group) and set(group) & outer and not bound & set(group)
    ]
