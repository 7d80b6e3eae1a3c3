"""`schedule-rename`: calls the labels of a function by other names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr

from dt_mlir.analysis.nests import labels_in, loops_in
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.dialects.formats import is_name_array, name_array, names
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier, value_hint
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Pairs
from dt_mlir.traversal import operations


@dataclass(frozen=True)
class RenamePass(Directive):
    """Calls the labels of a function by other names in the directives behind.

    A name is that of another label of the same size, or a new one. Loops over one label are tiled
    alike, and what is computed in one pass is found by its label: `s.rename(a:i, b:j)` lets the
    loops of `s` be tiled and gathered as those over `i` and `j` are, and `s.rename(k:ks)` lets
    those over `k` have tiles of their own where `s` is fused. Names are changed at once, so that
    `s.rename(i:j, j:i)` exchanges two. The axes of what the function stores have the new names,
    too, but for results, which are the caller's. Values are the same. Halide: `rename`.

    ```
    %s = loop.reduce add %a = a of f {        %s = loop.reduce add %k = k of f {
      %0 = loop.read %A[%x, %a]         ->      %0 = loop.read %A[%x, %k]
    ```
    """

    name = "schedule-rename"
    phase: ClassVar[Phase] = Phase.NAMES

    renamed: tuple[str, ...] = parameter(Pairs(), "The labels, with their new names.")

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        renamed = Pairs.of(self.renamed)
        self._check(site, kernel, renamed)
        self._check_order(site, kernel, renamed)
        for label, name in renamed.items():
            if name not in site.program.labels():
                site.program.declare_same(name, label)
        for op in operations(kernel):
            label, sizes = op.properties.get("label"), op.properties.get("sizes")
            if isinstance(label, StringAttr) and label.data in renamed:
                op.properties["label"] = StringAttr(renamed[label.data])
                for value in (*op.results, *(arg for r in op.regions for arg in r.block.args)):
                    if value.name_hint == value_hint(label.data):
                        value.name_hint = value_hint(renamed[label.data])
            if is_name_array(sizes):
                op.properties["sizes"] = name_array([renamed.get(x, x) for x in names(sizes)])
        site.program.rename_axes(self.function, renamed)
        known = {renamed.get(label, label) for label in names(kernel.labels)}
        known.update(*map(kernel.axes_of, kernel.args))
        kernel.labels = name_array([label for label in site.program.labels() if label in known])

    def _check(self, site: Site, kernel: loop.KernelOp, renamed: Mapping[str, str]) -> None:
        """Checks that labels may have other names.

        Raises:
            CompileError: if they may not.
        """
        own = labels_in(kernel)
        size = site.program.host.first_of_same()
        for label, name in renamed.items():
            if label not in own:
                raise site.error(
                    f"'{self.function}' has no label '{label}'",
                    did_you_mean(label, own) or f"it has {', '.join(own)}",
                )
            if not is_identifier(name):
                raise site.error(f"'{name}' is not a name for a label", NAMES_HINT)
            if name in own and name not in renamed:
                raise site.error(
                    f"'{self.function}' has a label '{name}' already", "choose another name"
                )
            if name not in site.program.labels():
                site.check_new_name(name, "choose another name")
            elif size.get(name, name) != size.get(label, label):
                raise site.error(
                    f"'{name}' has not the size of '{label}'",
                    "name a label that has, or choose a new name",
                )

    def _check_order(
        self, site: Site, kernel: loop.KernelOp, renamed: Collection[str]
    ) -> None:
        """Checks that nothing has used the labels yet.

        Raises:
            CompileError: if something has.
        """
        site.check_nothing_fused("rename labels")
        for op in loops_in(kernel):
            if op.label_name not in renamed:
                continue
            if op.origin is not None or op.is_tile or op.is_outer:
                raise site.error(
                    f"the loop over '{op.label_name}' is already tiled or split", "rename it first"
                )
            if not isinstance(op, loop.ForOp | loop.ReduceOp) or loop.prefixes_of(op):
                raise site.error(
                    f"the loop over '{op.label_name}' already computes reductions in one pass",
                    "rename it first",
                )
        # Both say the sizes of labels that directives make, by their names.
        made = {
            op.label_name
            for other in site.program.kernels for op in loops_in(other) for use in op.iv.uses
            if isinstance(use.operation, loop.DelinearizeOp | loop.PartOp)
        }  # fmt: skip
        for label in renamed:
            if label in made:
                raise site.error(
                    f"'{label}' joins labels, or counts parts of one",
                    "give it another name where it is made",
                )
        if site.program.is_laid_out(self.function):
            raise site.error(
                f"'{self.function}' is already laid out in memory", "rename its labels first"
            )
