"""Compiles a candidate in a process of its own, ahead of its measurement.

For a GPU the kernels are compiled as the wrapper will launch them: it runs on tensors without
elements, and each launch becomes Triton's `warmup`. What that compiles lies in Triton's cache,
where the process that measures finds it. PyTorch is not needed for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Attribute

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.triton.clear import CLEAR
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.diagnostics import CompileError, showing_warnings
from dt_mlir.dialects import sched, warp
from dt_mlir.element_types import TORCH_TYPES, is_bool, type_name
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.runtime.ahead_of_time import launches
from dt_mlir.runtime.execute import check_tiles, loaded, size_options, wrapper_name
from dt_mlir.runtime.interpreted_types import miscomputed
from dt_mlir.runtime.machine_code import fault, resource_usage
from dt_mlir.runtime.triton_errors import reason_of
from dt_mlir.traversal import operations_of
from dt_mlir.tuning.bounds import Traffic, least_milliseconds
from dt_mlir.tuning.gpu import Files, Gpu, stand_in
from dt_mlir.tuning.torch_stand_in import Tensor, in_place_of_torch


@dataclass(frozen=True)
class Built:
    """The outcome of compiling a candidate."""

    status: str
    """`ok`, `refused` by the compiler, `failed` in Triton, `unfit` for the device, or `wrong`."""
    message: str = ""
    source: str = ""
    """The emitted module."""
    resources: dict[str, dict[str, int | None]] = field(
        default_factory=dict[str, dict[str, "int | None"]]
    )
    """The registers, spilled bytes, bytes of shared memory and threads of each kernel."""
    accuracy: Accuracy = field(default_factory=Accuracy)
    """The accuracy of its kernels."""
    repeatable: bool = True
    """True if its kernels compute the same bits in each run: none adds in memory."""
    checked: bool = False
    """True if the result was compared with the algorithm when it was compiled."""
    least_milliseconds: float = 0.0
    """The milliseconds that moving as many bytes takes at least; 0 if that is not known."""
    cache: Files = field(default_factory=dict[str, bytes])
    """The files of Triton's cache, where it was compiled on another machine."""
    machine_code: tuple[bytes, ...] = field(default=(), repr=False)
    """The machine code of its kernels, for a GPU that `inspect` knows."""


def build(text: str, file: str, sizes: Mapping[str, int], gpu: Gpu | None) -> Built:
    """Compiles a candidate, in a process that never runs any; see `gpu.stand_in`.

    Args:
        text: the program with its schedule.
        file: what messages call it.
        sizes: a size for each label.
        gpu: the GPU to compile for; None for Triton's interpreter, which needs no more.
    """
    try:
        # A search tries schedules whose cost it measures.
        with showing_warnings(lambda _: None):
            program = compile_program(text, file)
    except CompileError as error:
        return Built("refused", error.message)
    except Exception as error:
        return Built("failed", f"internal fault of the compiler: {type(error).__name__}: {error}")
    accuracy = Accuracy.of(program.algorithm, gpu is not None)
    repeatable = not _adds_in_memory(program.algorithm)
    if gpu is None:
        if miscomputed(program.module) is None:
            return Built("ok", "", program.source, {}, accuracy, repeatable)
        try:
            check_tiles(program.algorithm, program.module, sizes)
        except CompileError as error:
            return Built("wrong", error.message, program.source)
        return Built("ok", "", program.source, {}, accuracy, repeatable, checked=True)
    stand_in(gpu)
    try:
        kernels = _warm(program, sizes, gpu)
        resources = {name: _resources(kernel) for name, kernel in kernels.items()}
    except CompileError as error:
        return Built("refused", error.message)
    except Exception as error:
        # Triton, its backends and LLVM raise errors of many kinds.
        return Built("failed", reason_of(error))
    problem = _too_much(resources, gpu)
    if problem:
        return Built("unfit", problem, program.source, resources)
    least = least_milliseconds(Traffic.of(program.module, sizes, program.algorithm), gpu)
    code = tuple(k.asm["cubin"] for k in kernels.values() if "cubin" in k.asm)
    return Built(
        "ok", "", program.source, resources, accuracy, repeatable, least_milliseconds=least,
        machine_code=code,
    )  # fmt: skip


def inspect(code: Sequence[bytes]) -> Built:
    """Looks for faults of the assembler in kernels of a candidate that may win.

    Disassembling them takes longer than all other steps of compiling a candidate together, so that
    only those are inspected that are among the fastest.

    Args:
        code: their machine code.

    Returns:
        An outcome that is `ok`, or `wrong` and says why.
    """
    for cubin in code:
        found = fault(cubin)
        if found is not None:
            return Built("wrong", found)
    return Built("ok")


