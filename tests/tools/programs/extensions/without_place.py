"""A pass without a place in dtc's pipeline."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class WithoutPlace(ModulePass):
    """Changes nothing."""

    name = "without-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing."""
