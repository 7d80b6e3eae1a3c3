"""`schedule-reorder-storage`: lays an unfused function out in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects.formats import name_array, names
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names
from dt_mlir.scheduling.storage import storage_of


@dataclass(frozen=True)
class ReorderStoragePass(Directive):
    """Lays an unfused function out in memory: the axes of the labels, the slowest first.

    The order of a function's labels is what programs write; that of its storage is what its readers
    read fastest. It must name all labels. Results do not change. Halide: `reorder_storage`.

    ```
    %f = host.alloc f[x, y](%x, %y) : …   ->   %f = host.alloc f[x, y](%x, %y) order [y, x] : …
    ```
    """

    name = "schedule-reorder-storage"
    phase: ClassVar[Phase] = Phase.STORAGE
    decides_bits: ClassVar[bool] = False

    order: tuple[str, ...] = parameter(
        Names(), "All labels of the function; the elements of the last one are neighbours."
    )

    def rewrite(self, site: Site) -> None:
        alloc, axes = storage_of(site)
        for label in self.order:
            if label not in axes:
                raise site.error(
                    f"'{label}' is not a label of '{self.function}'",
                    did_you_mean(label, axes) or f"it has {', '.join(axes)}",
                )
        if sorted(self.order) != sorted(axes):
            raise site.error(
                "it names each label of the function once",
                f"'{self.function}' has {', '.join(axes)}",
            )
        if alloc.order is not None and names(alloc.order) != self.order:
            raise site.error(
                f"the storage already has the order {', '.join(names(alloc.order))}",
                "leave one of them out", "reorder_storage",
            )  # fmt: skip
        # The labels of an allocation are the function's own.
        alloc.order = name_array(self.order)