def _adds_in_memory(program: ModuleOp) -> bool:
    """Returns whether program instances add to the same elements, in an order of their own."""
    return any(
        op.directive_name == "rfactor" and any(a.value == "atomic" for a in op.argument_list)
        for op in operations_of(program, sched.DirectiveOp)
    )


def _too_much(resources: Mapping[str, Mapping[str, int | None]], gpu: Gpu) -> str:
    """Returns the resources of kernels that exceed the device's; empty if none does."""
    properties = dict(gpu.properties)
    limits = {
        "shared": properties.get("shared_memory_per_block_optin"),
        "threads": properties.get("max_threads_per_block", 1024),
    }
    registers = properties.get("regs_per_multiprocessor")
    for kernel, used in resources.items():
        for what, limit in limits.items():
            if limit is not None and (used[what] or 0) > limit:
                return f"'{kernel}' needs {used[what]} of {what}, and the device has {limit}"
        needed = (used["registers"] or 0) * (used["threads"] or 0)
        if registers is not None and needed > registers:
            return f"'{kernel}' needs {needed} registers, and the device has {registers}"
    return ""


class _Recorder:
    """Takes the place of a kernel, and compiles it where it would be launched."""

    def __init__(self, kernel: Any, found: dict[str, Any], others: Executor) -> None:
        self.kernel = kernel
        self.found = found
        self.others = others

    def __getitem__(self, grid: Any) -> Any:
        def launch(*args: Any, **options: Any) -> None:
            plain = [a.dtype if isinstance(a, Tensor) else a for a in args]
            name = self.kernel.fn.__name__
            self.found[name] = self.kernel.warmup(*plain, grid=grid, **options)
            self.others.submit(_prepare_launcher, self.found[name])

        return launch


def _prepare_launcher(kernel: Any) -> None:
    """Compiles what launches a kernel, where Triton has C code for that.

    Triton 3.6 does, of each signature, and the C compiler takes about as long as all the rest; so
    it does for its module `cuda_utils`, once. The process that measures finds both in the cache;
    what fails here is left to that one.
    """
    with suppress(Exception):
        driver = import_module("triton.backends.nvidia.driver")
        driver.CudaLauncher(kernel.src, kernel.metadata)
        driver.CudaUtils()


def _warm(program: Compiled, sizes: Mapping[str, int], gpu: Gpu) -> dict[str, Any]:
    """Compiles a program's kernels, and returns them by name."""
    interface = Interface.of(program.algorithm)
    found: dict[str, Any] = {}
    with (
        # The C compiler runs beside what compiles further kernels.
        ThreadPoolExecutor(1) as others,
        in_place_of_torch(gpu) as torch,
        loaded(program.source) as emitted,
    ):
        arguments: list[Any] = []
        for item in sorted(interface.inputs, key=lambda item: item.axes is None):
            if item.axes is None:
                arguments.append(_scalar(item.element))
                continue
            element = getattr(torch, TORCH_TYPES[type_name(item.element)])
            arguments.append(Tensor(interface.shape(item, sizes), element, torch.device("cuda", 0)))
        names = [launch.name for launch in launches(program.module, sizes)]
        names += [
            op.sym_name.data for op in program.module.ops if isinstance(op, warp.KernelOp)
        ]
        names += [CLEAR] if hasattr(emitted, CLEAR) else []
        replace_kernels(emitted, names, found, others)
        labels = {label: sizes[label] for label in interface.free_labels()}
        wrapper = getattr(emitted, wrapper_name(program.source))
        wrapper(*arguments, **size_options(wrapper, labels))
    return found


def _scalar(element: Attribute) -> object:
    """A scalar; Triton specialises integers on 0 and 1, which random inputs seldom are."""
    if isinstance(element, AnyFloat):
        return 0.5
    return True if is_bool(element) else 3


def replace_kernels(
    emitted: ModuleType, names: Collection[str], found: dict[str, Any], others: Executor
) -> None:
    """Makes launches of an emitted module compile, and no more.

    Args:
        emitted: the module; it is changed.
        names: its kernels. What they call stays as it is: Triton reads it when it compiles them.
        found: where compiled kernels go, by name.
        others: what compiles what launches them.
    """
    for name in names:
        setattr(emitted, name, _Recorder(getattr(emitted, name), found, others))


def _resources(kernel: Any) -> dict[str, int | None]:
    registers: int | None = None
    spills: int | None = None
    if "cubin" in kernel.asm:
        with suppress(OSError):
            registers, spills = resource_usage(kernel.asm["cubin"])
    warp = getattr(kernel.metadata, "warp_size", 32)
    return {
        "registers": registers,
        "spills": spills,
        "shared": kernel.metadata.shared,
        "threads": kernel.metadata.num_warps * warp,
    }
