"""Loads an emitted module, makes up inputs, runs it and checks the result."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import AnyFloat, IntegerType, ModuleOp
from xdsl.ir import Attribute

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.element_types import TORCH_TYPES, integer_range, type_name
from dt_mlir.runtime.interpreted_types import miscomputed

if TYPE_CHECKING:
    from dt_mlir.interpreters.accuracy import Accuracy
    from dt_mlir.interpreters.bounded import Bounded


def prepare_triton() -> str:
    """Chooses the device, before Triton is imported: the GPU, or Triton's interpreter on the CPU.

    Returns:
        `cuda` or `cpu`.
    """
    try:
        import torch
    except ImportError:
        raise CompileError(
            "running needs torch and triton", None, "pip install 'dt-mlir[run]'"
        ) from None
    return "cuda" if torch.cuda.is_available() else prepare_on_cpu()


def prepare_on_cpu() -> str:
    """Chooses Triton's interpreter, before Triton is imported.

    Returns:
        `cpu`; `cuda` where it is too late, as kernels run on the GPU in this process.

    Raises:
        CompileError: where it is too late, and there is no GPU.
    """
    import torch

    if "triton" not in sys.modules:
        os.environ["TRITON_INTERPRET"] = "1"
    if os.environ.get("TRITON_INTERPRET") == "1":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    raise CompileError(
        "kernels cannot run here: Triton is imported without its interpreter, and there is no GPU",
        None, "run in a process of its own, or with TRITON_INTERPRET=1",
    )


def prepare_library(source: str) -> None:
    """Gives Triton's interpreter the device library, if it is to run a module that calls it."""
    if os.environ.get("TRITON_INTERPRET") == "1" and "libdevice" in source:
        from dt_mlir.runtime.interpreted_library import install

        install()


@contextmanager
def loaded(source: str, name: str = "dt_program") -> Generator[ModuleType]:
    """Import the text of an emitted module (Triton reads kernels' source from their file)."""
    prepare_library(source)
    with tempfile.TemporaryDirectory(prefix="dt-mlir-") as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def torch_dtype(element: Attribute) -> Any:
    """PyTorch's element type."""
    import torch

    return getattr(torch, TORCH_TYPES[type_name(element)])


