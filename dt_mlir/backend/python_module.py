"""Prints a standalone Python module: kernels, and the wrapper that launches them."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.backend.gluon.kernel import RESERVED, GluonSignature
from dt_mlir.backend.gluon.kernel import print_kernel as print_gluon_kernel
from dt_mlir.backend.gluon.wrapper import GluonWrapperPrinter
from dt_mlir.backend.triton import clear, initial_values, product_waits
from dt_mlir.backend.triton.attributes import check_consumed
from dt_mlir.backend.triton.code import one_line
from dt_mlir.backend.triton.combine import COMBINE
from dt_mlir.backend.triton.helpers import support_functions
from dt_mlir.backend.triton.kernel import KernelPrinter
from dt_mlir.backend.triton.layout import docstring, lines
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.signature import Signature, signatures_of
from dt_mlir.backend.triton.wrapper import WrapperPrinter
from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.passes.verify_tile import check_kernel, check_launches

GLUON = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor"""
"""The imports of modules with kernels of Gluon; their names are the same in versions 3.6 and 3.7.
"""


def module_signatures(module: ModuleOp) -> tuple[str, dict[str, Signature]]:
    """The names of a module's functions.

    Args:
        module: a module with a host function.

    Returns:
        The wrapper's name, and the signatures of the kernels by their symbols.
    """
    function = host.function_of(module)
    assert function is not None, "what is launched has a host function"
    kernels = [op for op in module.ops if isinstance(op, GridKernelOp)]
    is_specialized = any(isinstance(op, warp.KernelOp) for op in kernels)
    return signatures_of(kernels, function.sym_name.data, RESERVED if is_specialized else ())


@compiling()
def emit_module(
    module: ModuleOp, wrapped: bool = False, origins: Origins | None = None
) -> str:
    """The Python module that a module of kernels stands for.

    Args:
        module: kernels of the `tile` level, which Triton compiles, and of the `warp` level, which
            Gluon does; and one host function.
        wrapped: whether to print the wrapper also where only the kernels are wanted.
        origins: collects the operations that the code of kernels comes from, if they are wanted.

    Raises:
        CompileError: if the module is not of these levels.
    """
    hosts = [op for op in module.ops if isinstance(op, host.FuncOp)]
    kernels = [op for op in module.ops if isinstance(op, tile.KernelOp | warp.KernelOp)]
    others = [op for op in module.ops if op not in hosts and op not in kernels]
    if others or len(hosts) != 1 or not kernels:
        raise CompileError(
            "the Triton backend takes a module of the 'tile' level: kernels and one host function",
            others[0] if others else module,
            "run the whole pipeline first: dtc FILE --print-pipeline",
        )
    function = hosts[0]
    for kernel in kernels:
        if isinstance(kernel, tile.KernelOp):
            check_kernel(kernel)
        check_consumed(kernel)
    check_launches(function)
    wrapper_name, signatures = module_signatures(module)
    helpers: set[str] = set()
    bodies: list[str] = []
    gluon: dict[str, GluonSignature] = {}
    for kernel in kernels:
        name, documentation = kernel.sym_name.data, kernel_documentation(kernel)
        if isinstance(kernel, warp.KernelOp):
            gluon[name] = GluonSignature.of(kernel, signatures[name])
            functions = print_gluon_kernel(
                kernel, gluon[name], helpers, documentation, origins
            )
        else:
            printer = KernelPrinter(kernel, signatures[name], helpers, origins)
            functions = [printer.print(documentation)]
        if origins is not None:
            origins.functions += functions
        bodies += ["\n".join(lines(item)) for item in functions]
    wrapper: list[str] = []
    support: list[str] = []
    if wrapped or not function.kernel_only:
        launcher = WrapperPrinter(function, kernels, signatures, wrapper_name)
        if gluon:
            launcher = GluonWrapperPrinter(function, kernels, signatures, wrapper_name, gluon)
        wrapper = lines(launcher.print())
        support = support_functions(launcher.used)
    texts = {
        **COMBINE, **product_waits.TEXTS,
        initial_values.HIDDEN: initial_values.TEXT,
    }  # fmt: skip
    blocks = [texts[name].strip() for name in sorted(helpers)]
    used = names_in([*support, *wrapper])
    blocks += [clear.TEXT.strip()] if clear.CLEAR in used else []
    blocks += support
    blocks += bodies
    blocks += ["\n".join(wrapper)] if wrapper else []
    title = "\n".join(docstring("\n".join(map(one_line, module_title(function)))))
    standard = [f"import {name}" for name in ("contextlib", "numbers") if name in used]
    head = [title, "\n".join(standard), _imports(blocks, bool(wrapper), bool(gluon))]
    return "\n\n\n".join(["\n\n".join(item for item in head if item), *blocks]) + "\n"


def _imports(blocks: list[str], wrapped: bool, gluon: bool) -> str:
    """The imports of what a module's functions use."""
    used = names_in(blocks)
    found = ["import torch"] if wrapped else []
    found.append("import triton")
    if "tl" in used or not gluon:
        found.append("import triton.language as tl")
    if gluon:
        found.append(GLUON)
    if "libdevice" in used:
        # Its functions are the same for both languages.
        found.append("from triton.language.extra import libdevice")
    return "\n".join(found)


def names_in(lines: list[str]) -> set[str]:
    """Returns the names that code uses."""
    tree = ast.parse("\n".join(lines))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def module_title(function: host.FuncOp) -> list[str]:
    """The lines of a module's docstring."""
    outputs = ", ".join(map(host.tensor_name, function.returned()))
    lines = [f"Kernels for {outputs}, generated by DT-MLIR from the program", ""]
    lines += [f"    {line}" for line in function.program()]
    if function.certificate is not None:
        lines += ["", f"Certificate {function.certificate.data}."]
    return lines


def kernel_documentation(kernel: GridKernelOp) -> list[str]:
    """The lines of a kernel's docstring."""
    blocks = [f"ceil({label} / {n})" if n > 1 else label for label, n in kernel.grid]
    grid = " * ".join(blocks) if blocks else "1"
    if kernel.programs is not None:
        grid = f"min({grid}, {kernel.programs.value.data} * multiprocessors)"
    found = [f"Compute '{kernel.root.data}' of the module's program.", "", f"Grid: ({grid},)"]
    if kernel.summed_names:
        order = "Programs add to memory in any order: sums of floats may differ from call to call."
        found += ["", order]
    return found
