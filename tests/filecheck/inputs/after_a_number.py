"""A pass behind a number."""

from xdsl.passes import ModulePass


class AfterANumber(ModulePass):
    """Changes nothing."""

    name = "after-a-number"
    after = 3

    def apply(self, ctx, op):
        pass
