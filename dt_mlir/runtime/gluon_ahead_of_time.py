"""Compiles emitted kernels of Gluon ahead of time for sm_90, which needs no GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import MemRefType, ModuleOp

from dt_mlir.backend.gluon.kernel import GluonSignature
from dt_mlir.backend.python_module import module_signatures
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, warp
from dt_mlir.element_types import type_name
from dt_mlir.runtime.ahead_of_time import (
    ARCHITECTURES,
    TRITON_TYPES,
    CompiledKernel,
    compiled_kernel,
)
from dt_mlir.runtime.execute import loaded
from dt_mlir.runtime.triton_errors import reason_of


def compile_gluon(
    module: ModuleOp, source: str, sizes: Mapping[str, int]
) -> list[CompiledKernel]:
    """Compiles the kernels of a module to machine code for sm_90.

    Args:
        module: the module at the `warp` level.
        source: the module as it was emitted.
        sizes: a size for each label.

    Raises:
        CompileError: if Triton refuses a kernel.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon._runtime import GluonASTSource

    target = ARCHITECTURES["sm_90"]
    kernels = [op for op in module.ops if isinstance(op, warp.KernelOp)]
    function = host.function_of(module)
    assert function is not None, "what is launched has a host function"
    _, signatures = module_signatures(module)
    same = function.first_of_same()
    found: list[CompiledKernel] = []
    with loaded(source) as emitted:
        for kernel in kernels:
            signature = GluonSignature.of(kernel, signatures[kernel.sym_name.data])
            types: dict[str, str] = {}
            for value, name in signature.descriptors.items():
                box = value.type
                assert isinstance(box, warp.DescriptorType)
                layout = gl.NVMMASharedLayout(
                    swizzle_byte_width=box.swizzle.data, element_bitwidth=box.width,
                    rank=len(box.extents),
                )  # fmt: skip
                element = TRITON_TYPES[type_name(box.element_type)]
                types[name] = f"tensordesc<{element}{list(box.extents)},{layout!r}>"
            common = signature.common
            constants: dict[str, Any] = {
                name: sizes[same.get(label, label)] for label, name in common.sizes.items()
            }
            for arg in (*signature.accessed, *signature.scalars):
                tensor = arg.type if isinstance(arg.type, MemRefType) else None
                element = arg.type if tensor is None else tensor.element_type
                shown = TRITON_TYPES[type_name(element)]
                types[common.variables[arg]] = shown if tensor is None else f"*{shown}"
            for arg in signature.accessed:
                # Contiguous tensors.
                axes = kernel.axes_of(arg)
                extents = [sizes.get(same.get(label, label), 1) for label in axes]
                for number, stride in enumerate(common.strides[arg]):
                    constants[stride] = math.prod(extents[number + 1 :])
            constants.update(dict.fromkeys(common.moderate.values(), True))
            types.update(dict.fromkeys(constants, "constexpr"))
            name = common.name
            ast_source = GluonASTSource(getattr(emitted, name), types, constants)
            options: dict[str, Any] = {"num_warps": kernel.int_hint("num_warps")}
            if kernel.dependent_launch is not None:
                options["launch_pdl"] = True
            try:
                compiled = triton.compile(
                    ast_source, target=GPUTarget(target.backend, target.version, target.warp),
                    options=options,
                )  # fmt: skip
            except Exception as error:
                # Triton and its backends raise errors of many kinds.
                raise CompileError(
                    f"Triton cannot compile '{name}' for sm_90: {reason_of(error)}"
                ) from error
            found.append(compiled_kernel(name, target, compiled))
    return found