def make_inputs(
    module: ModuleOp, sizes: Mapping[str, int], seed: int = 0, special: bool = False
) -> dict[str, Any]:
    """Random inputs for a program: tensors on the CPU, and numbers.

    Args:
        module: the program at the `dt` level.
        sizes: a size for each label.
        seed: the seed.
        special: whether some numbers are zeros of both signs, infinite, not a number, subnormal,
            or at the ends of their type.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    interface = Interface.of(module)
    inputs: dict[str, Any] = {}
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        try:
            value = _random(item.element, shape, generator)
        except RuntimeError:
            shown = " x ".join(map(str, shape))
            raise CompileError(
                f"there is not enough memory for '{item.name}' of {shown} elements", None,
                "choose smaller sizes",
            ) from None
        if special:
            value = _with_special(value, item.element, generator)
        inputs[item.name] = value.item() if item.axes is None else value
    return inputs


def _random(element: Attribute, shape: list[int], generator: Any) -> Any:
    import torch

    if isinstance(element, AnyFloat):
        values = torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1
        return values.to(torch_dtype(element))
    assert isinstance(element, IntegerType)
    if element.width.data == 1:
        return torch.rand(shape, generator=generator) < 0.5
    least = 0 if type_name(element) == "u8" else -9
    return torch.randint(least, 10, shape, generator=generator).to(torch_dtype(element))


def _with_special(values: Any, element: Attribute, generator: Any) -> Any:
    """Numbers of which about one in five is special to their type."""
    import torch

    if isinstance(element, AnyFloat):
        form, inf = torch.finfo(values.dtype), float("inf")
        least = form.smallest_normal
        few = [inf, -inf, float("nan"), 0.0, -0.0, form.max, form.min, least, -least / 2]
    elif isinstance(element, IntegerType) and element.width.data > 1:
        few = [0, 1, *integer_range(element)]
    else:
        return values
    choice = torch.randint(0, 5 * len(few), values.shape, generator=generator)
    known = torch.tensor(few, dtype=torch.float64 if isinstance(element, AnyFloat) else torch.int64)
    return torch.where(
        choice < len(few), known[choice.clamp(max=len(few) - 1)].to(values.dtype), values
    )


def reference(
    module: ModuleOp,
    inputs: Mapping[str, Any],
    sizes: Mapping[str, int],
    accuracy: Accuracy | None = None,
    sampled: Mapping[str, Any] | None = None,
) -> dict[str, Bounded]:
    """Returns the algorithm's results: floats in float64, with the error that is allowed.

    Args:
        module: the program at the `dt` level.
        inputs: tensors and numbers, by name.
        sizes: a size for each label.
        accuracy: what kernels may round; None for what the schedule beside the algorithm asks for.
        sampled: the indices of labels of which only some are computed; the inputs and sizes are
            those of the part.
    """
    import numpy as np
    import torch

    from dt_mlir.interpreters.accuracy import Accuracy
    from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
    from dt_mlir.interpreters.run import run_module

    arithmetic = BoundedArithmetic(accuracy or Accuracy.of(module))
    values: dict[str, Any] = {}
    for item in Interface.of(module).inputs:
        value = inputs[item.name]
        if isinstance(value, torch.Tensor):
            value = (value.double() if value.dtype.is_floating_point else value).cpu().numpy()
        values[item.name] = arithmetic.from_array(np.asarray(value), item.element)
    return run_module(module, values, sizes, arithmetic, sampled=sampled)


@dataclass(frozen=True)
class Checked:
    """The outcome of running a program and comparing it with its algorithm."""

    device: str
    """`cuda`, `cpu` (by Triton's interpreter) or `tiles` (by ours, at the `tile` level)."""
    lines: list[str]
    """A line for each output."""
    decided: float
    """The share of the outputs' elements about which the algorithm says something."""


def run_and_check(
    module: ModuleOp,
    source: str,
    given: Mapping[str, int],
    seed: int,
    layout: str = "contiguous",
    special: bool = False,
    tiles: ModuleOp | None = None,
) -> Checked:
    """Runs an emitted module on made-up inputs and compare it with the algorithm.

    Args:
        module: the program at the `dt` level, its schedule beside it.
        source: the emitted module.
        tiles: the module at the `tile` level; where there is no GPU and Triton's interpreter
            computes its types wrongly, it is run instead.
        given: sizes of labels.
        seed: the seed of the inputs.
        layout: how inputs lie in memory, see `lay_out`.
        special: whether some floats are infinite or not a number.

    Raises:
        CompileError: if a result is wrong, or the program refuses the inputs.
    """
    device = prepare_triton()
    import torch

    from dt_mlir.interpreters.accuracy import Accuracy

    if device == "cpu" and tiles is not None and miscomputed(tiles) is not None:
        return check_tiles(module, tiles, given, seed, special)
    interface = Interface.of(module)
    sizes = interface.sizes(given)
    inputs = make_inputs(module, sizes, seed, special)
    order = sorted(interface.inputs, key=lambda item: item.axes is None)
    args = [
        v.to(device) if isinstance(v := inputs[item.name], torch.Tensor) else v for item in order
    ]
    args = [lay_out(v, layout) if isinstance(v, torch.Tensor) else v for v in args]
    with loaded(source) as emitted:
        wrapper = getattr(emitted, wrapper_name(source))
        try:
            free = {label: sizes[label] for label in interface.free_labels()}
            results = wrapper(*args, **size_options(wrapper, free))
        except (ValueError, TypeError, RuntimeError) as error:
            raise CompileError(f"the program cannot run on these inputs: {error}") from error
    results = results if isinstance(results, tuple) else (results,)
    # Only now: what the wrapper refuses has no value to compare with.
    expected = reference(module, inputs, sizes, Accuracy.of(module, device == "cuda"))
    lines: list[str] = []
    total, decided = 0, 0
    for (name, want), result in zip(expected.items(), results):
        got = result.cpu().double().numpy() if result.is_floating_point() else result.cpu().numpy()
        error, wrong = compare(got, want)
        if wrong is not None:
            raise CompileError(f"'{name}' is wrong: {wrong}")
        total += want.value.size
        decided += int((want.error < float("inf")).sum())
        shape = " x ".join(map(str, want.value.shape)) or "scalar"
        lines.append(f"{name}: {shape}, largest difference {error:.3g}")
    return Checked(device, lines, decided / total if total else 1.0)


def check_tiles(
    module: ModuleOp,
    tiles: ModuleOp,
    given: Mapping[str, int],
    seed: int = 0,
    special: bool = False,
) -> Checked:
    """Runs a module of the `tile` level with our interpreter and compare it with the algorithm.

    Args:
        module: the program at the `dt` level, its schedule beside it.
        tiles: it at the `tile` level.
        given: sizes of labels.
        seed: the seed of the inputs.
        special: see `make_inputs`.

    Raises:
        CompileError: if a result is wrong, or the program refuses the sizes.
    """
    import numpy as np

    from dt_mlir.interpreters.accuracy import Accuracy
    from dt_mlir.interpreters.bounded import distance
    from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic

    sizes = Interface.of(module).sizes(given)
    inputs = make_inputs(module, sizes, seed, special)
    accuracy = Accuracy.of(module)
    expected, results = (reference(m, inputs, sizes, accuracy) for m in (module, tiles))
    lines: list[str] = []
    total, decided = 0, 0
    for name, want in expected.items():
        got = results[name]
        gap = distance(*(np.asarray(x.value, np.float64) for x in (got, want)))
        wrong = BoundedArithmetic(accuracy).differ(got, want)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise CompileError(
                f"'{name}' is wrong: element [{', '.join(map(str, place))}] is {got.value[place]}, "
                f"and should be {want.value[place]}"
            )
        known = gap[np.isfinite(gap) & np.isfinite(want.error)]
        shape = " x ".join(map(str, want.value.shape)) or "scalar"
        largest = float(known.max()) if known.size else 0.0
        lines.append(f"{name}: {shape}, largest difference {largest:.3g}")
        total += want.value.size
        decided += int((want.error < float("inf")).sum())
    return Checked("tiles", lines, decided / total if total else 1.0)


def lay_out(tensor: Any, layout: str) -> Any:
    """A tensor with the same elements and other strides.

    Args:
        tensor: a tensor.
        layout: `contiguous`; `transposed`: the axes in reverse order in memory; `strided`: every
            other element of a larger tensor.
    """
    import torch

    if layout == "transposed" and tensor.dim() > 1:
        order = tuple(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order)
    if layout == "strided" and tensor.dim():
        wide = torch.zeros([2 * n + 1 for n in tensor.shape], dtype=tensor.dtype)
        view = wide.to(tensor.device)[tuple(slice(1, None, 2) for _ in tensor.shape)]
        view.copy_(tensor)
        return view
    return tensor


def compare(got: Any, want: Bounded) -> tuple[float, str | None]:
    """Compares an array with what it may be.

    Returns:
        The largest difference, and the first element that is wrong in words, if there is one.
    """
    import numpy as np

    if got.shape != want.value.shape:
        return float("inf"), f"it has shape {got.shape}, not {want.value.shape}"
    if got.size == 0:
        return 0.0, None
    from dt_mlir.interpreters.bounded import Bounded, distance, signs_differ

    gap = distance(*(np.asarray(array, np.float64) for array in (got, want.value)))
    wrong = gap > want.error
    if want.value.dtype.kind != "f":
        # Integers of 64 bits are more exact than floats.
        wrong |= (want.error == 0) & (got != want.value)
    if want.value.dtype.kind == "f":
        wrong |= signs_differ(Bounded.exact(np.asarray(got, np.float64)), want)
    known = gap[np.isfinite(gap) & np.isfinite(want.error)]
    largest = float(known.max()) if known.size else 0.0
    if not wrong.any():
        return largest, None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    bound = f" within {want.error[place]:.3g}" if want.error[place] else ""
    return largest, (
        f"element [{', '.join(map(str, place))}] is {got[place]}, and should be "
        f"{want.value[place]}{bound} ({int(wrong.sum())} of {wrong.size} elements are wrong)"
    )


def size_parameters(wrapper: Callable[..., Any]) -> list[str]:
    """Returns the parameters by which an emitted function takes sizes of labels, in the order of
    `Interface.free_labels`.

    A label that Python or the module uses otherwise has another name there, as `lambda_`.
    """
    code = wrapper.__code__
    options = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    return [name for name in options if name != "out"]


def size_options(wrapper: Callable[..., Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the keyword arguments of a call of an emitted function.

    Args:
        wrapper: the function.
        sizes: a size for each label that only callers know, in the order of `free_labels`.
    """
    return dict(zip(size_parameters(wrapper), sizes.values(), strict=True))


def wrapper_name(source: str) -> str:
    """The name of an emitted module's wrapper: its last function.

    Raises:
        CompileError: if the module has only kernels.
    """
    import ast

    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    last = functions[-1]
    if last.decorator_list:
        raise CompileError(
            "the program compiles to kernels alone, which do not run by themselves", None,
            "end it with compile() to run it",
        )
    return last.name
