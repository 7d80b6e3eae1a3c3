"""A pass behind a number."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class AfterANumber(ModulePass):
    """Changes nothing."""

    name = "after-a-number"
    after = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing."""
