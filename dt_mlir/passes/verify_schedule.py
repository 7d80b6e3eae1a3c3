"""`verify-schedule`: checks the directives that a module holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.dialects.sched import (
    Argument,
    DirectiveOp,
    KnobOp,
    KnobReference,
    Options,
    ScheduleOp,
)
from dt_mlir.passes.apply_schedule import decoded


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


@dataclass(frozen=True)
class VerifySchedulePass(ModulePass):
    """Checks that each directive is known and that its arguments fit its parameters.

    In a space of schedules each option of each argument is checked. Whether a directive is legal
    is seen when it is applied.
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
            for directive in schedule.directives():
                for arguments in _decisions(directive, knobs):
                    decoded(directive, arguments)
