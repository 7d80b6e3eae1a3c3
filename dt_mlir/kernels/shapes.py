"""Checks of tensors against a program: their axes, sizes, types and devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from dt_mlir.analysis.interface import Input, Interface
from dt_mlir.runtime.execute import torch_dtype


def in_order(interface: Interface) -> list[Input]:
    """The inputs in the order in which kernels take them: tensors, then numbers."""
    return sorted(interface.inputs, key=lambda item: item.axes is None)


def sizes_of(
    function: str, interface: Interface, values: Sequence[Any], labels: Mapping[str, Any]
) -> dict[str, Any]:
    """The sizes of labels, from tensors that need have no elements.

    Args:
        function: what to call the kernel in messages.
        interface: what the program takes.
        values: the inputs in order, as far as there are any.
        labels: sizes that no tensor has.

    Raises:
        TypeError: for what is not a tensor.
        ValueError: where a tensor has other axes, or two disagree about a size.
    """
    sizes = dict(labels)
    known: dict[str, tuple[str, int]] = {}
    for item, tensor in zip(in_order(interface), values):
        if item.axes is None:
            continue
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(
                f"{function}: '{item.name}' must be a tensor, not {type(tensor).__name__}"
            )
        if tensor.dim() != len(item.axes):
            shown = ", ".join(map(str, item.axes))
            raise ValueError(
                f"{function}: '{item.name}[{shown}]' has {len(item.axes)} axes, but the tensor "
                f"given has {tensor.dim()}"
            )
        for axis, (label, size) in enumerate(zip(item.axes, tensor.shape)):
            if not isinstance(label, str):
                continue
            if label not in known:
                known[label] = item.name, axis
                sizes.setdefault(label, size)
            if sizes[label] != size:
                other, place = known[label]
                if label in labels:
                    raise ValueError(
                        f"{function}: axis {axis} of '{item.name}' has size {size}, but '{label}' "
                        f"is given as {sizes[label]}"
                    )
                raise ValueError(
                    f"{function}: axis {axis} of '{item.name}' has size {size}, but axis {place} "
                    f"of '{other}' has {sizes[label]}: both are '{label}'"
                )
    for group in interface.groups:
        found = [sizes[label] for label in group if label in sizes]
        for label in group if found else ():
            sizes.setdefault(label, found[0])
    members = {label: group for group in interface.groups for label in group}
    for item in interface.definitions:
        try:
            value = item.value(sizes)
        except ZeroDivisionError:
            raise ValueError(
                f"{function}: the size of '{item.label}' divides by a size that is 0"
            ) from None
        for label in members[item.label]:
            sizes.setdefault(label, value)
    return sizes


def check_types(
    function: str, interface: Interface, values: Sequence[Any], open_inputs: Sequence[str]
) -> None:
    """Refuses tensors of other element types, or on different devices.

    Raises:
        TypeError: for another element type than the program declares.
        ValueError: for tensors on two devices.
    """
    first: tuple[str, Any] | None = None
    for item, tensor in zip(in_order(interface), values):
        if item.axes is None:
            continue
        wanted = torch_dtype(item.element)
        if item.name not in open_inputs and tensor.dtype != wanted:
            raise TypeError(
                f"{function}: '{item.name}' must have elements of {wanted}, not {tensor.dtype}"
            )
        if first is None:
            first = item.name, tensor.device
        elif tensor.device != first[1]:
            raise ValueError(
                f"{function}: '{item.name}' is on {tensor.device}, but '{first[0]}' is on "
                f"{first[1]}"
            )
