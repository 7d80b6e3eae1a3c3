"""Labels of reductions that walk what the label of a pass walks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from dt_mlir.analysis.nests import labels_in, loops_in, reads_of, walked_label
from dt_mlir.dialects import loop
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.scheduling.directive import Site


def labels_alike(site: Site, label: str) -> set[str]:
    """Returns the labels over which reductions are reductions over a label, that one included.

    How a label of reductions is called says nothing: `rmax(s[i, a], a)` reduces the axis of `s`
    that `exp(s[i, j] - …)` walks along `j`. Such a label has the size of the other, walks an axis
    of a tensor which that walks, too, is no function's own, and no function has both. `rename`
    makes others one.

    Args:
        site: the function, and the directive.
        label: the label.
    """
    along: dict[tuple[str, int], set[str]] = {}
    """The labels that walk each axis of what is read and written."""
    owners = [{*labels_in(kernel)} for kernel in site.program.kernels]
    own = set[str]()
    for kernel in site.program.kernels:
        own |= {op.label_name for op in loops_in(kernel) if isinstance(op, loop.ForOp)}
        for argument, tensor in zip(kernel.args, kernel.argument_names):
            for axis, name in enumerate(kernel.axes_of(argument)):
                along.setdefault((tensor, axis), set()).add(name)
            for read in reads_of(argument):
                for axis, index in enumerate(read.index_values()):
                    if isinstance(index, SSAValue):
                        along.setdefault((tensor, axis), set()).add(walked_label(index))
    same = site.program.host.first_of_same()
    found = {label}
    while True:
        further = {
            other for labels in along.values() if not labels.isdisjoint(found)
            for other in labels - found - own
            if same.get(other, other) == same.get(label, label)
            and all(other not in labels or labels.isdisjoint(found) for labels in owners)
        }  # fmt: skip
        if not further:
            return found
        # Two that a function has are not both like a third one.
        found.add(min(further))


def give_label(site: Site, label: str, alike: Collection[str], functions: Iterable[str]) -> None:
    """Lets reductions of functions walk a label in place of those that are alike."""
    for name in functions:
        kernel = site.program.kernel_of(name)
        assert kernel is not None
        for op in loops_in(kernel):
            if isinstance(op, loop.ReductionLoop) and op.label_name in alike:
                op.label = StringAttr(label)
                op.iv.name_hint = value_hint(label)
