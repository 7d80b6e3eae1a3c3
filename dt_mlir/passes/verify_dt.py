"""`verify-dt`: checks that a module is a whole program of the `dt` level."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, sched
from dt_mlir.traversal import operations

SCALAR_DIALECTS = ("dt", "arith", "math", "elem")
"""The dialects that the body of a function is made of."""


@dataclass(frozen=True)
class VerifyDtPass(ModulePass):
    """Checks that a module is a whole program of the `dt` level, and nothing else.

    It declares labels and inputs, defines functions whose bodies are scalar operations, and says
    what is compiled; a schedule may stand beside it.
    """

    name = "verify-dt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outputs = 0
        for inner in op.ops:
            if not isinstance(inner, sched.ScheduleOp) and inner.name.split(".")[0] != "dt":
                raise CompileError(f"'{inner.name}' is not of the 'dt' level", inner)
            outputs += isinstance(inner, dt.OutputOp)
            if isinstance(inner, dt.FuncOp):
                for nested in operations(inner):
                    if nested.name.split(".")[0] not in SCALAR_DIALECTS:
                        raise CompileError(
                            f"'{nested.name}' is not a scalar operation and cannot stand in "
                            f"'{inner.sym_name.data}'",
                            nested,
                        )
        if not outputs:
            raise CompileError(
                "there is no 'dt.output'", op, "say what the program is compiled for"
            )
