"""Compiles emitted kernels ahead of time for a target, which needs no GPU."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from dt_mlir.analysis.interface import Interface
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.backend.python_module import module_signatures
from dt_mlir.backend.triton.signature import DEPENDENT, HOPPER, Signature
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host
from dt_mlir.element_types import type_name
from dt_mlir.runtime.execute import loaded
from dt_mlir.runtime.machine_code import fault, resource_usage
from dt_mlir.runtime.triton_errors import reason_of

TRITON_TYPES = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "f8e4m3": "fp8e4nv",
    "f8e5m2": "fp8e5", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8", "u8": "u8",
    "bool": "i1",
}  # fmt: skip
"""Triton's names of element types in signatures."""


@dataclass(frozen=True)
class Architecture:
    """A target of ahead-of-time compilation, and what it can hold."""

    name: str
    backend: str
    version: int | str
    warp: int
    shared_memory: int
    """The most bytes of shared memory of a program instance."""
    threads: int = 1024
    """The most threads of a program instance."""


ARCHITECTURES = {
    a.name: a
    for a in (
        Architecture("sm_80", "cuda", 80, 32, 166912),
        Architecture("sm_86", "cuda", 86, 32, 101376),
        Architecture("sm_89", "cuda", 89, 32, 101376),
        Architecture("sm_90", "cuda", 90, 32, 232448),
        Architecture("sm_100", "cuda", 100, 32, 232448),
        Architecture("gfx942", "hip", "gfx942", 64, 65536),
        Architecture("gfx950", "hip", "gfx950", 64, 163840),
    )
}
"""The targets by name, with the limits that their vendors document."""


@dataclass
class CompiledKernel:
    """A kernel compiled for a target."""

    name: str
    architecture: Architecture
    asm: Mapping[str, Any]
    shared: int
    threads: int
    registers: int | None
    spills: int | None
    fault: str | None = None
    """The defects of its machine code."""

    def problems(self) -> list[str]:
        """Why it cannot run: what the target cannot hold of it, and faults of its assembler."""
        found = [] if self.fault is None else [self.fault]
        if self.shared > self.architecture.shared_memory:
            found.append(
                f"{self.shared} bytes of shared memory, more than the "
                f"{self.architecture.shared_memory} of {self.architecture.name}"
            )
        if self.threads > self.architecture.threads:
            found.append(
                f"{self.threads} threads, more than the {self.architecture.threads} of "
                f"{self.architecture.name}"
            )
        return found


@dataclass
class Launch:
    """The specialization of a kernel: its parameters' types and constants."""

    name: str
    signature: dict[str, str]
    constants: dict[str, Any]
    options: dict[str, int]
    boxes: dict[str, str] = field(default_factory=dict[str, str])
    """The types of the descriptors that it takes where the device and the tensors allow it."""

    def described(self) -> Launch:
        """Returns the specialization that takes descriptors."""
        constants = {n: value for n, value in self.constants.items() if n not in self.boxes}
        return Launch(self.name, self.signature | self.boxes, constants, self.options)


