"""Failures of modules under a pipeline."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from dt_mlir.diagnostics import CompileError
from dt_mlir.interpreters.arithmetic import Character
from dt_mlir.verification.semantics import Mode, Recorder, SemanticsError, Stage, verify_semantics
from dt_mlir.verifier import verify_module


@dataclass(frozen=True)
class Failure:
    """A failure; two are the same if they are of one kind, at one pass, with the same words."""

    kind: str
    """`changes` or `breaks` (semantics), `refuses` (a message to the user) or `crashes`."""
    item: str
    """The pass that it happens at."""
    words: str
    """The message without names and numbers."""
    message: str = field(compare=False)
    """The message."""
    sizes: Mapping[str, int] = field(compare=False, default_factory=dict[str, int])
    """The sizes that show it; empty if none are needed."""
    character: Character | None = field(compare=False, default=None)
    """The character of the inputs that show it; None if none are needed."""


@dataclass(frozen=True)
class Experiment:
    """The pipeline and the checks that a module is subjected to.

    Args:
        passes: the pipeline.
        mode: the arithmetic in which results are compared.
        kernel: whether the emitted kernel is run too.
        characters: what the inputs are like.
        compares: whether results are compared at all. A pass that refuses or crashes does so
            whatever the passes before it compute, and finding that takes no run.
    """

    passes: Sequence[ModulePass]
    mode: Mode = Mode.EXACT
    kernel: bool = False
    characters: Sequence[Character] = tuple(Character)
    compares: bool = True


def failure_of(
    parse: Callable[[], ModuleOp], experiment: Experiment, sizes: Mapping[str, int]
) -> Failure | None:
    """Runs an experiment; None if nothing fails.

    Args:
        parse: makes the module.
        experiment: what is done with it.
        sizes: the sizes of labels; without any, those that `--verify-semantics` chooses.
    """
    current = "the input"
    stages: list[Stage] = []
    try:
        module = parse()
        verify_module(module)
        recorder = Recorder(module)
        stages = recorder.stages
        refusal: CompileError | None = None
        context = Context()
        try:
            for item in experiment.passes:
                current = item.name
                item.apply(context, module)
                verify_module(module, item)
                recorder.after(item, module)
        except CompileError as error:
            refusal = error
        if experiment.compares:
            current = "the input"
            verify_semantics(
                stages, experiment.mode, sizes=sizes,
                kernel=experiment.kernel and refusal is None,
                characters=experiment.characters,
            )  # fmt: skip
        if refusal is not None:
            current = experiment.passes[len(stages) - 1].name
            raise refusal
    except SemanticsError as error:
        item = stages[error.stage].item if error.stage < len(stages) else None
        name = "the emitter" if item is None else item.name
        kind = "breaks" if error.breaks else "changes"
        words = _words(error.message) if kind == "breaks" else ""
        if error.given is None:
            return Failure(kind, name, words, error.message)
        given = error.given
        return Failure(kind, name, words, error.message, given.sizes, given.character)
    except (CompileError, DiagnosticException) as error:
        return Failure("refuses", current, _words(str(error)), str(error))
    except (Exception, SystemExit) as error:
        # A pass that crashes is what is looked for.
        return Failure("crashes", current, type(error).__name__, f"{type(error).__name__}: {error}")
    return None


def _words(message: str) -> str:
    """A message without what changes as the case becomes smaller."""
    plain = re.sub(r"'[^']*'", "'…'", message.partition(", with ")[0])
    return re.sub(r"\[[\d, …]*\]|\d+( x \d+)*", "…", plain)
