"""The target `gluon`: a standalone Python module with kernels for sm_90."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from dt_mlir.backend.gluon.kernel import RESERVED, GluonSignature, print_kernel
from dt_mlir.backend.gluon.wrapper import GluonWrapperPrinter
from dt_mlir.backend.triton.combine import COMBINE
from dt_mlir.backend.triton.helpers import support_functions
from dt_mlir.backend.triton.kernel import check_consumed
from dt_mlir.backend.triton.layout import docstring, lines
from dt_mlir.backend.triton.signature import signatures_of
from dt_mlir.backend.triton.target import kernel_documentation, module_title, names_in
from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, warp

IMPORTS = """import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor"""
"""The imports of a module; their names are the same in versions 3.6 and 3.7."""


@compiling()
def emit_module(module: ModuleOp) -> str:
    """The Python module that a module of the `warp` level stands for.

    Args:
        module: kernels of the `warp` level and a host function.

    Raises:
        CompileError: if the module is not of that level.
    """
    hosts = [op for op in module.ops if isinstance(op, host.FuncOp)]
    kernels = [op for op in module.ops if isinstance(op, warp.KernelOp)]
    others = [op for op in module.ops if not isinstance(op, host.FuncOp | warp.KernelOp)]
    if others or len(hosts) != 1 or not kernels:
        raise CompileError(
            "the Gluon backend takes a module of the 'warp' level: kernels and one host function",
            others[0] if others else module,
            "lower all kernels to 'warp.kernel' first",
        )
    for kernel in kernels:
        check_consumed(kernel)
    wrapper_name, signatures = signatures_of(kernels, hosts[0].sym_name.data, RESERVED)
    helpers: set[str] = set()
    functions: list[ast.FunctionDef] = []
    gluon: dict[str, GluonSignature] = {}
    for kernel in kernels:
        name = kernel.sym_name.data
        gluon[name] = GluonSignature.of(kernel, signatures[name])
        functions += print_kernel(kernel, gluon[name], helpers, kernel_documentation(kernel))
    printer = GluonWrapperPrinter(hosts[0], kernels, signatures, wrapper_name, gluon)
    wrapper = lines(printer.print())
    support = support_functions(printer.used)
    bodies = ["\n".join(lines(function)) for function in functions]
    imports = IMPORTS
    if "tl" in names_in(bodies):
        imports = imports.replace("triton\n", "triton\nimport triton.language as tl\n", 1)
    if "libdevice" in names_in(bodies):
        imports += "\nfrom triton.experimental.gluon.language.extra import libdevice"
    used = names_in([*support, *wrapper])
    standard = [f"import {name}" for name in ("contextlib", "numbers") if name in used]
    head = "\n\n".join(item for item in (
        "\n".join(docstring("\n".join(module_title(hosts[0])))), "\n".join(standard), imports,
    ) if item)  # fmt: skip
    blocks = [COMBINE[name].strip() for name in sorted(helpers)] + support
    blocks += bodies
    return "\n\n\n".join([head, *blocks, "\n".join(wrapper)]) + "\n"


@dataclass(frozen=True)
class GluonTarget(Target):
    """A standalone Python module with warp-specialised kernels of Gluon, for sm_90."""

    name = "gluon"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit_module(module))
