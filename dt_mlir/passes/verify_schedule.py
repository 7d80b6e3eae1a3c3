"""`verify-schedule`: checks the directives that a module holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.dialects.sched import (
    AlternativesOp,
    Argument,
    DirectiveOp,
    KnobOp,
    KnobReference,
    Options,
    ScheduleOp,
)
from dt_mlir.passes.apply_schedule import decoded
from dt_mlir.registry import find_directive
from dt_mlir.scheduling.directive import Phase


def _decisions(op: DirectiveOp, knobs: dict[str, Options]) -> Iterator[list[Argument]]:
    """The directive's arguments with each option of what they leave open, one after the other."""

    def options(part: Any) -> tuple[Any, ...]:
        if isinstance(part, KnobReference):
            return knobs[part.name].values
        return part.values if isinstance(part, Options) else (part,)

    parts = [(options(a.value), options(a.factor)) for a in op.argument_list]
    first = [Argument(a.key, v[0], f[0]) for a, (v, f) in zip(op.argument_list, parts)]
    yield first
    for i, (values, factors) in enumerate(parts):
        for value, factor in [
            *((v, factors[0]) for v in values[1:]),
            *((values[0], f) for f in factors[1:]),
        ]:
            yield [*first[:i], Argument(first[i].key, value, factor), *first[i + 1 :]]


def _check_decided(schedule: ScheduleOp, promise: DirectiveOp) -> None:
    """Checks that what a space leaves open does not decide bits of results.

    Raises:
        CompileError: at what does.
    """
    for op in schedule.directives():
        cls = find_directive(op.directive_name)
        is_open = isinstance(op.parent_op(), AlternativesOp) or any(
            argument.is_open for argument in op.argument_list
        )
        if is_open and cls is not None and cls.decides_bits:
            error = CompileError(
                f"{op.function_name}.{op.directive_name} is left open, and may decide the bits of "
                "a row, which are promised to be the same for any number of rows",
                op,
                "decide it, or leave the promise out",
            )
            error.notes.append(Note("the promise is here", promise.location))
            raise error


@dataclass(frozen=True)
class VerifySchedulePass(ModulePass):
    """Checks that each directive is known and that its arguments fit its parameters.

    In a space of schedules each option of each argument is checked, and beside a promise
    (`deterministic`) only what does not decide the bits of results may be open. Whether a directive
    is legal is seen when it is applied.
    """

    name = "verify-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for schedule in op.ops:
            if not isinstance(schedule, ScheduleOp):
                continue
            knobs = {
                k.sym_name.data: k.option_set
                for k in schedule.body.block.ops
                if isinstance(k, KnobOp)
            }
            promise: DirectiveOp | None = None
            for directive in schedule.directives():
                for arguments in _decisions(directive, knobs):
                    if decoded(directive, arguments).phase is Phase.PROMISES:
                        promise = directive
            if promise is not None:
                _check_decided(schedule, promise)
