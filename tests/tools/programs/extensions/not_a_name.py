"""A directive that no program can call."""

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.scheduling.directive import Directive, Phase, Site


@dataclass(frozen=True)
class NotANamePass(Directive):
    """Changes nothing."""

    name = "schedule-2x"
    phase: ClassVar[Phase] = Phase.HINTS

    def rewrite(self, site: Site) -> None:
        """Does nothing."""
