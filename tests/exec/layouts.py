"""What Triton makes of kernels in processes where they are compiled, and not interpreted."""

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.ahead_of_time import compile_for


def layouts_of(source: str, text: str, sizes: dict[str, int]) -> list[str]:
    """Returns what Triton makes of the kernels of a module, before it becomes LLVM's.

    Args:
        source: the module.
        text: its program.
        sizes: the sizes of labels.
    """
    module = compile_program(text, "program").module
    return [str(kernel.asm["ttgir"]) for kernel in compile_for(module, source, "sm_90", sizes)]
