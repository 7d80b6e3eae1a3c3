"""A directive that no program can call."""

from dataclasses import dataclass

from dt_mlir.scheduling.directive import Directive, Phase


@dataclass(frozen=True)
class NotANamePass(Directive):
    """Changes nothing."""

    name = "schedule-2x"
    phase = Phase.HINTS

    def rewrite(self, site):
        pass
