"""`sched-select`: decides what a space of schedules leaves open."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError
from dt_mlir.scheduling.space import Option, select


def parse_option(text: str) -> Option:
    """An option of a dimension: a number, or a name."""
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else text


@dataclass(frozen=True)
class SchedSelectPass(ModulePass):
    """Decides knobs, sets and alternatives of a schedule; the others stay open.

    A knob and named alternatives are called by their names, a set after the place where it
    stands, as in `f.block.x`. Alternatives are numbered from 0.

    ```
    sched.knob @BM {64, 128}
    sched.block @f(x: @BM)
    sched.alternatives @where { sched.fuse_at @g(f, x) } { }
      -> sched-select{choices="BM:64","where:0"}
    sched.block @f(x: 64)
    sched.fuse_at @g(f, x)
    ```
    """

    name = "sched-select"

    choices: tuple[str, ...]
    """The choices, each as `name:option`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        point: dict[str, Option] = {}
        for item in self.choices:
            name, colon, option = item.rpartition(":")
            if not colon or not name or not option:
                raise CompileError(f"'{item}' is not a choice of the form 'name:option'")
            point[name] = parse_option(option)
        select(op, point)
