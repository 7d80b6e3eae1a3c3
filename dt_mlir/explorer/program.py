"""Explores a program: compiles it while every step is kept, and looks at what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.autoscheduling.auto import assumed_sizes
from dt_mlir.certificates.making import certificate_of
from dt_mlir.costs.device import find_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile, warp
from dt_mlir.explorer.assembly import NOMINAL, Assembly, assemble
from dt_mlir.explorer.certificate import Obligation, obligations_of
from dt_mlir.explorer.emitted import Emitted
from dt_mlir.explorer.model import (
    Json,
    Tables,
    assembly_json,
    certificate_json,
    emitted_json,
    steps_json,
    timeline_json,
    trace_json,
)
from dt_mlir.explorer.steps import Step, StepRecorder, operation_ids, recording
from dt_mlir.pipeline import default_pipeline, run_pipeline


@dataclass(frozen=True)
class Settings:
    """The settings of an exploration."""

    types: Sequence[tuple[str, str]] = ()
    """Element types that are declared anew, as pairs of a name and a type."""
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    """Sizes that the program is compiled for."""
    choices: Mapping[str, int | str] = field(default_factory=dict[str, "int | str"])
    """The choices from a space of schedules."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Sizes for costs, compiled code and pictures."""
    architecture: str = "sm_90"
    """The target of compiled code."""
    device: str | None = None
    """The device that costs are predicted for; None for the usual one."""
    compiled: bool = True
    """True to compile kernels for the target, which takes seconds."""
    certify: bool = False
    """True to prove for all sizes that the kernels compute what the algorithm says."""
    certificate: Sequence[Obligation] | None = None
    """The obligations of the schedule; None where there is no certificate."""


@dataclass(frozen=True)
class Explored:
    """A program under one schedule."""

    name: str
    page: Json
    """The model of it, which a page shows."""
    steps: list[Step]


def explore_program(
    module: ModuleOp, text: str, file: str, settings: Settings, name: str | None = None
) -> Explored:
    """Compiles a program with every step kept.

    Args:
        module: the program at the `dt` level; it is changed.
        text: its text, which locations point into.
        file: the name of its text in locations.
        settings: what to compile it for.
        name: what the page calls it; the file's name without one.

    Raises:
        CompileError: where the program or its schedule is wrong.
    """
    passes = default_pipeline("warp", settings.types, settings.fixed, settings.choices)
    typed = module.clone()
    run_pipeline(typed, default_pipeline("dt", settings.types, choices=settings.choices))
    sizes = assumed_sizes(typed, {**settings.fixed, **settings.sizes}, NOMINAL)
    recorder = StepRecorder(module, sizes, find_device(settings.device))
    with recording(recorder):
        run_pipeline(module, passes, recorder.after)
    if settings.certify:
        certificate = obligations_of(certificate_of(module), typed)
        settings = replace(settings, certificate=certificate)
    page = _page(module, text, file, recorder.steps, settings)
    page.update(device=recorder.device.name, costSizes=sizes)
    return Explored(name or file, page, recorder.steps)


def explore_steps(
    module: ModuleOp, text: str, file: str, steps: list[Step], settings: Settings
) -> Explored:
    """Returns steps that were kept by other means, with what the last one allows.

    Args:
        module: the module after the last step.
        text: the text that locations point into.
        file: its name in locations.
        steps: the steps.
        settings: what to compile kernels for.
    """
    return Explored(file, _page(module, text, file, steps, settings), steps)


def _page(
    module: ModuleOp, text: str, file: str, steps: list[Step], settings: Settings
) -> Json:
    tables = Tables(file)
    found: Json = {"file": file, "program": text.rstrip("\n").split("\n")}
    notes: list[str] = []
    found["steps"] = steps_json(steps, tables)
    kernels = [op for op in module.ops if isinstance(op, tile.KernelOp | warp.KernelOp)]
    if kernels:
        found.update(_kernels(module, steps, tables, settings, notes))
    found["certificate"] = certificate_json(settings.certificate)
    found["schedule"] = _schedule(steps)
    found["notes"] = notes
    return {**found, **tables.json()}


def _kernels(
    module: ModuleOp, steps: list[Step], tables: Tables, settings: Settings, notes: list[str]
) -> Json:
    """Returns what there is of kernels: code, assembly, pictures. What fails becomes a note."""
    found: Json = {}
    given = {**settings.fixed, **settings.sizes}
    try:
        emitted = Emitted.of(module)
    except CompileError as error:
        notes.append(f"There is no code: {error}")
        return found
    found["emitted"] = emitted_json(emitted, steps[-1], operation_ids(steps)[-1], tables)
    assembly = Assembly()
    if settings.compiled:
        try:
            assembly = assemble(module, emitted.source, settings.architecture, given)
        except CompileError as error:
            assembly.notes.append(str(error))
        notes += [f"Not compiled: {note}" for note in assembly.notes]
    found["assembly"] = assembly_json(assembly)
    found.update(_pictures(module, tables, settings.sizes, notes))
    return found


def _pictures(
    module: ModuleOp, tables: Tables, sizes: Mapping[str, int], notes: list[str]
) -> Json:
    found: Json = {}
    try:
        from dt_mlir.explorer.timeline import timelines
        from dt_mlir.explorer.tracing import trace
    except ImportError as error:
        notes.append(f"There are no pictures: they need {error.name}: pip install 'dt-mlir[run]'")
        return found
    try:
        found["trace"] = trace_json(trace(module, sizes), tables)
    except CompileError as error:
        notes.append(f"There is no picture: {error}")
    try:
        made = timelines(module, sizes)
        found["timelines"] = [timeline_json(item, tables) for item in made]
    except CompileError as error:
        notes.append(f"There is no timeline: {error}")
    return found


def _schedule(steps: list[Step]) -> list[str]:
    """Returns the directives in the order in which they take effect."""
    return [step.title for step in steps if step.kind == "directive"]
