"""The entry point through which xDSL's own tools find this package."""

from xdsl.universe import Universe

from dt_mlir.registry import DIALECTS, PASSES, TARGETS

DT_UNIVERSE = Universe(all_dialects=DIALECTS, all_passes=PASSES, all_targets=TARGETS)
"""The dialects, passes and targets of this package."""
