"""Looks up the fastest schedule that was found for a program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import rounding_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.tuning.database import Database, Record, Setting
from dt_mlir.tuning.task import LARGE, Candidate, SearchedProgram


def recorded_best(
    module: ModuleOp, path: Path, given: Mapping[str, int], device: str | None
) -> tuple[Candidate, Setting]:
    """The fastest recorded schedule of a program's space, and where it was measured.

    Where the program leaves nothing open, it is the fastest of all that were found for its
    algorithm and round as the program does.

    Args:
        module: the program at the `dt` level, its space beside it.
        path: the database.
        given: sizes of labels; where there are several records, they choose.
        device: the device's name or a part of it; None for the only one.

    Raises:
        CompileError: if there is no record, or what is given does not choose one.
    """
    Interface.of(module).sizes(given)
    program = SearchedProgram(module)
    if path.exists() and not path.is_file():
        raise CompileError(f"{path} cannot be used as a database: a database is a file")
    if not path.is_file():
        raise CompileError(f"there is no database {path}", None, "search with dt-tune first")
    with Database(path) as database:
        known = database.settings(program.algorithm)
        settings = [
            s
            for s in known
            if all(s.sizes.get(label) == size for label, size in given.items())
            and (device is None or device.lower() in s.device.lower())
            # What is fast with padded results need not be with others.
            and not s.strides
        ]
        found: dict[tuple[str, str], tuple[Candidate, Setting]] = {}
        # The latest record of each device and sizes counts.
        for setting in settings:
            key = setting.device, str(dict(setting.sizes))
            if key not in found:
                best = _first_of_space(program, database.ranked(setting))
                if best is not None:
                    found[key] = best, setting
    if not found:
        others = dict.fromkeys(_shown(s) for s in known if s not in settings and not s.strides)
        raise CompileError(
            "no schedule of the space has been measured" + (" for these sizes" if given else ""),
            None,
            "search with dt-tune first"
            + (f"; there are records for {'; '.join(others)}" if others else ""),
        )
    if len(found) > 1:
        shown = "; ".join(_shown(setting) for _, setting in found.values())
        raise CompileError(
            f"there are records for {shown}", None,
            "say which, as in --best x=4096,y=4096 and --device (in Python: sizes= and device=)",
        )  # fmt: skip
    return next(iter(found.values()))


def _shown(setting: Setting) -> str:
    """Returns the sizes and the device of a record."""
    sizes = ",".join(f"{label}={size}" for label, size in setting.sizes.items())
    return f"{sizes} on {setting.device}"


def _first_of_space(program: SearchedProgram, records: list[Record]) -> Candidate | None:
    """The first record whose schedule the space has."""
    if len(program.space) == 1:
        rounding = rounding_of(program.module)
        for record in records:
            module, _ = compile_text(record.program, "-")
            if rounding_of(module) == rounding:
                return Candidate(record.point, record.program)
        return None
    everything: dict[str, Candidate] | None = None
    for record in records:
        try:
            candidate = program.candidate(record.point)
        except CompileError:
            candidate = None
        if candidate is not None and candidate.text == record.program:
            return candidate
        # It was found in another space, whose points have other names.
        if everything is None and len(program.space) <= LARGE:
            everything = {candidate.text: candidate for candidate in program.candidates()}
        if everything is not None and record.program in everything:
            return everything[record.program]
    return None
