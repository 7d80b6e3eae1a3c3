"""Launches that were made before are made again, without the work that led to them.

A generated wrapper checks its tensors, works out sizes, strides and the grid, and leaves it to
Triton to find the compiled kernel. All of that follows from the tensors' types, shapes, strides,
devices and alignment, from whole numbers' values, and from whether other numbers are positive and
of moderate size. Where those are what they were in a call before, the compiled kernels can be
launched at once.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch.nn import Parameter

from dt_mlir.element_types import is_moderate
from dt_mlir.runtime.machine_code import fault

# PyTorch has no public name for the device without a check of whether there is one.
_TORCH: Any = vars(torch)["_C"]

TensorGuards: Any
try:
    # What torch.compile looks at tensors with: in one call, all that `key_of` reads one by one.
    from torch._C._dynamo.guards import TensorGuards
except ImportError:
    TensorGuards = None

MOST_PLANS = 4096
"""The number of plans that a kernel keeps; when there are more, it begins anew."""

MISSED: Any = object()
"""The result of a plan for a call that it is not for."""


_INTERPRETER = threading.RLock()


def alone() -> AbstractContextManager[Any]:
    """One thread at a time, where Triton interprets kernels: it changes its own modules then."""
    return _INTERPRETER if os.environ.get("TRITON_INTERPRET") == "1" else nullcontext()


def key_of(
    inputs: Sequence[Any], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], list[int]] | None:
    """Returns the key that a call's launches follow from, and the addresses of its tensors.

    Args:
        inputs: tensors and numbers.
        options: sizes of labels, and `out`.

    Returns:
        A key, and the addresses of the inputs' first elements, then of those of `out`. None for a
        call that must be looked at: what it is given is out of the ordinary.
    """
    parts: list[Any] = []
    pointers: list[int] = []
    if options:
        out = options.get("out")
        outs = out if type(out) is tuple else () if out is None else (out,)
        for name, value in options.items():
            if name != "out":
                if type(value) is not int:
                    return None
                parts.append((name, value))
        if out is not None:
            parts.append((type(out), len(outs)))
        inputs = (*inputs, *outs)
    try:
        for value in inputs:
            kind = type(value)
            if kind is torch.Tensor or kind is Parameter:
                pointer = value.data_ptr()
                pointers.append(pointer)
                parts += (
                    value.dtype, value.shape, value.stride(), value.device,
                    # Triton compiles another kernel for what is aligned to 16 bytes.
                    pointer & 15 if pointer else None,
                    value.requires_grad, value.is_neg(),
                )  # fmt: skip
            elif kind is float:
                parts += (float, is_moderate(value))
            elif kind is int or kind is bool:
                parts += (kind, value)
            else:
                return None
    except RuntimeError:
        # It has no strides, or no memory: sparse tensors, and those of torch.func.
        return None
    if not pointers:
        # Results go to the current device.
        parts.append(torch.cuda.current_device() if torch.cuda.is_available() else None)
    return tuple(parts), pointers


def _known(value: float) -> float:
    """Returns what a launch follows from: a whole number's value, and of a float what a generated
    wrapper tells its kernels."""
    return is_moderate(value) if type(value) is float else value


class _Allocation(NamedTuple):
    """A tensor that a call makes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    device: Any

    @staticmethod
    def of(tensor: Any) -> _Allocation:
        return _Allocation(tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device)

    def make(self) -> Any:
        return torch.empty_strided(
            self.shape, self.strides, dtype=self.dtype, device=self.device
        )


class _Launch(NamedTuple):
    """A kernel's launch, without its tensors and floating-point numbers."""

    run: Callable[..., Any]
    arguments: list[Any]
    holes: list[tuple[int, int]]
    """Places among the arguments, and which of a call's values goes there."""
    described: list[tuple[int, int, Any]]
    """Places of tensors' descriptors, which value each is of, and one of another tensor."""


