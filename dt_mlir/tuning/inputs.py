"""Inputs at full size, on the device, and the part of the results that is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp

from dt_mlir.analysis.interface import Input, Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.element_types import type_name
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.runtime.execute import compare, reference, torch_dtype
from dt_mlir.traversal import operations_of
from dt_mlir.verification.sampling import Sample, sample


@dataclass(frozen=True)
class Prepared:
    """The inputs of a program, and what it must compute of them."""

    arguments: list[Any]
    """The wrapper's positional arguments."""
    labels: dict[str, int]
    """The wrapper's keyword arguments."""
    sample: Sample
    """The indices at which results are checked."""
    reference: Callable[[Accuracy], dict[str, Bounded]]
    """The algorithm's results at those, by output, for kernels of an accuracy."""
    axes: dict[str, list[str | int]]
    """The labels of each output."""
    outputs: list[tuple[tuple[int, ...], Any]]
    """The outputs' shapes and PyTorch's element types."""
    device: str
    """PyTorch's name of the device."""
    strides: tuple[tuple[int, ...], ...] = ()
    """The strides of tensors for the results, if these are not contiguous."""

    def poisoned(self) -> Any:
        """Tensors for the results, full of what no result is: what nothing writes shows."""
        import torch

        found: list[Any] = []
        for number, (shape, dtype) in enumerate(self.outputs):
            if self.strides:
                tensor = torch.empty_strided(
                    shape, self.strides[number], dtype=dtype, device=self.device
                )
            else:
                tensor = torch.empty(shape, dtype=dtype, device=self.device)
            bytes = tensor.view(torch.uint8) if shape else tensor.reshape(1).view(torch.uint8)
            # All ones: not a number of every float type, -1 and the largest of the integers'.
            bytes.fill_(1 if dtype == torch.bool else 255)
            found.append(tensor)
        return found[0] if len(found) == 1 else tuple(found)

    def check(self, results: Any, accuracy: Accuracy) -> None:
        """Compares results with what the algorithm says.

        Args:
            results: a tensor, or one for each output.
            accuracy: how accurately the kernels compute.

        Raises:
            CompileError: at the first wrong element.
        """
        results = results if isinstance(results, tuple) else (results,)
        for (name, wanted), result in zip(self.reference(accuracy).items(), results):
            part = _taken(result, self.sample.places(self.axes[name])).cpu()
            array = part.double() if part.is_floating_point() else part
            _, wrong = compare(array.numpy(), wanted)
            if wrong is not None:
                raise CompileError(f"'{name}' is wrong: {wrong}")

    def check_roughly(self, results: Any) -> None:
        """Compares what something else computes: it may round otherwise.

        Args:
            results: its results.

        Raises:
            CompileError: if shapes differ, or values by more than a hundredth of the largest.
        """
        results = results if isinstance(results, tuple) else (results,)
        shapes = [shape for shape, _ in self.outputs]
        if [tuple(result.shape) for result in results] != shapes:
            raise CompileError("its results have other shapes than the program's")
        for (name, wanted), result in zip(self.reference(Accuracy()).items(), results):
            part = _taken(result, self.sample.places(self.axes[name])).cpu().double().numpy()
            known = np.isfinite(wanted.value)
            gap = np.abs(part - wanted.value)[known]
            scale = np.abs(wanted.value[known]).max(initial=0.0)
            if not np.all(gap <= 0.01 * scale):
                raise CompileError(
                    f"its '{name}' differs from the program's by up to {gap.max():.3g}, and the "
                    f"largest element is {scale:.3g}"
                )


def _taken(tensor: Any, places: list[tuple[int, Any]]) -> Any:
    """The elements of a tensor at some indices of some axes."""
    import torch

    for axis, indices in places:
        chosen = torch.from_numpy(np.asarray(indices)).to(tensor.device)
        tensor = tensor.index_select(axis, chosen)
    return tensor


def prepare(module: ModuleOp, sizes: Mapping[str, int], device: str, seed: int = 0) -> Prepared:
    """Makes up inputs and computes a part of what is expected of them.

    Floats are uniform in [-1, 1), integers small; those that choose a place along an axis are
    uniform over the axis, as data would spread them.

    Args:
        module: the program at the `dt` level.
        sizes: a size for each label.
        device: PyTorch's name of the device.
        seed: the seed of the inputs and of what is checked.
    """
    import torch

    interface = Interface.of(module)
    places = _chosen_places(module, sizes)
    generator = torch.Generator(device).manual_seed(seed)
    chosen = sample(module, sizes, seed=seed)
    values: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        value = _random(item, shape, generator, device, places.get(item.name))
        if item.axes is None:
            values[item.name] = parts[item.name] = value.item()
            continue
        values[item.name] = value
        parts[item.name] = _taken(value, chosen.input_places(item)).cpu()

    @cache
    def expected(accuracy: Accuracy) -> dict[str, Bounded]:
        return reference(module, parts, chosen.sizes, accuracy, chosen.indices)

    names = list(expected(Accuracy()))
    order = sorted(interface.inputs, key=lambda item: item.axes is None)
    labels = {label: sizes[label] for label in interface.free_labels()}
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
    axes: dict[str, list[str | int]] = {name: [*functions[name].label_names] for name in names}
    outputs = [
        (tuple(sizes[x] for x in function.label_names), torch_dtype(function.element))
        for function in (functions[name] for name in names)
    ]
    arguments = [values[item.name] for item in order]
    return Prepared(arguments, labels, chosen, expected, axes, outputs, device)


def _chosen_places(module: ModuleOp, sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the extents of axes along which elements of inputs choose a place, by input."""
    found: dict[str, int] = {}
    for op in operations_of(module, dt.ClampOp):
        value = op.value.owner
        # An index of 32 bits may be extended before.
        while isinstance(value, arith.ExtSIOp):
            value = value.input.owner
        # What no output reads has no sizes.
        size = sizes.get(op.label.data)
        if isinstance(value, dt.ReadOp) and size is not None:
            found[value.source_name] = min(found.get(value.source_name, size), size)
    return found


def _random(
    item: Input, shape: list[int], generator: Any, device: str, places: int | None
) -> Any:
    import torch

    element = item.element
    if isinstance(element, AnyFloat):
        wanted = torch_dtype(element)
        wide = torch.float64 if wanted == torch.float64 else torch.float32
        values = torch.rand(shape, generator=generator, dtype=wide, device=device)
        return values.mul_(2).sub_(1).to(wanted)
    assert isinstance(element, IntegerType)
    if element.width.data == 1:
        return torch.rand(shape, generator=generator, device=device) < 0.5
    least, end = (0 if type_name(element) == "u8" else -9), 10
    if places is not None:
        least, end = 0, max(min(places, 2 ** (element.width.data - 1)), 1)
    values = torch.randint(least, end, shape, generator=generator, device=device)
    return values.to(torch_dtype(element))
