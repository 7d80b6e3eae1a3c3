"""`apply-schedule`: applies the directives that the module holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects import sched
from dt_mlir.registry import directive_names, find_directive
from dt_mlir.scheduling.directive import OBSERVER, Directive, Phase, apply_directives
from dt_mlir.scheduling.parameters import ArgumentError
from dt_mlir.scheduling.space import Space
from dt_mlir.traversal import operations


def directives_of(module: ModuleOp) -> list[tuple[sched.DirectiveOp, Directive]]:
    """The directives that a module holds, checked by their classes, in the order of the text.

    Raises:
        CompileError: where a directive or one of its arguments is unknown, or left open.
    """
    _check_decided(module)
    found: list[tuple[sched.DirectiveOp, Directive]] = []
    for schedule in module.ops:
        if not isinstance(schedule, sched.ScheduleOp):
            continue
        for op in schedule.body.block.ops:
            assert isinstance(op, sched.DirectiveOp)
            found.append((op, decoded(op, op.argument_list)))
    return found


def decoded(op: sched.DirectiveOp, arguments: Sequence[sched.Argument]) -> Directive:
    """A directive, checked by its class.

    Raises:
        CompileError: if there is no such directive, or it takes no such arguments.
    """
    name = op.directive_name
    cls = find_directive(name)
    if cls is None:
        known = [*directive_names(), "compile", "compile_to_kernel"]
        raise CompileError(
            f"there is no directive '{name}'", op,
            did_you_mean(name, known)
            or f"there are {', '.join(known)}; a directive of your own is loaded with --load",
        )  # fmt: skip
    try:
        return cls.decode(op.function_name, arguments)
    except ArgumentError as error:
        raise CompileError(f"{op.function_name}.{name}: {error}", op, error.hint) from None


def _check_decided(module: ModuleOp) -> None:
    """Checks that the schedule is one, and no space of schedules."""
    space = Space(module)
    if not space.dimensions:
        return
    first = next(iter(space.dimensions.values()))
    place = next(
        op
        for schedule in space.schedules
        for op in operations(schedule)
        if isinstance(op, sched.KnobOp | sched.AlternativesOp)
        or (isinstance(op, sched.DirectiveOp) and space.sets[op])
    )
    count = len(space)
    raise CompileError(
        f"the schedule is a space of {count} schedules: it leaves open {space}", place,
        f"choose, as in '--choose {first.name}={first.options[0]},…', take the best that was "
        "found with '--best', or search it with dt-tune (in Python with dt_mlir.tune, or compile "
        "it with autotuned())",
    )  # fmt: skip


def _consumers_first(program: LoopProgram) -> list[str]:
    """The functions, each after those that read it."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in order:
            return
        for kernel in program.users_of(name):
            if kernel.root.data != name:
                visit(kernel.root.data)
        order[name] = None

    for name in program.functions():
        visit(name)
    return list(order)


def in_order(module: ModuleOp) -> list[tuple[sched.DirectiveOp, Directive]]:
    """The directives that a module holds, in the order in which they take effect.

    Raises:
        CompileError: where a directive or one of its arguments is unknown.
    """
    directives = directives_of(module)
    schedule = [directive for _, directive in directives]
    rank = {name: i for i, name in enumerate(_consumers_first(LoopProgram(module)))}

    def key(item: tuple[sched.DirectiveOp, Directive]) -> tuple[int, int]:
        directive = item[1]
        phase = directive.phase_among(schedule)
        return phase, rank.get(directive.function, 0) if phase is Phase.FUSION else 0

    return sorted(directives, key=key)


@dataclass(frozen=True)
class ApplySchedulePass(ModulePass):
    """Applies the directives that the module holds, in their fixed order of phases.

    The order on the page does not matter: algebra, parts, scans, their chunks, labels, fusion
    (consumers first), partition, order of loops, tiling, mapping, storage, hints, promises. Each
    directive does what its own pass does.
    """

    name = "apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [(directive, source.location) for source, directive in in_order(op)]
        apply_directives(op, found, OBSERVER.get())
        for schedule in list(op.ops):
            if isinstance(schedule, sched.ScheduleOp):
                Rewriter.erase_op(schedule)