class _Guards:
    """True if calls have the key of another, found faster than by making theirs.

    Args:
        inputs: the other call's tensors, then its numbers.
        outs: tensors that it was given for its results.
        single: whether `out` is a tensor, not a tuple.
    """

    def __init__(self, inputs: Sequence[Any], outs: Sequence[Any], single: bool) -> None:
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        self._check = TensorGuards(
            *tensors, *outs, dynamic_dims_sizes=None, dynamic_dims_strides=None
        ).check
        self._length = len(inputs)
        self._tensors = len(tensors)
        self._numbers = [
            (place, type(value), _known(value))
            for place, value in enumerate(inputs) if place >= self._tensors
        ]  # fmt: skip
        self._outs = len(outs)
        self._options = 1 if outs else 0
        self._single = single

    @staticmethod
    def of(inputs: Sequence[Any], outs: Sequence[Any], single: bool) -> _Guards | None:
        """Guards; None where they cannot stand for the call's key: where a tensor has no elements
        or is not aligned to 16 bytes, and unless tensors come before numbers."""
        kinds = [isinstance(value, torch.Tensor) for value in inputs]
        pointers = [v.data_ptr() for v in (*inputs, *outs) if isinstance(v, torch.Tensor)]
        if TensorGuards is None or not pointers or kinds != sorted(kinds, reverse=True):
            return None
        if not all(pointer and pointer % 16 == 0 for pointer in pointers):
            return None
        try:
            return _Guards(inputs, outs, single)
        except (TypeError, AttributeError):
            # Another version of PyTorch may make them otherwise.
            return None

    def pointers_of(
        self, inputs: tuple[Any, ...], options: Mapping[str, Any]
    ) -> list[int] | None:
        """The addresses of a call's tensors if it is like the other; None if it may not be."""
        if len(inputs) != self._length or len(options) != self._options:
            return None
        tensors: tuple[Any, ...] = inputs
        if self._numbers:
            tensors = inputs[: self._tensors]
            for place, kind, known in self._numbers:
                value = inputs[place]
                if type(value) is not kind or _known(value) != known:
                    return None
        if options:
            out = options.get("out")
            if self._single:
                tensors = (*tensors, out)
            elif type(out) is tuple and len(out) == self._outs:
                tensors = tensors + out
            else:
                return None
        if not self._check(*tensors):
            return None
        pointers: list[int] = []
        for tensor in tensors:
            pointer = tensor.data_ptr()
            if pointer & 15 or not pointer:
                return None
            pointers.append(pointer)
        return pointers


