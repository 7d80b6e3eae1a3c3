"""`schedule-fuse`: makes one loop of nested ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.joined_labels import joined_label
from dt_mlir.analysis.nests import loops_in, own_loops, reduction_nests, writes_of
from dt_mlir.builders.loops import interchange, join, sink_between
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.formats import name_array
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names


@dataclass(frozen=True)
class FusePass(Directive):
    """Joins loops over labels into one loop over a new label, which later directives name.

    The joined loop walks the points of the box of the labels, the last label fastest. Labels of the
    function join each other, and so do labels that it reduces. A tile of the joined label spans
    rows of an image, or taps of a window (implicit GEMM). Halide, TVM: `fuse`.

    ```
    loop.for %x = x of f {           loop.for %xy = xy of f {
      loop.for %y = y of f {   ->      %x, %y = loop.delinearize %xy by [x, y]
    ```
    """

    name = "schedule-fuse"
    phase: ClassVar[Phase] = Phase.LABELS

    labels: tuple[str, ...] = parameter(
        Names(), "The labels whose loops are joined, the slowest first, then the new label."
    )

    def rewrite(self, site: Site) -> None:
        *labels, joined = self.labels
        if len(labels) < 2:
            raise site.error(
                "it joins two or more labels into a new one", "write f.fuse(x, y, xy)"
            )
        if len(set(self.labels)) < len(self.labels):
            raise site.error("a label is named twice", "name each label once")
        nests = self._nests(site, labels)
        self._declare(site, labels, joined)
        for nest in nests:
            wanted = [op for label in labels for op in nest if op.label_name == label]
            rest = [op for op in nest if op not in wanted]
            sink_between(nest)
            interchange(nest, [*wanted, *rest], site.fused_location)
            join(nest[: len(wanted)], joined)

    def _nests(self, site: Site, labels: Sequence[str]) -> list[list[loop.LoopLike]]:
        """Returns the nests from the first to the last loop over the labels, outermost first."""
        kernel = site.kernel
        own = own_loops(kernel, writes_of(kernel, self.function)[0])
        nests = reduction_nests(kernel)
        known = [*own, *dict.fromkeys(op.label_name for nest in nests for op in nest)]
        for label in labels:
            if label not in known:
                raise site.error(
                    f"'{self.function}' has no loop over '{label}'",
                    did_you_mean(label, known) or f"it has loops over {', '.join(known)}",
                )
        of_own = [label for label in labels if label in own]
        if of_own and len(of_own) < len(labels):
            other = next(label for label in labels if label not in own)
            raise site.error(
                f"'{of_own[0]}' is a label of '{self.function}', and '{other}' is reduced",
                "join labels of the function with each other, and reduced ones with each other",
            )
        if of_own:
            nest = [op for op in loops_in(kernel) if op in own.values()]
            return [self._checked(site, nest, labels)]
        found: list[list[loop.LoopLike]] = [
            [*nest] for nest in nests if set(labels) <= {op.label_name for op in nest}
        ]
        if not found:
            raise site.error(
                f"no reduction of '{self.function}' is over {', '.join(labels)} together",
                "join labels of one reduction",
            )
        return [self._checked(site, nest, labels) for nest in found]

    def _checked(
        self, site: Site, nest: list[loop.LoopLike], labels: Sequence[str]
    ) -> list[loop.LoopLike]:
        places = [i for i, op in enumerate(nest) if op.label_name in labels]
        nest = nest[places[0] : places[-1] + 1]
        for op in nest:
            if isinstance(op, loop.ReduceOp) and op.domain is not None:
                raise site.error(
                    f"the reduction over '{op.label_name}' has a domain", "join labels without one"
                )
            if op.label_name not in labels:
                continue
            if op.origin is not None or op.is_tile:
                raise site.error(
                    f"the loop over '{op.label_name}' is already tiled or split", "join it first"
                )
        for outer, inner in zip(nest, nest[1:]):
            between = [op for op in outer.body.block.ops if op is not inner and op.regions]
            if isinstance(outer, loop.ForOp) and between:
                raise site.error(
                    f"a reduction that does not depend on '{inner.label_name}' is computed between "
                    f"the loops over '{outer.label_name}' and '{inner.label_name}'",
                    "make it a function of its own, or join other labels",
                )
        return nest

    def _declare(self, site: Site, labels: Sequence[str], joined: str) -> None:
        """Gives the program the new label, whose size is the product of the others'."""
        program, kernel = site.program, site.kernel
        definition = joined_label(joined, labels)
        known = program.host.definitions()
        if not is_identifier(joined):
            raise site.error(f"'{joined}' is not a name for a label", NAMES_HINT)
        if definition not in known:
            if joined in (*program.labels(), *program.functions(), *program.tensor_values()):
                raise site.error(
                    f"'{joined}' is already the name of a label or a function",
                    "choose a new name for the joined label",
                )
            op = host.DefineOp(definition)
            op.location = site.location or program.host.location
            program.host.define(op)
            program.host.labels = name_array([*program.labels(), joined])
        used = {label.data for label in kernel.labels} | {joined}
        kernel.labels = name_array([label for label in program.labels() if label in used])
