"""`schedule-fuse`: makes one loop of nested ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.joined_labels import joined_label
from dt_mlir.analysis.nests import own_loops, writes_of
from dt_mlir.builders.loops import interchange, join, sink_between
from dt_mlir.dialects import loop
from dt_mlir.dialects.formats import name_array
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.labels import NamedNest, named_nests
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
        own = own_loops(site.kernel, writes_of(site.kernel, self.function)[0])
        nests = named_nests(site, labels, own)
        for nest in nests:
            self._check(site, nest)
        self._declare(site, labels, joined)
        for nest, wanted in nests:
            sink_between(nest)
            rest = [op for op in nest if op not in wanted]
            interchange(nest, [*wanted, *rest], site.fused_location)
            join(nest[: len(wanted)], joined)

    def _check(self, site: Site, nest: NamedNest) -> None:
        walked = [op.label_name for op in nest.named]
        if len({*walked}) < len(walked):
            raise site.error(
                f"its loops over {', '.join(walked)} are not over different labels",
                "let each label have a loop of its own",
            )
        for op in nest.named:
            if loop.prefixes_of(op):
                raise site.error(
                    f"'{op.label_name}' is scanned: its loop walks the label in its order",
                    "join other labels",
                )
            if op.origin is not None or op.is_tile:
                raise site.error(
                    f"the loop over '{op.label_name}' is already tiled or split", "join it first"
                )
            if any(isinstance(use.operation, loop.PartOp) for use in op.iv.uses):
                raise site.error(
                    f"'{op.label_name}' numbers the parts of a reduction", "join other labels"
                )
            if any(isinstance(use.operation, loop.DelinearizeOp) for use in op.iv.uses):
                raise site.error(
                    f"the loop over '{op.label_name}' joins labels already",
                    "name all labels in one fuse, as in f.fuse(x, y, z, xyz)",
                )
        for outer, inner in zip(nest.loops, nest.loops[1:]):
            between = [op for op in outer.body.block.ops if op is not inner and op.regions]
            if isinstance(outer, loop.ForOp) and between:
                raise site.error(
                    f"a reduction that does not depend on '{inner.label_name}' is computed between "
                    f"the loops over '{outer.label_name}' and '{inner.label_name}'",
                    "make it a function of its own, or join other labels",
                )

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
            program.declare(definition, site.location or program.host.location)
        used = {label.data for label in kernel.labels} | {joined}
        kernel.labels = name_array([label for label in program.labels() if label in used])
