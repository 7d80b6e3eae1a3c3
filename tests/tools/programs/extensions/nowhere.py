"""A pass behind one that there is not."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class Nowhere(ModulePass):
    """Changes nothing."""

    name = "nowhere"
    after = "tile-fuse-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing."""
