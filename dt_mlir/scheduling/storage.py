"""The storage of functions that pass between kernels, which directives shape."""

from __future__ import annotations

from dt_mlir.analysis.nests import argument_named
from dt_mlir.dialects import host
from dt_mlir.scheduling.directive import Site


def storage_of(site: Site) -> tuple[host.AllocOp, tuple[str, ...]]:
    """Returns the allocation of a function's tensor, and the function's labels.

    Raises:
        CompileError: if the function is fused, or its storage is the caller's.
    """
    kernel = site.program.kernel_of(site.function)
    home = site.program.home_of(site.function)
    if kernel is None and home is not None:
        raise site.error(
            f"'{site.function}' is fused into the kernel of '{home.root.data}', and has no storage",
            "leave out one of the two directives",
        )
    verb = site.directive.split("_")[0]
    if site.function in site.program.outputs():
        raise site.error(
            f"'{site.function}' is compiled: its storage is the caller's",
            f"{verb} what other kernels of the program read",
        )
    if site.program.host.kernel_only is not None:
        raise site.error(
            "only kernels are compiled: their caller owns all storage", "write f.compile()"
        )
    argument = argument_named(site.kernel, site.function)
    assert argument is not None, "a kernel writes what its root computes"
    alloc = site.program.tensor_values()[site.function].owner
    assert isinstance(alloc, host.AllocOp)
    return alloc, site.kernel.axes_of(argument)