class Plan:
    """The launches of a call, to be made for other tensors.

    A call's values are its inputs, then its results, then what is made for its own use.

    Args:
        inputs: how many inputs there are.
        results: its results.
        given: whether the results' tensors are given to it.
        single: whether it gives a tensor, not a tuple.
        own: tensors for its own use.
        launches: the launches.
        guards: what knows other calls with the same key, if something does.
    """

    def __init__(
        self, inputs: Sequence[Any], results: tuple[Any, ...], given: bool, single: bool,
        own: Sequence[Any], launches: list[_Launch], guards: _Guards | None,
    ) -> None:  # fmt: skip
        self.differentiable = any(
            isinstance(value, torch.Tensor) and value.requires_grad for value in (*inputs, *results)
        )
        self._results = len(results)
        self._single = single
        self._made = [_Allocation.of(tensor) for tensor in (*(() if given else results), *own)]
        self._launches = launches
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        self._read = len(tensors)
        self._spans = [_span(tensor) for tensor in (*tensors, *results)]
        self._guards = guards
        device = results[0].device
        self._device: int | None = device.index if device.type == "cuda" else None
        self._stream: Callable[[int], int] = _no_stream
        if self._device is not None:
            from triton.runtime import driver

            active: Any = driver.active
            self._stream = active.get_current_stream

    def pointers_of(
        self, inputs: tuple[Any, ...], options: Mapping[str, Any]
    ) -> list[int] | None:
        """The addresses of a call's tensors, if it is surely like the one that guards know; None
        for one whose key must be looked at.
        """
        guards = self._guards
        return None if guards is None else guards.pointers_of(inputs, options)

    def guard(self, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Know calls like this one from now on. The key of the plan must be its key."""
        out = options.get("out")
        outs = () if out is None else (out,) if self._single else out
        if len(options) == (1 if outs else 0):
            self._guards = _Guards.of(inputs, outs, self._single)

    def __call__(self, inputs: tuple[Any, ...], pointers: list[int], out: Any = None) -> Any:
        """Makes the launches, on the current stream of the tensors' device.

        Args:
            inputs: tensors and numbers.
            pointers: where the tensors are, as `key_of` gives them.
            out: tensors for the results.

        Returns:
            The results, or `MISSED` where `out` may lie in the inputs' memory.
        """
        count = len(inputs)
        values = list(inputs)
        if out is not None:
            outs = (out,) if self._single else out
            if self._touches(pointers):
                return MISSED
            values += outs
            # Autograd may have saved what was in them.
            torch.autograd.graph.increment_version(outs)
        for made in self._made:
            values.append(made.make())
        device = self._device
        if device is None:
            with alone():
                self._launch(None, values)
        # Without torch.cuda's own check of each call whether there is a device at all.
        elif device == _TORCH._cuda_getDevice():
            self._launch(self._stream(device), values)
        else:
            with torch.cuda.device(device):
                self._launch(self._stream(device), values)
        return values[count] if self._single else tuple(values[count : count + self._results])

    def _launch(self, stream: int | None, values: list[Any]) -> None:
        for launch in self._launches:
            filled = launch.arguments.copy()
            for place, value in launch.holes:
                filled[place] = values[value]
            for place, value, descriptor in launch.described:
                filled[place] = _described(descriptor, values[value])
            launch.run(*filled, stream=stream)

    def _touches(self, pointers: list[int]) -> bool:
        """Returns whether a result's memory range overlaps another tensor's."""
        spans = self._spans
        for place in range(self._read, len(pointers)):
            start, end = pointers[place], pointers[place] + spans[place]
            for other in range(place):
                if start < pointers[other] + spans[other] and pointers[other] < end:
                    return True
        return False


def record(
    wrapper: FunctionType, inputs: tuple[Any, ...], options: Mapping[str, Any],
    inspects: bool = True,
) -> tuple[Any, Plan | None]:  # fmt: skip
    """Calls a generated wrapper, and notes its launches.

    Args:
        wrapper: the wrapper.
        inputs: tensors and numbers, for which `key_of` gives a key.
        options: sizes of labels, and `out`.
        inspects: whether kernels whose machine code has a fault are refused.

    Returns:
        Its results, and a plan that makes its launches again; None if some argument of a launch
        cannot be told.
    """
    noted: list[tuple[Any, Mapping[str, Any]]] = []
    names: dict[str, Any] = dict(wrapper.__globals__)
    for name in wrapper.__code__.co_names:
        # What is neither is not launched; helpers that kernels call are not the wrapper's.
        if hasattr(names.get(name), "fn") and hasattr(names[name], "__getitem__"):
            names[name] = _Noted(names[name], noted, inspects)
    noting = FunctionType(wrapper.__code__, names, wrapper.__name__, wrapper.__defaults__)
    noting.__kwdefaults__ = wrapper.__kwdefaults__
    # Objects of their own, so that one which is given twice is told apart.
    own_inputs = tuple([_copied(value) for value in inputs])
    with alone():
        found = noting(*own_inputs, **options)
    single = not isinstance(found, tuple)
    results = (found,) if single else found
    own: list[Any] = []
    launches: list[_Launch] = []
    for run, arguments in noted:
        holes: list[tuple[int, int]] = []
        described: list[tuple[int, int, Any]] = []
        kept: list[Any] = []
        for place, value in enumerate(arguments.values()):
            descriptor = value if _is_descriptor(value) else None
            value = value if descriptor is None else descriptor.base
            if isinstance(value, torch.Tensor | float):
                known = [*own_inputs, *results, *own]
                source = next((i for i, other in enumerate(known) if other is value), None)
                if source is None:
                    # What is computed from a call's own is no allocation of the next one's.
                    if isinstance(value, float) or any(_share(value, other) for other in known):
                        return found, None
                    own.append(value)
                    source = len(known)
                if descriptor is None:
                    holes.append((place, source))
                else:
                    described.append((place, source, _described(descriptor, None)))
                value = None
            kept.append(value)
        launches.append(_Launch(run, kept, holes, described))
    given = options.get("out") is not None
    labelled = len(options) > int(given)
    guards = None if labelled else _Guards.of(inputs, results if given else (), single)
    return found, Plan(inputs, results, given, single, own, launches, guards)


def _is_descriptor(value: Any) -> bool:
    """Returns whether an argument describes a tensor to the copy engine."""
    return hasattr(value, "block_shape") and hasattr(value, "base")


def _described(descriptor: Any, tensor: Any) -> Any:
    """Returns a descriptor of another tensor of the same type, shape and strides."""
    found = object.__new__(type(descriptor))
    found.__dict__.update(descriptor.__dict__)
    found.base = tensor
    return found


def _share(tensor: Any, other: Any) -> bool:
    """Returns whether a tensor is in the storage of another value."""
    if not isinstance(other, torch.Tensor) or not tensor.numel():
        return False
    return tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    return value * 1.0 if isinstance(value, float) else value


class _Noted:
    """A kernel whose launches are noted."""

    def __init__(
        self, kernel: Any, noted: list[tuple[Any, Mapping[str, Any]]], inspects: bool
    ) -> None:
        self.kernel, self.noted, self.inspects = kernel, noted, inspects

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(*arguments: Any, **options: Any) -> None:
            from triton.runtime.jit import JITFunction

            if self.inspects and isinstance(self.kernel, JITFunction):
                _check(self.kernel.warmup(*arguments, grid=grid, **options))
            compiled = self.kernel[grid](*arguments, **options)
            signature = inspect.signature(self.kernel.fn)
            named = {k: v for k, v in options.items() if k in signature.parameters}
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()
            runs = compiled if compiled is not None else _Interpreted(self.kernel)
            self.noted.append((runs[(*grid, 1, 1)[:3]], bound.arguments))

        return launch


_sound: set[str] = set()
"""The compiled kernels whose machine code has been looked at."""


def _check(compiled: Any) -> None:
    """Refuses to run a kernel whose machine code has a fault of the assembler's."""
    cubin = compiled.asm.get("cubin")
    if cubin is None or compiled.hash in _sound:
        return
    wrong = fault(cubin)
    if wrong is not None:
        raise RuntimeError(f"{compiled.metadata.name} cannot run: {wrong}")
    _sound.add(compiled.hash)


class _Interpreted:
    """A kernel that Triton's interpreter runs, launched as a compiled one is."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        def run(*arguments: Any, stream: None = None) -> None:
            self.kernel[grid](*arguments)

        return run


def _no_stream(device: int) -> int:
    raise AssertionError(f"device {device} has no streams")


def _span(value: Any) -> int:
    """The bytes from a tensor's first element to its last one's end."""
    if value.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
    return (last + 1) * value.element_size()
