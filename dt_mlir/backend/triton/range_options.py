"""The options of `tl.range` that a loop of the `tile` level carries."""

from __future__ import annotations

import ast

from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i1

from dt_mlir.backend.triton import code
from dt_mlir.diagnostics import CompileError, did_you_mean, directive_location
from dt_mlir.dialects import tile

_RANGE_OPTIONS: dict[str, type[int] | type[bool]] = {
    "num_stages": int,
    "loop_unroll_factor": int,
    "disallow_acc_multi_buffer": bool,
    "flatten": bool,
    "warp_specialize": bool,
    "disable_licm": bool,
}
"""The options of `tl.range` with their types."""


def range_options(op: scf.ForOp) -> dict[str, ast.expr]:
    """The options of `tl.range` that a loop's attribute holds.

    Raises:
        CompileError: where there is no such option, or it has another type.
    """
    given = op.attributes.get(tile.RANGE_OPTIONS)
    if given is None:
        return {}
    options: dict[str, ast.expr] = {}
    for name, attr in given.data.items() if isinstance(given, DictionaryAttr) else ():
        kind = _RANGE_OPTIONS.get(name)
        if kind is None or not isinstance(attr, IntegerAttr) or (attr.type == i1) != (kind is bool):
            types = {bool: "i1", int: "i32"}
            shown = ", ".join(f"{n}: {types[k]}" for n, k in _RANGE_OPTIONS.items())
            known = f"Triton's loops have {shown}"
            message = f"'{tile.RANGE_OPTIONS}' has no option '{name}'"
            if kind is not None:
                message = f"the option '{name}' is an {types[kind]}, not {attr}"
            hint = None if kind is not None else did_you_mean(name, _RANGE_OPTIONS)
            raise CompileError(message, directive_location(op.location), hint or known)
        options[name] = code.constant(kind(attr.value.data))
    return options
