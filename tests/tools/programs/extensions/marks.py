"""Passes and directives that go wrong, each in a way of its own."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.passes import ModulePass

from dt_mlir.analysis.nests import loops_over
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class MarkPass(Directive):
    """Leaves an attribute that nothing prints."""

    name = "schedule-mark"
    phase: ClassVar[Phase] = Phase.HINTS
    label: str = parameter(Name("label"), "The label.")

    def rewrite(self, site: Site) -> None:
        for op in loops_over(site.kernel, self.label):
            op.attributes["my.mark"] = IntegerAttr(4, i64)
            op.location = site.fused_location(op.location)


@dataclass(frozen=True)
class BadOptionPass(Directive):
    """Leaves an option that Triton's loops do not have."""

    name = "schedule-bad-option"
    phase: ClassVar[Phase] = Phase.HINTS
    label: str = parameter(Name("label"), "The label.")

    def rewrite(self, site: Site) -> None:
        for op in loops_over(site.kernel, self.label):
            op.attributes["triton.range"] = DictionaryAttr({"speed": StringAttr("high")})


@dataclass(frozen=True)
class FailPass(ModulePass):
    """Fails."""

    name = "fail"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert not op.ops, "this never holds"
