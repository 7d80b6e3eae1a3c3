"""A pass behind the last one."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class AtTheEnd(ModulePass):
    """Changes nothing."""

    name = "at-the-end"
    after = "verify-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing."""
