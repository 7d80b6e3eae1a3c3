"""Error bounds of the target's elementary functions.

The bounds hold for f32 and f64, in units of the last place of the result, on every target and on
Triton's interpreter; `benchmarks/accuracy.py` measures how far they are used up.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ModuleOp

from dt_mlir.dialects import dt, loop, sched
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.interpreters.bounded import float_format
from dt_mlir.traversal import operations, operations_of

Array = Any
"""A NumPy array; its element type is not known to the type checker."""

Ulps = float | Callable[..., Array]
"""A bound in units of the last place, or a function of the operands that gives it."""


def _grows(base: float, slope: float = 1.0) -> Callable[..., Array]:
    """A bound that grows with the size of the (first) operand, as an exponential's does."""
    return lambda x, *_: base + slope * np.minimum(np.abs(np.nan_to_num(x)), 2048.0)


def _logarithm(x: Array) -> Array:
    """The hardware's logarithm has an absolute error near 1, where the result is near 0."""
    with np.errstate(all="ignore"):
        result = np.abs(np.log2(np.abs(x)))
    return 4.0 + np.where(result > 0, np.minimum(2.0 / np.maximum(result, 2.0**-26), 2.0**26), 0.0)


def _half_normal(x: Array) -> Array:
    """x (1 + erf) / 2 cancels where erf nears -1; its error there is one of x."""
    from math import erfc

    tail = np.vectorize(lambda v: 0.5 * erfc(v * 0.5**0.5), otypes=[np.float64])(-np.nan_to_num(x))
    return 4.0 + np.minimum(4.0 / np.maximum(tail, 2.0**-60), 2.0**60)


def _underflows(base: float, slope: float) -> Callable[..., Array]:
    """A bound of x times the sigmoid of x, which is 0 where exp(-x) is infinite in f32 or f64."""
    grows = _grows(base, slope)

    def bound(x: Array) -> Array:
        known = np.nan_to_num(x)
        return grows(x) + np.where(known < -700.0, 2.0**60, np.where(known < -86.0, 2.0**26, 0.0))

    return bound


