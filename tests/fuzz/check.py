"""Checks one case: it is refused in words, or gives what the algorithm says."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from cases import Case
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.certificates.certify import certify
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import run_and_check
from dt_mlir.verification.semantics import (
    Recorder,
    SemanticsError,
    UndecidedError,
    verify_semantics,
)

LIMIT = 10
"""The seconds that a case may take; an interpreter can be very slow."""
BOUNDARIES = int(os.environ.get("FUZZ_BOUNDARIES", "4"))
"""The number of cases of which one is run at every pass boundary too."""
CERTIFIED = int(os.environ.get("FUZZ_CERTIFIED", "4"))
"""The number of cases of which one is certified too."""
OUTPUTS = ("compile(", "compile_to_kernel(")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    kind: str
    """`right`, `refused` (by the compiler), `declined` (by the wrapper, before a launch) or `slow`."""
    reason: str = ""
    decided: float = 1.0
    """The share of elements that the algorithm decides."""
    obligations: Counter[str] = field(default_factory=Counter[str])
    """The obligations of its certificate by their verdict, if it was certified."""


class WrongError(AssertionError):
    """A case that shows a fault of the compiler."""


class SlowError(BaseException):
    """Raised where time is up, past whatever catches exceptions."""


@contextmanager
def limited(seconds: int) -> Generator[None]:
    """Raises `SlowError` where what is done in it takes longer."""

    def stop(*_: object) -> None:
        raise SlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def algorithm_of(text: str) -> str:
    """A program without its schedule."""
    kept = [
        line
        for line in text.splitlines()
        if not (line[:1] == "f" and "." in line.split("(")[0] and "=" not in line)
        or any(word in line for word in OUTPUTS)
    ]
    return "\n".join(kept) + "\n"


def sizes_of(case: Case) -> dict[str, int]:
    """The case's sizes, one for all labels that the program makes equal.

    Those that follow from others have the case's sizes where others can be chosen so.
    """
    module, _ = compile_text(case.text, "case.dt")
    interface = Interface.of(module)
    sizes = {label: case.sizes.get(group[0], 3) for group in interface.groups for label in group}
    try:
        interface.settle(sizes, dict(sizes))
    except CompileError:
        # The wrapper refuses it, too.
        sizes = dict.fromkeys(sizes, 3)
    return sizes


def fixed_sizes(case: Case) -> dict[str, int]:
    """The sizes that the case is compiled for."""
    if not case.fixed:
        return {}
    used = Interface.of(compile_text(case.text, "case.dt")[0]).used
    return {label: size for label, size in sizes_of(case).items() if size and label in used}


def guilty_pass(case: Case) -> str:
    """Runs the IR before and after each pass; what the first wrong one does, or nothing."""
    sizes = sizes_of(case)
    if not all(sizes.values()):
        return ""
    module, _ = compile_text(case.text, "case.dt")
    recorder = Recorder(module)
    run_pipeline(module, default_pipeline("tile", sizes=fixed_sizes(case)), recorder.after)
    try:
        verify_semantics(recorder.stages, sizes=sizes, kernel=False)
    except UndecidedError:
        # The sizes and inputs of a drawn program may leave nothing to decide.
        return ""
    except SemanticsError as error:
        return str(error)
    except ExecutionError:
        # The algorithm reads what the sizes do not hold; the wrapper says so.
        return ""
    except CompileError as error:
        # Sizes that are too small the wrapper refuses too.
        known = ("too much to run", ", but needs ", " need an index of ", "divides by",
                 "a tensor is too small", "follows from others")
        return "" if any(x in error.message for x in known) else f"verifying semantics: {error}"
    return ""


def check(case: Case, limit: int = LIMIT, boundaries: bool | None = None) -> Outcome:
    """Compiles and runs a case.

    Args:
        case: the case.
        limit: the seconds that it may take.
        boundaries: whether it is run at every pass boundary, by default for some cases.

    Raises:
        WrongError: if a result is wrong, or a refusal is not one in words.
    """
    if boundaries is None:
        boundaries = case.seed % BOUNDARIES == 0
    try:
        with limited(limit):
            return _check(case, boundaries)
    except SlowError:
        return Outcome("slow")


def _consistent(module: ModuleOp, sizes: dict[str, int]) -> bool:
    """Returns whether the sizes that follow from others are these."""
    interface = Interface.of(module)
    try:
        return interface.sizes(sizes) == sizes
    except CompileError:
        return False


MOST = 2**24
"""The most elements of an input; a number as an index may ask for more."""
LACKS = ("out of bounds for int", "no attribute 'get_bf16'")
"""Errors of Triton's interpreter where a GPU has none: it sums i32 in i64, and fails where the sum
wraps; and it has no scalars of bf16."""


def check_certificate(case: Case, limit: int = 3 * LIMIT) -> Outcome:
    """Compiles and certifies a case, and runs what its certificate has to test.

    Args:
        case: the case.
        limit: the seconds that it may take.

    Raises:
        WrongError: if an obligation is refuted, or a refusal is not one in words.
    """
    try:
        with limited(limit):
            program = _compiled(case)
            if isinstance(program, Outcome):
                return program
            if "compile_to_kernel(" in case.text:
                return Outcome("declined", "a kernel alone has no certificate")
            return Outcome("right", obligations=_certified(program))
    except SlowError:
        return Outcome("slow")


def _compiled(case: Case) -> Compiled | Outcome:
    """Returns the compiled case, or that it is refused."""
    try:
        return compile_program(case.text, "case.dt", sizes=fixed_sizes(case))
    except CompileError as error:
        if error.location is None:
            raise WrongError(f"a refusal without a place: {error}") from error
        try:
            compile_program(algorithm_of(case.text), "case.dt")
        except CompileError as inner:
            return Outcome("refused", f"algorithm: {inner}")
        return Outcome("refused", str(error))


def _certified(program: Compiled) -> Counter[str]:
    """Returns the obligations of a case by their verdict, none of which is refuted."""
    certificate = certify(program.module, whole=3.0)
    refuted = certificate.refuted
    if refuted:
        raise WrongError(f"refuted: {refuted[0].statement}: {refuted[0].reason}")
    return Counter(str(item.verdict) for item in certificate.obligations)


def _check(case: Case, boundaries: bool) -> Outcome:
    program = _compiled(case)
    if isinstance(program, Outcome):
        return program
    if boundaries:
        found = guilty_pass(case)
        if found:
            raise WrongError(found)
    if case.seed % CERTIFIED == 1 % CERTIFIED and "compile_to_kernel(" not in case.text:
        _certified(program)
    try:
        sizes = sizes_of(case)
        if not _consistent(program.algorithm, sizes):
            return Outcome("declined", "the sizes do not go together")
        interface = Interface.of(program.algorithm)
        if any(prod(interface.shape(item, sizes)) > MOST for item in interface.inputs):
            return Outcome("declined", "an input does not fit into memory")
        checked = run_and_check(
            program.algorithm, program.source, sizes, case.seed, case.layout, case.special
        )
    except CompileError as error:
        message = str(error)
        if "cannot run on these inputs" in message and (
            " need" in message or "more than Triton's" in message or "too small" in message
            or "divides by" in message or "but the program declares" in message
        ):
            return Outcome("declined", message)
        named = guilty_pass(case) or "no pass is at fault, so the emitter may be, or the bounds"
        raise WrongError(f"{message}; {named}") from error
    except Exception as error:
        if type(error).__name__ != "InterpreterError" or not any(
            reason in str(error) for reason in LACKS
        ):
            raise
        return Outcome("declined", str(error))
    return Outcome("right", decided=checked.decided)
