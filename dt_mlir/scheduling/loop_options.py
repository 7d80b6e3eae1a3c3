"""Options of `tl.range` on the loops over a label."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32

from dt_mlir.analysis.nests import labels_in, loops_over
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects.tile.printing import RANGE_OPTIONS
from dt_mlir.scheduling.directive import Site


def set_loop_option(
    site: Site, label: str, option: str, value: int, verb: str, what: str
) -> None:
    """Sets an option of Triton on the sequential loops over a label.

    Args:
        site: the directive's place, and the function with the loops.
        label: the label.
        option: the option of `tl.range`.
        value: its value.
        verb: what the directive does to a loop, as `unroll`, for messages.
        what: what the value is, as `factor`.

    Raises:
        CompileError: if there is no such loop, it has one trip, or has another value already.
    """
    kernel = site.kernel
    loops = loops_over(kernel, label)
    if not loops:
        raise site.error(
            f"there is no loop over '{label}' in the kernel of '{site.function}'",
            did_you_mean(label, labels_in(kernel))
            or f"there are loops over {', '.join(labels_in(kernel)) or 'no label'}",
        )
    sequential = [op for op in loops if not op.has_one_trip]
    if not sequential:
        raise site.error(
            f"the loop over '{label}' has one trip, and nothing to {verb}",
            f"tensorize '{label}' in smaller steps, or leave {site.directive} out",
        )
    for op in sequential:
        given = op.attributes.get(RANGE_OPTIONS)
        known = dict(given.data) if isinstance(given, DictionaryAttr) else {}
        wanted = IntegerAttr(value, i32)
        if known.get(option, wanted) != wanted:
            raise site.error(
                f"the loop over '{label}' already has another {what}",
                "leave one of them out", site.directive,
            )  # fmt: skip
        if site.location is not None:
            op.location = site.fused_location(op.location)
        op.attributes[RANGE_OPTIONS] = DictionaryAttr(known | {option: wanted})
