"""`schedule-unroll-jam`: takes tiles apart, so that parts share what they load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64

from dt_mlir.analysis.nests import labels_in, loops_over
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Sizes

_MOST = 64
"""The most tiles that a tile is taken apart into."""

_FACTORS = Sizes(most=_MOST)


@dataclass(frozen=True)
class UnrollJamPass(Directive):
    """Takes the tiles along a label apart into interleaved tiles, computed side by side.

    Of a tile of 16 elements, `unroll_jam(x:2)` makes one of the elements 0, 2, 4, … and one of the
    elements 1, 3, 5, …. The kernel computes both in the same loops, without a loop over them.
    It writes out the loops of a reduction that `unroll` unrolls whole, and it loads and computes
    once what several tiles, or several trips of such a loop, share. A convolution then loads the
    rows and columns that its windows share once (register blocking). The label must be tiled in
    steps that the number divides, and no reduction walks it. The number 1 leaves the tile as it
    is. MLIR: `affine-loop-unroll-jam`.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {unroll_jam = {x = 2}}
    ```
    """

    name = "schedule-unroll-jam"
    phase: ClassVar[Phase] = Phase.HINTS

    factors: tuple[str, ...] = parameter(
        _FACTORS, "The labels whose tiles are taken apart, with the number of tiles of each."
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        factors = kernel.jam_factors
        for label, factor in _FACTORS.items(self.factors):
            self._check(site, label, factor)
            if factor > 1 and factors.setdefault(label, factor) != factor:
                raise site.error(
                    f"the tiles along '{label}' are already taken apart into {factors[label]}",
                    "leave one of them out", "unroll_jam",
                )  # fmt: skip
        if math.prod(factors.values()) > _MOST:
            shown = " x ".join(map(str, factors.values()))
            raise site.error(
                f"{shown} tiles are more than {_MOST}",
                "take them apart into fewer: each takes registers",
            )
        if factors:
            kernel.unroll_jam = DictionaryAttr(
                {label: IntegerAttr(factor, i64) for label, factor in factors.items()}
            )

    def _check(self, site: Site, label: str, factor: int) -> None:
        """Checks that all loops over a label have tiles that can be taken apart.

        Raises:
            CompileError: if one has not.
        """
        loops = loops_over(site.kernel, label)
        if not loops:
            raise site.error(
                f"there is no loop over '{label}' in the kernel of '{self.function}'",
                did_you_mean(label, labels_in(site.kernel))
                or f"there are loops over {', '.join(labels_in(site.kernel)) or 'no label'}",
            )
        tiles = [op for op in loops if op.is_tile]
        if any(loop.prefixes_of(op) for op in loops):
            raise site.error(
                f"'{label}' is scanned, and its tiles are not taken apart", "name other labels"
            )
        if any(isinstance(op, loop.ReductionLoop) for op in loops):
            raise site.error(
                f"'{label}' is reduced, and its tiles are not taken apart",
                "name labels of the function; 'unroll' unrolls the loops of a reduction",
            )
        if not tiles:
            raise site.error(
                f"the loop over '{label}' has no tile to take apart",
                f"tensorize '{label}' in steps of {factor} or more",
            )
        for op in tiles:
            if not op.step_size:
                raise site.error(
                    f"the tile along '{label}' holds the whole label, whose size is not known",
                    f"tensorize '{label}' in steps of a multiple of {factor}",
                )
            if op.step_size % factor:
                raise site.error(
                    f"a tile of {op.step_size} elements along '{label}' has no {factor} parts of "
                    "one size",
                    f"tensorize '{label}' in a multiple of {factor}",
                )
