"""A directive that is wrong."""

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.nests import loops_over
from dt_mlir.dialects.loop import ReduceOp
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class ForgetPass(Directive):
    """Takes the first element for the sum over a label."""

    name = "schedule-forget"
    phase: ClassVar[Phase] = Phase.TILING
    label: str = parameter(Name("label"), "The label.")

    def rewrite(self, site: Site) -> None:
        for op in loops_over(site.kernel, self.label):
            if isinstance(op, ReduceOp):
                first, last = op.body.block.first_op, op.body.block.last_op
                assert first is not None
                assert last is not None
                last.operands = [first.results[0]]
