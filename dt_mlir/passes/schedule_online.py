"""`schedule-online`: computes all reductions over a label in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import check_written_once, infer_bounds
from dt_mlir.analysis.nests import labels_in, loops_in
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.passes.schedule_online_labels import give_label
from dt_mlir.passes.schedule_online_merge import merge
from dt_mlir.passes.schedule_online_nest import gather, needed_functions, tidy
from dt_mlir.passes.schedule_online_stores import HINT, hoist_store
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Choice, Name

APART = "apart"
"""The place of stored functions unless something else is said."""


@dataclass(frozen=True)
class OnlinePass(Directive):
    """Computes every reduction over a label that a function needs in one pass.

    The functions that it needs for them, and that have the label or reduce over it, are computed in
    its kernel, as are those that reduce over a label which walks the same axes, is no function's
    own, and which no function has beside the other: softmax reads its row twice instead of three
    times, and attention holds no row of weights. A reduction of elements that depend on another
    one, as a sum of exponentials depends on a maximum, is repaired where that one changes, by a law
    that is derived from its elements; if there is none, the directive is refused. A function that
    is an output, that another function reads, or that is read under other labels, is computed
    apart, as before. With `together` those that are outputs, or that kernels behind read, are
    computed in the pass, too, unless they have the label, and stored from there: a mean and a
    variance that both are results need one pass.

    ```
    %t = loop.reduce maximum %k = k of f {…}        %t, %s = loop.online %k = k of f : f32, f32 {
    %s = loop.reduce add %j = k of f {…}      ->      %u = loop.running maximum %a : f32
                                                      %v = loop.running add %p : f32 law scale …
    ```
    """

    name = "schedule-online"
    phase: ClassVar[Phase] = Phase.ALGEBRA

    label: str = parameter(Name("label"), "The label that is reduced over.")
    stored: str = parameter(
        Choice((APART, "together")),
        "Where functions that it needs, and that are stored, are computed.",
        APART,
    )

    def rewrite(self, site: Site) -> None:
        program, kernel = site.program, site.kernel
        if self.label not in program.labels():
            raise site.error(
                f"there is no label '{self.label}'", did_you_mean(self.label, program.labels())
            )
        self._check(site, kernel)
        together = self.stored != APART
        functions, alike = needed_functions(site, self.label, together)
        give_label(site, self.label, alike, [site.function, *functions])
        nest, stored = gather(site, functions)
        if together and not stored:
            raise site.error(
                f"nothing that '{site.function}' needs for it can be stored from there", HINT
            )
        merge(site, nest, self.label)
        for name in stored:
            hoist_store(site, kernel, name)
        tidy(kernel.grid.body.block)
        infer_bounds(kernel)
        check_written_once(kernel)
        assert self.label in labels_in(kernel)

    def _check(self, site: Site, kernel: loop.KernelOp) -> None:
        """Checks that nothing has shaped the loops over the label yet.

        Raises:
            CompileError: if something has.
        """
        site.check_nothing_fused("compute reductions in one pass")
        for op in loops_in(kernel):
            reduces = isinstance(op, loop.ReduceOp) and op.label_name == self.label
            if op.is_outer or (reduces and op.is_tile):
                raise site.error(
                    f"the loop over '{op.label_name}' is already tiled or split",
                    "compute reductions in one pass first",
                )
