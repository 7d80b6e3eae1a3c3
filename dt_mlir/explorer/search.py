"""The results of a search as points, each with its schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dt_mlir.diagnostics import CompileError, showing_warnings
from dt_mlir.explorer.exploration import Exploration
from dt_mlir.explorer.model import Json
from dt_mlir.explorer.program import Explored, Settings, explore_program
from dt_mlir.frontend.emit import compile_text
from dt_mlir.frontend.parser import parse_program
from dt_mlir.language.schedule import Schedule
from dt_mlir.tuning.database import Record
from dt_mlir.tuning.outcome import Outcome

FOLLOWED = 3
"""The number of the fastest schedules whose levels a page has."""
MOST_POINTS = 1000
"""The most schedules of a page, the fastest first."""


def explore_outcome(
    outcome: Outcome, title: str, sizes: Mapping[str, int], setting: str = ""
) -> Exploration:
    """Returns a page about all schedules that a search has timed.

    Args:
        outcome: the search's outcome.
        title: the page's title.
        sizes: the sizes that were searched at.
        setting: where times are from, in words.

    Raises:
        CompileError: if no schedule has a time.
    """
    records = outcome.ranked()[:MOST_POINTS]
    if not records:
        raise CompileError("no schedule of the space has a time, so that there is nothing to show")
    programs: list[Explored] = []
    variants: dict[str, int] = {}
    for number, record in enumerate(records[:FOLLOWED]):
        file = f"schedule-{number + 1}.dt"
        name = f"{number + 1}: {record.milliseconds or 0.0:.4g} ms"
        variants[record.program] = number
        # The search has compiled them, and warned.
        with showing_warnings(lambda _: None):
            module, _ = compile_text(record.program, file)
            settings = Settings(compiled=False)
            programs.append(explore_program(module, record.program, file, settings, name))
    points = [_point(record, variants.get(record.program)) for record in records]
    axes = dict.fromkeys(name for point in points for name in point["values"])
    shown = ", ".join(f"{label} = {size}" for label, size in sizes.items())
    search: Json = {
        "points": points, "axes": list(axes), "statuses": dict(outcome.statuses()),
        "setting": f"Timed at {shown}{f' on {setting}' if setting else ''}.",
    }  # fmt: skip
    return Exploration(title, programs, search)


def _point(record: Record, variant: int | None) -> Json:
    values: dict[str, Any] = dict(record.point)
    for name in ("registers", "spills", "shared", "threads"):
        known = [kernel.get(name) for kernel in record.resources.values()]
        if known and all(number is not None for number in known):
            values[name] = max(number for number in known if number is not None)
    values["rounds"] = len(record.times)
    lines = Schedule.of(parse_program(record.program, "-")).to_dt().strip().split("\n")
    return {
        "milliseconds": record.milliseconds, "rounds": len(record.times), "values": values,
        "schedule": lines, "variant": variant,
    }  # fmt: skip
