"""A pass behind the last one."""

from xdsl.passes import ModulePass


class AtTheEnd(ModulePass):
    """Changes nothing."""

    name = "at-the-end"
    after = "verify-tile"

    def apply(self, ctx, op):
        pass
