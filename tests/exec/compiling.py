"""A process in which Triton compiles: its interpreter, where it is on, is on for good."""

import multiprocessing
import os
import re
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.ahead_of_time import compile_for


@contextmanager
def compiling_process() -> Generator[ProcessPoolExecutor]:
    """Gives a process that interprets nothing; it imports what it is given functions of."""
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.getpid).result()
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
        yield pool


def layouts_of(source: str, text: str, sizes: dict[str, int]) -> list[str]:
    """Returns what Triton makes of the kernels of a module, before it becomes LLVM's.

    Args:
        source: the module.
        text: its program.
        sizes: the sizes of labels.
    """
    module = compile_program(text, "program").module
    return [str(kernel.asm["ttgir"]) for kernel in compile_for(module, source, "sm_90", sizes)]


def vectors_of(source: str, text: str, sizes: dict[str, int]) -> list[str]:
    """Returns the loads and copies of vectors in a module's machine code, of elements of 4 bytes.

    Args:
        source: the module.
        text: its program.
        sizes: the sizes of labels.
    """
    module = compile_program(text, "program").module
    kernels = compile_for(module, source, "sm_90", sizes)
    vectors = re.compile(r"ld\.global\.v\S+|cp\.async\.c[ag]\.[^\n]*, 0x(?:8|10),")
    return [found for k in kernels for found in vectors.findall(str(k.asm["ptx"]))]
