"""A fixed share of the mutants of IR, and what a stranger's module must not do."""

from random import Random

import pytest
from emitted_code import UnexpectedCodeError, check_emitted
from mutant_fuzz import CHECKED, run_batch
from mutants import mutate, stage
from texts import text_of
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from dt_mlir.backend.python_module import emit_module
from dt_mlir.compiler import compile_program
from dt_mlir.dialects import host

PROGRAM = text_of("doubled")
SOURCE = compile_program(PROGRAM).source


@pytest.mark.parametrize("seed", range(6))
def test_mutants(seed: int) -> None:
    tally, faults = run_batch(910_000 + seed)
    assert not faults, "\n".join(f"{kind}\n{text}" for _, kind, text in faults)
    # Mutants that are not read, or not well-formed, say nothing about passes.
    assert tally["emitted"] + tally["refused"] >= CHECKED


def test_a_mutant_differs_from_its_origin() -> None:
    text = stage(0, 3)
    assert any(mutate(text, Random(i), generic=False) != text for i in range(4))


@pytest.mark.parametrize(
    "line",
    [
        "import os", "os = __import__('os')", "exec('1')", "print(1)", "x = tl.__class__",
        "max = eval", "tl = 1", "lambda: 1",
    ],
)
def test_other_code_is_noticed(line: str) -> None:
    check_emitted(SOURCE)
    inside = SOURCE.replace("    _check_tensor('f'", f"    {line}\n    _check_tensor('f'")
    assert inside != SOURCE
    for changed in (inside, SOURCE + line + "\n"):
        with pytest.raises(UnexpectedCodeError):
            check_emitted(changed)


@pytest.mark.parametrize(
    "text", ['"""\nimport os\n"""', "\\", '\\"""', 'a"', "\0\r\u2028", "'''"]
)
def test_what_a_module_says_of_itself_stays_in_docstrings(text: str) -> None:
    """The algorithm and the schedule are strings of the module, and any text may stand there."""
    module = compile_program(PROGRAM).module
    for op in module.ops:
        if isinstance(op, host.FuncOp):
            op.algorithm = op.schedule = op.compiled = ArrayAttr([StringAttr(text)])
    check_emitted(emit_module(module))
