"""A pass with the name of a built-in one."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class OtherCse(ModulePass):
    """Changes nothing."""

    name = "tile-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        print("the other one")
