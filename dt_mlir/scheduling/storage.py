"""The storage of functions that pass between kernels, which directives shape."""

from __future__ import annotations

from dt_mlir.analysis.nests import argument_named
from dt_mlir.dialects import host
from dt_mlir.scheduling.directive import Site


def storage_of(site: Site) -> tuple[host.AllocOp, tuple[str, ...]]:
    """Returns the allocation of a function's tensor, and the function's labels.

    A fused function has one if another kernel reads it.

    Raises:
        CompileError: if the function has no storage, or its storage is the caller's.
    """
    program, function = site.program, site.function
    home = program.home_of(function)
    kernel = site.kernel if home is None else home
    argument = argument_named(kernel, function)
    if argument is None:
        raise site.error(
            f"'{function}' is fused into the kernel of '{kernel.root.data}', and has no storage",
            "leave out one of the two directives",
        )
    if function in program.outputs():
        raise site.error(
            f"'{function}' is compiled: its storage is the caller's",
            f"write '{site.directive}' for what other kernels of the program read",
        )
    if program.host.kernel_only is not None:
        raise site.error(
            "only kernels are compiled: their caller owns all storage", "write f.compile()"
        )
    alloc = program.tensor_values()[function].owner
    assert isinstance(alloc, host.AllocOp)
    if alloc.summed is not None:
        raise site.error(
            f"the parts of '{function}' are added in memory, which has a layout of its own",
            f"leave out 'atomic', or '{function}.{site.directive}'",
        )
    return alloc, kernel.axes_of(argument)
