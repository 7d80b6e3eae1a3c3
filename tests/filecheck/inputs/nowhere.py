"""A pass behind one that there is not."""

from xdsl.passes import ModulePass


class Nowhere(ModulePass):
    """Changes nothing."""

    name = "nowhere"
    after = "tile-fuse-map"

    def apply(self, ctx, op):
        pass
