"""Cases under the schedules that `auto` chooses for them."""

from __future__ import annotations

from cases import Case
from check import LIMIT, OUTPUTS, Outcome, SlowError, WrongError, algorithm_of, check, limited
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.autoscheduling.auto import KEPT, assumed_sizes, auto_schedule, with_schedule
from dt_mlir.compiler import compile_program
from dt_mlir.costs.device import devices
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.frontend.raising import raise_module
from dt_mlir.language.schedule import Schedule
from dt_mlir.pipeline import default_pipeline, run_pipeline

SCALES = (1, 16, 256)
"""Factors of the sizes that a case runs at, which a schedule is for: its tiles may be as long as all
of an axis, or much longer."""


def check_automatic(case: Case, limit: int = 2 * LIMIT) -> Outcome:
    """Checks a case under the schedule that `auto` chooses for it.

    Args:
        case: the case; its schedule is replaced by that one, once there is one.
        limit: the seconds that choosing the schedule may take, and running the case.

    Raises:
        WrongError: if no schedule is found, if it is refused, or if a result is wrong.
    """
    case.automatic = True
    text = "\n".join(line for line in case.text.splitlines() if _is_kept(line)) + "\n"
    try:
        compile_program(text, "case.dt")
    except CompileError as error:
        return Outcome("refused", f"algorithm: {error}")
    try:
        with limited(limit):
            case.text, case.automatic = _scheduled(text, case), False
    except CompileError as error:
        raise WrongError(f"auto refuses: {error}") from error
    except SlowError:
        raise WrongError(f"auto takes more than {limit} s") from None
    outcome = check(case, limit)
    if outcome.kind == "refused":
        raise WrongError(f"the schedule of auto is refused: {outcome.reason}")
    return outcome


def _scheduled(text: str, case: Case) -> str:
    """Returns the text of a case under the schedule that `auto` chooses for it."""
    module, _ = compile_text(text, "case.dt")
    typed = module.clone()
    run_pipeline(typed, default_pipeline("dt"))
    device = list(devices().values())[case.seed % len(devices())]
    decisions = auto_schedule(typed, _sizes(typed, case), device)
    schedule = Schedule.of(raise_module(with_schedule(module, decisions))).to_dt().strip()
    lines = algorithm_of(text).splitlines()
    end = next(i for i, line in enumerate(lines) if any(word in line for word in OUTPUTS))
    return "\n".join([*lines[:end], schedule, *lines[end:]]) + "\n"


def _is_kept(line: str) -> bool:
    """Returns whether `auto` leaves a line of a program as it is."""
    directive = line.partition("(")[0].rpartition(".")[2]
    return line in algorithm_of(line).splitlines() or directive in KEPT


def _sizes(module: ModuleOp, case: Case) -> dict[str, int]:
    """Returns the sizes that a schedule is for."""
    scale = SCALES[case.seed // len(devices()) % len(SCALES)]
    for factor in (scale, 1):
        try:
            return assumed_sizes(
                module, {label: factor * size for label, size in case.sizes.items()}
            )
        except CompileError:
            continue
    return assumed_sizes(module, {})
