"""Sizes of labels that the host part states: classes of equal sizes, and fixed sizes."""

from __future__ import annotations

from xdsl.ir import Operation

from dt_mlir.dialects import host, loop


def label_classes(module: Operation) -> dict[str, str]:
    """Returns for each label the first of those that have its size, from the host part."""
    function = host.function_of(module)
    return {} if function is None else function.first_of_same()


def same_in(kernel: loop.KernelOp, same: dict[str, str]) -> dict[str, str]:
    """Returns for each label of a kernel the first of the kernel's labels that have its size."""
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for label in kernel.labels:
        found[label.data] = first.setdefault(same.get(label.data, label.data), label.data)
    return found


def fixed_sizes(module: Operation) -> dict[str, int]:
    """The sizes of labels that a program is compiled for, from the host part."""
    function = host.function_of(module)
    return {} if function is None else function.fixed_sizes()
