"""A scheduling directive for DT-MLIR in a package of its own."""

from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _reorder() -> type[ModulePass]:
    from dt_reorder.reorder import ReorderPass

    return ReorderPass


UNIVERSE = Universe(all_passes={"schedule-reorder": _reorder})
