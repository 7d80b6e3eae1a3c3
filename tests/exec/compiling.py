"""A process in which Triton compiles: its interpreter, where it is on, is on for good."""

import multiprocessing
import os
import re
from collections.abc import Generator, Iterator, Mapping
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


def _assembly(source: str, text: str, sizes: Mapping[str, int], language: str) -> Iterator[str]:
    """Gives each kernel of a module in one of the languages that Triton compiles it to."""
    module = compile_program(text, "program").module
    for kernel in compile_for(module, source, "sm_90", sizes):
        yield str(kernel.asm[language])


def layouts_of(source: str, text: str, sizes: Mapping[str, int]) -> list[str]:
    """Returns what Triton makes of the kernels of a module, before it becomes LLVM's.

    Args:
        source: the module.
        text: its program.
        sizes: the sizes of labels.
    """
    return list(_assembly(source, text, sizes, "ttgir"))


def vectors_of(source: str, text: str, sizes: Mapping[str, int]) -> list[str]:
    """Returns the loads and copies of vectors in a module's machine code, of elements of 4 bytes.

    Its arguments are those of `layouts_of`.
    """
    vectors = re.compile(r"ld\.global\.v\S+|cp\.async\.c[ag]\.[^\n]*, 0x(?:8|10),")
    return [
        found for shown in _assembly(source, text, sizes, "ptx") for found in vectors.findall(shown)
    ]