def _power(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        exponent = np.abs(np.nan_to_num(y * np.log2(np.abs(x)), posinf=0.0, neginf=0.0))
    steps = np.abs(np.nan_to_num(y, posinf=0.0, neginf=0.0))
    return 8.0 + 2.0 * np.minimum(exponent, 2048.0) + np.where(steps <= 16, steps, 0.0)


FAST: dict[str, Ulps] = {
    "arith.divf": 2.5, "math.sqrt": 1.5, "math.rsqrt": 2.5, "math.fma": 1.0,
    "math.exp": _grows(4.0, 1.5), "math.exp2": _grows(4.0), "math.log": _logarithm,
    "math.log2": _logarithm, "math.log10": _logarithm, "math.sin": 4.0, "math.cos": 4.0,
    "math.tan": 12.0, "math.erf": 16.0, "math.tanh": 16.0, "math.expm1": _grows(24.0, 1.5),
    "math.log1p": 16.0, "math.powf": _power, "sigmoid": _grows(8.0, 1.5),
    "silu": _underflows(10.0, 1.5), "gelu": _half_normal, "softplus": _grows(24.0, 1.5),
}  # fmt: skip
"""Bounds of fast kernels. Functions without an entry are rounded correctly."""

ACCURATE: dict[str, Ulps] = {
    "math.exp": 2.5, "math.exp2": 2.5, "math.log": 2.0, "math.log2": 2.0, "math.log10": 3.0,
    "math.rsqrt": 2.0, "math.sin": 2.0, "math.cos": 2.0, "math.tan": 4.0, "math.erf": 2.0,
    "math.tanh": 2.0, "math.expm1": 2.0, "math.log1p": 2.0, "math.powf": 16.0,
    "math.fma": 1.0, "sigmoid": 4.0, "silu": _underflows(5.0, 0.0),
    "gelu": _half_normal, "softplus": 4.0,
}  # fmt: skip
"""Bounds of accurate kernels."""


_PRODUCTS = {"tf32": 2.0**13, "tf32x3": 2.0**4}


def _narrow_error(module: ModuleOp) -> float:
    """Returns the error of an operand that is rounded to the narrower type of any product."""
    error = 0.0
    for op in operations_of(module, dt.ReduceOp):
        end = op.body.block.last_op
        assert end is not None
        for value in end.operands if op.kind.data is ReductionKind.DOT else ():
            if isinstance(value.owner, arith.ExtFOp):
                error = max(error, 2.0 ** (24 - float_format(value.owner.input.type).digits))
    return error


def _has_products_of_bytes(module: ModuleOp) -> bool:
    """Returns whether an algorithm multiplies floats of 8 bits and adds up the products."""
    for op in operations_of(module, dt.ReduceOp):
        end = op.body.block.last_op
        assert end is not None
        for value in end.operands if op.kind.data is ReductionKind.DOT else ():
            given = value.owner.input if isinstance(value.owner, arith.ExtFOp) else value
            if isinstance(given.type, AnyFloat) and given.type.bitwidth == 8:
                return True
    return False


def _running_error(module: ModuleOp) -> float:
    """Returns the error of a factor that a running value scales before it is rounded.

    A loop of other steps scales it otherwise, so that both roundings count.
    """
    error = 0.0
    for op in operations_of(module, loop.RunningOp):
        for value in op.terms if op.is_dot else ():
            if isinstance(value.owner, arith.TruncFOp):
                error = max(error, 2.0 ** (25 - float_format(value.type).digits))
    return error


@dataclass(frozen=True)
class Accuracy:
    """The accuracy that a program's kernels compute with.

    Args:
        accurate: whether all of them have `math(accurate)`.
        product: the relative error of a product of f32 operands, in units of 2^-24.
        cut: whether products of floats of 8 bits are cut off where they are added up. Tensor
            cores of Hopper GPUs keep 13 bits behind the leading one of the largest of a group of
            32 and of what is summed so far (DeepSeek-V3 Technical Report, 2024, section 3.3.2).
    """

    accurate: bool = False
    product: float = 0.0
    cut: bool = False

    @staticmethod
    def of(module: ModuleOp, on_gpu: bool = False) -> Accuracy:
        """Returns the coarsest accuracy that the schedule beside an algorithm asks for.

        Args:
            module: the algorithm, its schedule beside it, or its kernels.
            on_gpu: whether tensor cores compute it.
        """
        accurate: set[str] = set()
        fused: set[str] = set()
        product = _running_error(module)
        kernels = [op for op in module.ops if isinstance(op, KernelOp)]
        for kernel in kernels:
            if kernel.precision is not None:
                product = max(product, _PRODUCTS.get(kernel.precision.data, 0.0))
        for op in operations(module):
            if not isinstance(op, sched.DirectiveOp):
                continue
            words = [str(argument.value) for argument in op.argument_list]
            if op.directive_name == "math" and words == ["accurate"]:
                accurate.add(op.function_name)
            elif op.directive_name == "precision":
                narrow = _narrow_error(module) if words == ["narrow"] else 0.0
                product = max(product, _PRODUCTS.get(words[0], narrow))
            elif op.directive_name == "fuse_at":
                fused.add(op.function_name)
        functions = {op.sym_name.data for op in module.ops if isinstance(op, dt.FuncOp)}
        if not functions:
            everywhere = all(kernel.is_accurate for kernel in kernels)
            return Accuracy(bool(kernels) and everywhere, product)
        cut = on_gpu and _has_products_of_bytes(module)
        return Accuracy(functions <= accurate | fused, product, cut)

    def ulps(self, name: str, operands: list[Array]) -> Array | float:
        """Returns a bound on the error of a function's result, given exact operands."""
        found = (ACCURATE if self.accurate else FAST).get(name, 0.5)
        return found(*operands) if callable(found) else found
