"""The loops that a directive names by their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dt_mlir.analysis.nests import loops_in, reduction_nests
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Site


class NamedNest(NamedTuple):
    """Loops in one another, some of which a directive names."""

    loops: list[loop.LoopLike]
    """The first to the last one that is named, and all between them, outermost first."""
    named: list[loop.LoopLike]
    """Those that are named, in the order of the directive."""


def named_nests(
    site: Site, labels: Sequence[str], own: Mapping[str, loop.LoopLike]
) -> list[NamedNest]:
    """Returns the nests with the loops over labels of a function, or over labels that it reduces.

    There is one for a function's own labels, and one for each reduction over the labels. A
    reduction over several labels by `rargmax` or `rargmin` is no nest: its loops keep their order.

    Args:
        site: what the directive is applied to.
        labels: the labels, each once.
        own: the function's own loops, by their names.

    Raises:
        CompileError: if a label has no loop, the labels are not those of one nest, or a
            reduction has a domain, which is stated for its loops as they are.
    """
    kernel, function = site.kernel, site.function
    reductions = reduction_nests(kernel)
    known = list(dict.fromkeys([*own, *(op.label_name for nest in reductions for op in nest)]))
    for label in labels:
        if label not in known:
            raise site.error(
                f"'{function}' has no loop over '{label}'",
                did_you_mean(label, known)
                or f"it has loops over {', '.join(known) or 'no label'}",
            )
    of_own = [label for label in labels if label in own]
    if of_own and len(of_own) < len(labels):
        other = next(label for label in labels if label not in own)
        raise site.error(
            f"'{of_own[0]}' is a label of '{function}', and '{other}' is reduced",
            "name labels of the function only, or labels that it reduces only",
        )
    if of_own:
        nest = [op for op in loops_in(kernel) if op in own.values()]
        return [_nest(nest, [own[label] for label in labels])]
    found: list[NamedNest] = []
    for nest in reductions:
        if set(labels) <= {op.label_name for op in nest}:
            found.append(_nest(nest, [op for x in labels for op in nest if op.label_name == x]))
    if not found:
        raise site.error(
            f"no reduction of '{function}' is over {', '.join(labels)} together",
            "name labels of one reduction; 'rargmax' and 'rargmin' keep the order of theirs",
        )
    for op in (op for nest in found for op in nest.loops):
        if isinstance(op, loop.ReduceOp) and op.domain is not None:
            raise site.error(
                f"the reduction over '{op.label_name}' has a domain, which fixes its place",
                "name labels of a reduction without conditions",
            )
    return found


def _nest(loops: Sequence[loop.LoopLike], named: list[loop.LoopLike]) -> NamedNest:
    places = [i for i, op in enumerate(loops) if op in named]
    return NamedNest([*loops[places[0] : places[-1] + 1]], named)
