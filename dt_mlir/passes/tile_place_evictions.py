"""`tile-place-evictions`: tells caches which elements a program instance reads again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.reuse import Reuse
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.access import EVICT_FIRST, EVICT_LAST


def _place(kernel: tile.KernelOp) -> None:
    reuse = Reuse(kernel)
    placed = False
    for group in reuse.loads_of_same_elements():
        if len(group) < 2 or reuse.is_shared(group[0].base) or any(map(reuse.is_repeated, group)):
            continue
        *others, last = group
        for op in others:
            op.eviction_policy = StringAttr(EVICT_LAST)
        last.eviction_policy = StringAttr(EVICT_FIRST)
        placed = True
    for op in reuse.stores if placed else ():
        op.eviction_policy = StringAttr(EVICT_FIRST)


@dataclass(frozen=True)
class TilePlaceEvictionsPass(ModulePass):
    """Tells caches which elements a program instance reads again.

    Where an instance goes through elements several times that no other instance reads, caches are
    asked to keep them (`evict_last`), but for the last time; then, and for what the kernel stores,
    they are asked not to (`evict_first`). A row that is normalised in parts comes out of the cache
    the second time. Results do not depend on it.

    ```
    scf.for … { tile.load %A[%row, %col] }
    scf.for … { tile.load %A[%row, %col_1]; tile.store … }
      ->
    scf.for … { tile.load %A[%row, %col] eviction_policy "evict_last" }
    scf.for … { tile.load %A[%row, %col_1] eviction_policy "evict_first"; tile.store … }
    ```
    """

    name = "tile-place-evictions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            _place(kernel)
