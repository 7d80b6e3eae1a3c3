"""Element types that Triton's interpreter computes wrongly."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, ModuleOp
from xdsl.ir import Attribute

from dt_mlir.element_types import type_name
from dt_mlir.traversal import operations


def miscomputed(module: ModuleOp) -> str | None:
    """The name of a type of a module's values that Triton's interpreter computes wrongly, or None.

    It multiplies bf16 as if it were an integer in `tl.dot`, cuts digits off where it should round
    to it, and converts f8 wrongly.
    """
    for op in operations(module):
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            element = getattr(value.type, "element_type", value.type)
            if _is_miscomputed(element):
                return type_name(element)
    return None


def _is_miscomputed(type: Attribute) -> bool:
    return isinstance(type, BFloat16Type) or (isinstance(type, AnyFloat) and type.bitwidth == 8)
