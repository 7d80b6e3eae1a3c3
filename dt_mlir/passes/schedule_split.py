"""`schedule-split`: makes two nested loops of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.bounds import infer_bounds
from dt_mlir.analysis.nests import loops_in, own_loops, writes_of
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Sizes

_SIZES = Sizes(least=2)


@dataclass(frozen=True)
class SplitPass(Directive):
    """Splits the loop over a label into two, over pieces and over a piece.

    The inner loop keeps the body, and is the one that `tensorize` steps. `reorder` calls the outer
    one `x_outer`. A loop of a reduction cannot be split. Halide, TVM: `split`.

    ```
    loop.for %x = x of f {   ->   loop.for %x_outer = x step 4 of f {
                                    loop.for %x = x in %x_outer size 4 of f {
    ```
    """

    name = "schedule-split"
    phase: ClassVar[Phase] = Phase.ORDER

    sizes: tuple[str, ...] = parameter(
        _SIZES, "The labels whose loops are split, with the number of elements of a piece."
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        loops = own_loops(kernel, writes_of(kernel, self.function)[0])
        for label, size in _SIZES.items(self.sizes):
            if label not in loops:
                raise site.error(
                    f"'{self.function}' has no loop over '{label}' that can be split",
                    did_you_mean(label, [*loops])
                    or f"it has loops over {', '.join(loops) or 'no label'}",
                )
            self._check(site, loops[label], size)
            _split(site, loops[label], size)
        infer_bounds(kernel)

    def _check(self, site: Site, op: loop.LoopLike, size: int) -> None:
        label = op.label_name
        if loop.prefixes_of(op):
            raise site.error(
                f"'{label}' is scanned: its loop walks the whole label",
                f"write tensorize({label}:…), which steps it by tiles",
            )
        if op.is_tile:
            raise site.error(f"the loop over '{label}' is already tiled", "split it first")
        if any(op.origin is outer.iv for outer in loops_in(site.kernel)):
            raise site.error(f"the loop over '{label}' is already split", "split it once")
        if op.extent_size is not None and op.extent_size % size:
            raise site.error(
                f"a block of {op.extent_size} is not a multiple of {size} along '{label}'",
                f"choose a divisor of {op.extent_size}",
            )


def _split(site: Site, inner: loop.LoopLike, size: int) -> None:
    """Puts a loop over pieces around a loop, which then walks a piece."""
    block = Block(arg_types=[IndexType()])
    outer = loop.ForOp(inner.label_name, inner.function_name, Region(block))
    outer.step = IntegerAttr(size, i64)
    outer.location = inner.location = site.fused_location(inner.location)
    outer.iv.name_hint = f"{inner.iv.name_hint or inner.label_name}_outer"
    outer.set_range(inner.origin, inner.extent_size)
    Rewriter.insert_op(outer, InsertPoint.before(inner))
    inner.detach()
    block.add_op(inner)
    inner.set_range(outer.iv, size)
