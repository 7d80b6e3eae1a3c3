"""A pass with the name of a built-in one."""

from xdsl.passes import ModulePass


class OtherCse(ModulePass):
    """Changes nothing."""

    name = "tile-cse"

    def apply(self, ctx, op):
        print("the other one")