def launches(module: ModuleOp, sizes: Mapping[str, int]) -> list[Launch]:
    """Returns the specializations of a module's kernels, for contiguous tensors of some sizes.

    Args:
        module: a module of the `tile` level.
        sizes: a size for each label.
    """
    function = host.function_of(module)
    assert function is not None, "what is launched has a host function"
    sizes = Interface.of(module).completed(sizes)
    kernels = kernels_of(module)
    _, signatures = module_signatures(module)
    launched = {op.kernel_name: op for op in function.launches()}
    same = function.first_of_same()
    found: list[Launch] = []
    for kernel in kernels:
        signature = signatures[kernel.sym_name.data]
        launch = Launch(signature.name, {}, {}, {})

        def add(parameter: str, value: int, launch: Launch = launch, s: Signature = signature):
            if s.dynamic:
                launch.signature[parameter] = "i32"
            else:
                launch.signature[parameter] = "constexpr"
                launch.constants[parameter] = value

        for arg, parameter in signature.variables.items():
            launch.signature[parameter] = _parameter_type(arg)
        for (arg, extents, _), parameter in signature.boxes.items():
            launch.signature[parameter] = "constexpr"
            launch.constants[parameter] = None
            assert isinstance(arg.type, MemRefType)
            element = TRITON_TYPES[type_name(arg.type.element_type)]
            launch.boxes[parameter] = f"tensordesc<{element}{list(extents)}>"
        for label, parameter in signature.sizes.items():
            add(parameter, sizes[label])
        for arg, strides in signature.strides.items():
            assert isinstance(arg, BlockArgument)
            axes = kernel.axes_of(arg)
            tensor = launched[kernel.sym_name.data].arguments[arg.index]
            storage = host.alignment_of(tensor)
            order = host.storage_order_of(tensor)
            extents = [
                -(-sizes.get(axis, 1) // multiple) * multiple
                for axis, multiple in zip(axes, storage)
            ]
            for number, parameter in enumerate(strides):
                behind = order[order.index(number) + 1 :]
                add(parameter, math.prod(extents[axis] for axis in behind))
        for label, parameter in signature.tiles.items():
            size = max(1, sizes[same.get(label, label)])
            power = 1 << (size - 1).bit_length()
            launch.signature[parameter] = "constexpr"
            launch.constants[parameter] = max(power, kernel.least_extents.get(label, 1))
        for parameter in signature.moderate.values():
            launch.signature[parameter] = "constexpr"
            launch.constants[parameter] = True
        if signature.hopper:
            launch.signature[signature.hopper] = "constexpr"
        if signature.dependent:
            launch.signature[signature.dependent] = "constexpr"
        launch.signature[signature.index] = "constexpr"
        for hint in ("num_warps", "num_stages"):
            value = kernel.int_hint(hint)
            if value is not None:
                launch.options[hint] = value
        found.append(launch)
    return found


def _specializations(found: Sequence[Launch], target: Architecture) -> Iterator[Launch]:
    """Yields what is compiled of each kernel: where a copy engine is, with descriptors as well."""
    for launch in found:
        yield launch
        if launch.boxes and isinstance(target.version, int) and target.version >= 90:
            yield launch.described()


def _alignment(launch: Launch) -> dict[tuple[int], list[list[object]]]:
    """Triton's attribute of tensors that start at multiples of 16 bytes, as PyTorch's do."""
    return {
        (number,): [["tt.divisibility", 16]]
        for number, type in enumerate(launch.signature.values())
        if type.startswith("*")
    }


def _parameter_type(arg: SSAValue) -> str:
    type: Attribute = arg.type
    if isinstance(type, MemRefType):
        return "*" + TRITON_TYPES[type_name(type.element_type)]
    narrow = isinstance(type, IntegerType) and type.width.data <= 32
    return "i32" if narrow else TRITON_TYPES[type_name(type)]


def compile_for(
    module: ModuleOp, source: str, architecture: str, sizes: Mapping[str, int]
) -> list[CompiledKernel]:
    """Compiles the kernels of a module to machine code.

    Args:
        module: the module at the `tile` level.
        source: the module as it was emitted.
        architecture: the target: a key of `ARCHITECTURES`.
        sizes: a size for each label.

    Raises:
        CompileError: if Triton refuses a kernel, or the target is not known.
    """
    target = ARCHITECTURES.get(architecture)
    if target is None:
        raise CompileError(
            f"'{architecture}' is not a target", None, f"there are {', '.join(ARCHITECTURES)}"
        )
    try:
        import triton
        import triton.language as tl
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError:
        raise CompileError(
            "this needs torch and triton", None, "pip install 'dt-mlir[run]'"
        ) from None
    found: list[CompiledKernel] = []
    with loaded(source) as emitted:
        for launch in _specializations(launches(module, sizes), target):
            constants = {**launch.constants, "INDEX": tl.int32}
            if HOPPER in launch.signature:
                constants[HOPPER] = architecture == "sm_90"
            options = launch.options
            if DEPENDENT in launch.signature:
                early = isinstance(target.version, int) and target.version >= 90
                constants[DEPENDENT] = early
                options = {**options, **({"launch_pdl": True} if early else {})}
            ast_source = ASTSource(
                fn=getattr(emitted, launch.name),
                signature=launch.signature,
                constexprs=constants,
                attrs=_alignment(launch),
            )
            gpu = GPUTarget(target.backend, target.version, target.warp)
            try:
                compiled = triton.compile(ast_source, target=gpu, options=options)
            except Exception as error:
                # Triton and its backends raise errors of many kinds.
                raise CompileError(
                    f"Triton cannot compile '{launch.name}' for {architecture}: {reason_of(error)}"
                ) from error
            shown = launch.name
            if any(type.startswith("tensordesc") for type in launch.signature.values()):
                shown += ":descriptors"
            found.append(compiled_kernel(shown, target, compiled))
    return found


def summarise(
    text: str, file: str, architecture: str, given: Mapping[str, int], other: int
) -> list[tuple[str, bool, list[str]]]:
    """Compiles a program's text for a target.

    Args:
        text: the program.
        file: what to call it.
        architecture: the target.
        given: sizes of labels.
        other: the size of labels that are not given.

    Returns:
        For each kernel its name, whether there is machine code, and what the target cannot hold.

    Raises:
        CompileError: if Triton refuses a kernel.
    """
    from dt_mlir.compiler import compile_program

    program = compile_program(text, file)
    labels = Interface.of(program.algorithm).labels
    sizes = {label: given.get(label, other) for label in labels}
    return [
        (kernel.name, bool(kernel.asm.get("cubin") or kernel.asm.get("hsaco")), kernel.problems())
        for kernel in compile_for(program.module, program.source, architecture, sizes)
    ]


def compiled_kernel(name: str, target: Architecture, compiled: Any) -> CompiledKernel:
    """Returns a kernel as Triton has compiled it.

    Args:
        name: the kernel's name.
        target: what it was compiled for.
        compiled: what Triton gives.
    """
    metadata = compiled.metadata
    text = str(compiled.asm.get("amdgcn", ""))
    registers = _number(r"\.vgpr_count:\s*(\d+)", text)
    spills = _number(r"\.vgpr_spill_count:\s*(\d+)", text)
    wrong: str | None = None
    if "cubin" in compiled.asm:
        registers, spills = resource_usage(compiled.asm["cubin"])
        wrong = fault(compiled.asm["cubin"])
    threads = metadata.num_warps * target.warp
    return CompiledKernel(
        name, target, compiled.asm, metadata.shared, threads, registers, spills, wrong
    )


def _number(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match.group(1)) if match else None
