"""`schedule-deterministic`: promises that a row's result does not depend on the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.nests import function_labels, writes_of
from dt_mlir.analysis.row_dependence import (
    Dependence,
    dependences,
    kernels_behind,
    labels_of_rows,
)
from dt_mlir.diagnostics import CompileError, Note, did_you_mean
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class DeterministicPass(Directive):
    """Promises that a row's result does not depend on how many rows there are, bit by bit.

    The promise is checked, of the function's kernel and of those whose results it reads. Rows must
    not meet in a reduction, a scan or an index, and a tile of rows has a number. Products over a
    domain are refused: they are summed by elements where some row of their tile is not finite. The
    bits of a row are then decided by the tiles of reductions, the parts of `rfactor`, warps and
    precision, which the schedule fixes. So a space of schedules may leave open only what does not
    decide them: `map`, `num_stages`, `unroll`, `align_storage` and `reorder_storage`. It changes
    nothing else.

    ```
    f.deterministic(x)   ->   the same kernels, or an error
    ```
    """

    name = "schedule-deterministic"
    phase: ClassVar[Phase] = Phase.PROMISES
    decides_bits: ClassVar[bool] = False

    label: str = parameter(Name("label"), "The label of the rows.")

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        labels = function_labels(kernel, writes_of(kernel, self.function)[0])
        if self.label not in labels:
            raise site.error(
                f"'{self.function}' has no label '{self.label}'",
                did_you_mean(self.label, labels)
                or f"it has the labels {', '.join(labels) or 'none'}",
            )
        rows = labels_of_rows(site.program, self.label)
        if rows is None:
            raise site.error(
                f"the size of '{self.label}' follows from others",
                "promise it for a label that names an axis of the inputs",
            )
        for one, row in kernels_behind(site.program, kernel, self.label):
            for found in dependences(one, rows, row):
                raise self._refused(site, one.root.data, found)

    def _refused(self, site: Site, root: str, found: Dependence) -> CompileError:
        """Returns the refusal of a promise that a kernel does not keep."""
        where = "" if root == self.function else f" in the kernel of '{root}'"
        error = site.error(
            f"a row's result may depend on other rows{where}: {found.reason}", found.remedy
        )
        error.notes.append(Note("this is where", found.op.location))
        return error
