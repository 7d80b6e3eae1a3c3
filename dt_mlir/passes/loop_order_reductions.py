"""`loop-order-reductions`: puts the tiled loops of a product innermost."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.analysis.nests import reduction_nests
from dt_mlir.builders.loops import interchange
from dt_mlir.dialects import loop


def order_reductions(kernel: loop.KernelOp) -> None:
    """Puts the tiled loops of each product of a kernel innermost."""
    for nest in reduction_nests(kernel):
        if nest[-1].is_dot and not any(op.domain is not None for op in nest):
            interchange(nest, sorted(nest, key=lambda op: op.is_tile))


@dataclass(frozen=True)
class LoopOrderReductionsPass(ModulePass):
    """Puts the tiled loops of a product innermost, so that a dot of tiles carries it out.

    The order in which a program lists the labels of a sum has no meaning; a dot needs the loop
    over its depth to be the innermost one. Loops of which one says where another starts keep their
    order, as do those of a domain.

    ```
    loop.reduce add %c = c step 16 tile of f   ->   loop.reduce add %r = r of f
      loop.reduce dot %r = r of f                     loop.reduce dot %c = c step 16 tile of f
    ```
    """

    name = "loop-order-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, loop.KernelOp):
                order_reductions(kernel)
