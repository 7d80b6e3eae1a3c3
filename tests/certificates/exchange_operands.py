"""A directive as a researcher might write it first: it takes subtraction for commutative."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import arith

from dt_mlir.scheduling.directive import Directive, Phase, Site
from dt_mlir.traversal import operations_of


@dataclass(frozen=True)
class ExchangeOperands(Directive):
    """Exchanges the operands of differences."""

    name = "schedule-exchange-operands"
    phase: ClassVar[Phase] = Phase.ORDER

    def rewrite(self, site: Site) -> None:
        """Exchanges the operands in the kernel of the function."""
        for inner in operations_of(site.kernel, arith.SubfOp):
            inner.operands = [inner.rhs, inner.lhs]
