"""Modes of PyTorch that watch calls, and tensors that kernels cannot read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.nn import Parameter

# PyTorch has no public names for the modes that are active.
_TORCH: Any = vars(torch)["_C"]
_FORWARD: Any = forward_ad


def are_active() -> bool:
    """Returns whether a mode watches calls: forward derivatives, tracing, fake tensors."""
    return bool(
        _FORWARD._current_level >= 0
        or _TORCH._len_torch_dispatch_stack()
        or _TORCH._get_tracing_state()
        or _TORCH._functorch.peek_interpreter_stack()
    )


def are_traced(tensors: Sequence[Any]) -> bool:
    """Returns whether PyTorch must see a call as one of an operator."""
    return are_active() or any(
        isinstance(value, torch.Tensor) and (_is_internal(value) or value.device.type == "meta")
        for value in tensors
    )


def refuse_unknown(kernel: str, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuses tensors whose elements are not where a kernel would look for them.

    Args:
        kernel: what to call the kernel.
        names: what they are called.
        values: what is to be tensors.

    Raises:
        TypeError: for what is not a tensor, and for classes and layouts of tensors that kernels do
            not take.
        ValueError: for devices that they do not run on.
        RuntimeError: for derivatives that they do not have.
    """
    if _FORWARD._current_level >= 0:
        raise RuntimeError(f"{kernel}: kernels have no forward-mode derivatives")
    if _TORCH._functorch.peek_interpreter_stack() is not None:
        raise TypeError(
            f"{kernel}: is called inside a transform of torch.func, such as vmap or grad, which "
            "kernels do not have; give the algorithm a label for the batch, and use "
            "register_autograd and torch.autograd"
        )
    for name, value in zip(names, values):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{kernel}: '{name}' must be a tensor, not {type(value).__name__}")
        if _is_internal(value):
            continue
        if type(value) is not torch.Tensor and not isinstance(value, Parameter):
            raise TypeError(
                f"{kernel}: '{name}' is a {type(value).__name__}, and kernels take plain tensors; "
                "convert it first"
            )
        if value.is_nested:
            raise TypeError(
                f"{kernel}: '{name}' is a nested tensor; call to_padded_tensor() on it"
            )
        if value.layout != torch.strided:
            layout = str(value.layout).removeprefix("torch.")
            raise TypeError(f"{kernel}: '{name}' has the layout {layout}; call to_dense() on it")
        if value._is_zerotensor():
            raise TypeError(
                f"{kernel}: '{name}' is a tensor of zeros without elements in memory; call clone() "
                "on it"
            )
        _refuse_device(kernel, name, value.device.type)


def _refuse_device(kernel: str, name: str, device: str) -> None:
    if device not in ("cuda", "cpu", "meta"):
        raise ValueError(f"{kernel}: '{name}' is on '{device}', where kernels do not run")
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        remedy = "call dt_mlir.interpret() first of all"
        if "triton" in sys.modules:
            remedy = (
                "start Python anew (in a notebook, its kernel) and call dt_mlir.interpret() before "
                "anything imports Triton, as torch.compile does"
            )
        raise ValueError(
            f"{kernel}: '{name}' is on the CPU; move it to a GPU, or to have Triton interpret "
            f"kernels, {remedy}"
        )


def _is_internal(value: Any) -> bool:
    """Returns whether a tensor is of PyTorch's own classes for tracing."""
    return type(value).__module__.startswith("torch._subclasses.")
