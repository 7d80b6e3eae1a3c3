"""Checks that take compiling a program to its end: refusals of its schedule, and costs.

The functions run in a process of their own, as compiling may take longer than an answer may.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import assumed_sizes
from dt_mlir.backend.python_module import emit_module
from dt_mlir.compiling import DEEPEST
from dt_mlir.costs.device import find_device
from dt_mlir.costs.quantities import shown_bytes, shown_time
from dt_mlir.costs.report import costs_of
from dt_mlir.costs.tiling import Cost
from dt_mlir.diagnostics import CompileError, Note, file_line_col, showing_warnings
from dt_mlir.dialects import loop
from dt_mlir.editor.problems import Problem, unique
from dt_mlir.frontend.emit import compile_text
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.printer import print_directive
from dt_mlir.loading import load_file
from dt_mlir.passes.apply_schedule import in_order
from dt_mlir.passes.convert_dt_to_loop import ConvertDtToLoopPass
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.scheduling.directive import Directive, apply_directives
from dt_mlir.scheduling.space import Space
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class Costs:
    """The predicted costs of a program."""

    circumstances: str
    """The device and the sizes that they are for."""
    kernels: Mapping[str, str] = field(default_factory=dict[str, str])
    """The cost of each kernel, by the function at its root."""
    homes: Mapping[str, str] = field(default_factory=dict[str, str])
    """The function at the root of the kernel that each fused function is computed in."""
    directives: Mapping[str, str] = field(default_factory=dict[str, str])
    """The change of cost by each directive, by the directive as canonical DT."""


def prepare(load: Sequence[str]) -> None:
    """Prepares a process: what it prints does not reach the protocol's stream.

    Args:
        load: Python files with directives that programs use.
    """
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    sys.setrecursionlimit(DEEPEST)
    for path in load:
        try:
            load_file(path)
        except CompileError:
            # The server has said so.
            continue


def compile_deeply(text: str, file: str) -> list[Problem]:
    """Compiles a program to its end.

    Args:
        text: the program.
        file: what locations call it.

    Returns:
        The mistake that stops the compiler, if there is one, and the warnings.
    """
    found: list[Problem] = []

    def show(note: Note) -> None:
        found.append(Problem.of_warning(note, file))

    with showing_warnings(show):
        try:
            module, warnings = compile_text(text, file)
            for note in warnings:
                show(note)
            if Space(module).dimensions:
                # Some of its schedules may be illegal, which a search finds out.
                run_pipeline(module, default_pipeline("dt"))
            else:
                run_pipeline(module, default_pipeline("warp"))
                emit_module(module)
        except CompileError as error:
            found.append(Problem.of(error, file))
        except RecursionError:
            found.append(Problem("the program is nested too deeply", None))
        except Exception as error:
            what = f"internal fault of the compiler: {type(error).__name__}: {error}"
            found.append(Problem(what, None, "please report it"))
    return unique(found)


def predict(text: str, file: str, sizes: Mapping[str, int], device: str | None) -> Costs | None:
    """Predicts what a program costs, and what each directive buys.

    Args:
        text: the program.
        file: what locations call it.
        sizes: sizes of labels; others are assumed.
        device: the device's name; None for the usual one.

    Returns:
        The costs; None for a program that is not legal, or a device that there are no figures of.
    """
    try:
        with showing_warnings(lambda _: None):
            return _predict(text, file, sizes, device)
    except (CompileError, RecursionError):
        return None


def _predict(
    text: str, file: str, sizes: Mapping[str, int], device: str | None
) -> Costs:
    module, _ = compile_text(text, file)
    choices = {d.name: d.options[0] for d in Space(module).dimensions.values()}
    run_pipeline(module, default_pipeline("dt", choices=choices))
    labels = Interface.of(module).labels
    known = {label: size for label, size in sizes.items() if label in labels}
    assumed, found = assumed_sizes(module, known), find_device(device)
    ConvertDtToLoopPass().apply(Context(), module)
    steps: list[tuple[str | None, dict[str, Cost]]] = [(None, costs_of(module, assumed, found))]
    shown = _directives_by_place(text, file)

    def observe(_: Directive, place: LocationAttr | None, changed: ModuleOp) -> None:
        at = file_line_col(place)
        steps.append((None if at is None else shown.get(at[1:]), costs_of(changed, assumed, found)))

    apply_directives(module, [(item, op.location) for op, item in in_order(module)], observe)
    sizes_shown = ", ".join(f"{label}={size}" for label, size in assumed.items())
    kernels = {root: _kernel(cost) for root, cost in steps[-1][1].items()}
    directives = {
        name: _step(before, after)
        for (_, before), (name, after) in zip(steps, steps[1:])
        if name is not None
    }
    roots = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    homes = {
        local.function.data: op.root.data
        for op in roots for local in operations_of(op, loop.LocalOp)
    }  # fmt: skip
    return Costs(f"{found.name} at {sizes_shown}", kernels, homes, directives)


def _directives_by_place(text: str, file: str) -> dict[tuple[int, int], str]:
    """Returns the directives of a program as canonical DT, by their places."""
    calls = parse_program(text, file).all_directives()
    return {(item.name_at.line, item.name_at.column): print_directive(item) for item in calls}


def _kernel(cost: Cost) -> str:
    busiest = f"{cost.limit} {shown_time(cost.bounds[cost.limit])}"
    return (
        f"{shown_time(cost.seconds)} (busiest: {busiest}), {shown_bytes(cost.memory)} moved, "
        f"{cost.programs} program instances, {cost.resident} on a multiprocessor, "
        f"{cost.registers:.0f} registers, {shown_bytes(cost.shared)} of shared memory"
    )


def _step(before: Mapping[str, Cost], after: Mapping[str, Cost]) -> str:
    """Returns what the kernels cost behind a directive, and the gain."""
    first, second = (sum(cost.seconds for cost in costs.values()) for costs in (before, after))
    moved = shown_bytes(sum(cost.memory for cost in after.values()))
    if not (isfinite(first) and isfinite(second)):
        return f"{shown_time(first)} → {shown_time(second)}, {moved} moved"
    gain = f"{first / second:.2f}x" if second else "no time left"
    return f"{shown_time(first)} → {shown_time(second)} ({gain}), {moved} moved"
