"""A pass that gives a reduction a kind that no verifier expects."""

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKindAttr
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class KindOfAKindPass(ModulePass):
    """Puts the attribute of a kind where the kind belongs."""

    name = "kind-of-a-kind"
    after = "apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for reduction in operations_of(op, loop.ReduceOp):
            kind: Any = reduction.kind
            reduction.kind = ReductionKindAttr(kind)
