"""A pass without a place in dtc's pipeline."""

from xdsl.passes import ModulePass


class WithoutPlace(ModulePass):
    """Changes nothing."""

    name = "without-place"

    def apply(self, ctx, op):
        pass
