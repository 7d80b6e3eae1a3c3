"""`schedule-align-storage`: pads what a function's results take in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import host
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Sizes
from dt_mlir.scheduling.storage import storage_of

_MULTIPLES = Sizes(least=1)


@dataclass(frozen=True)
class AlignStoragePass(Directive):
    """Pads the storage of an unfused function: labels' extents become multiples of numbers.

    Rows then start at multiples, so that the kernels that read them move more bytes at once. Where
    the function's own tiles are multiples as well, its kernel fills the padding with zeros, and
    readers whose tiles divide the numbers need no masks. Results do not change. Halide:
    `align_storage`.

    ```
    %f = host.alloc f[x, y](%x, %y)   ->   %y_extent = host.round_up %y to 64
                                           %f = host.alloc f[x, y](%x, %y_extent)
    ```
    """

    name = "schedule-align-storage"
    phase: ClassVar[Phase] = Phase.STORAGE
    decides_bits: ClassVar[bool] = False

    multiples: tuple[str, ...] = parameter(
        _MULTIPLES, "The labels whose extents are padded, each with the number."
    )

    def rewrite(self, site: Site) -> None:
        alloc, axes = storage_of(site)
        for label, multiple in _MULTIPLES.items(self.multiples):
            if label not in axes:
                raise site.error(
                    f"'{label}' is not a label of '{self.function}'",
                    did_you_mean(label, axes) or f"it has {', '.join(axes)}",
                )
            axis = axes.index(label)
            known = alloc.alignment[axis]
            if known not in (1, multiple):
                raise site.error(
                    f"the extent of '{label}' is already a multiple of {known}, "
                    f"which contradicts {multiple}",
                    "leave one of them out", "align_storage",
                )  # fmt: skip
            if known == 1 and multiple > 1:
                padded = host.RoundUpOp(alloc.extents[axis], multiple)
                padded.result.name_hint = f"{label}_extent"
                Rewriter.insert_op(padded, InsertPoint.before(alloc))
                alloc.operands[axis] = padded.result
