"""`verify-schedule`: checks the directives that a module holds."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.passes.apply_schedule import directives_of


@dataclass(frozen=True)
class VerifySchedulePass(ModulePass):
    """Checks that each directive is known and that its arguments fit its parameters.

    Whether a directive is legal is seen when it is applied.
    """

    name = "verify-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        directives_of(op)
