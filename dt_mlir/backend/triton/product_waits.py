"""Waits for asynchronous products whose factors are overwritten.

Triton gives tensor cores of Hopper GPUs a left factor that is computed, and not just loaded, in
registers, and does not wait for the last product of a loop's trip before the next trip. ptxas,
until that of CUDA 13.3, then lets the next factor overwrite registers that the last product still
reads. A wait where a trip begins, before factors are computed, keeps the copies of later trips
under way.

A factor that is loaded is in shared memory. Where something else in the loop takes its elements,
too, be it a product of too few rows for those tensor cores, Triton keeps one slot less than a
product under way needs: the copy for a later trip overwrites what the product still reads. A wait
where a trip ends, before that copy, is for all of its products
(https://github.com/triton-lang/triton/issues/6691 describes such a loop).
"""

from __future__ import annotations

from enum import StrEnum

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.boxes import Box
from dt_mlir.analysis.tile_sizes import padded
from dt_mlir.backend.triton.boxes import is_reshaped
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of

ROWS = 64
"""The fewest rows of an asynchronous product, those of padding included."""
_MOVES = (tile.TransposeOp, tile.RenameOp, UnrealizedConversionCastOp)
"""Operations that leave the elements of a factor as they are."""


def _text(name: str, why: str) -> str:
    """Returns a function that waits; the number that it moves makes an instruction of the wait."""
    return f'''
@triton.jit
def {name}():
    # {why}
    wait: tl.constexpr = "wgmma.wait_group.sync.aligned 0; mov.u32 $0, $1;"
    zero = tl.full((), 0, tl.int32)
    tl.inline_asm_elementwise(wait, "=r,r", [zero], dtype=tl.int32, is_pure=False, pack=1)
'''


FINISH = "_finish_products"
"""The name of the function that waits where a trip begins."""
FINISH_TRIP = "_finish_trip"
"""The name of the function that waits where a trip ends."""
TEXTS = {
    FINISH: _text(
        FINISH, "The next left factor takes registers that products under way still read."
    ),
    FINISH_TRIP: _text(
        FINISH_TRIP, "The next copy takes shared memory that products under way still read."
    ),
}
"""The texts of both."""


class Wait(StrEnum):
    """The function with which a trip of a loop waits for products, and its place."""

    BEGIN = FINISH
    """Before everything else: for those of the trip before."""
    END = FINISH_TRIP
    """Behind everything else: for its own."""


def waiting_loops(
    kernel: GridKernelOp, boxes: dict[Operation, Box]
) -> dict[scf.ForOp, Wait]:
    """Returns the loops that wait for products, and where their trips do.

    Args:
        kernel: the kernel.
        boxes: its accesses that go through descriptors.
    """
    found: dict[scf.ForOp, Wait] = {}
    for product in operations_of(kernel, tile.DotOp):
        loop = product.parent_op()
        while loop is not None and not isinstance(loop, scf.ForOp):
            loop = loop.parent_op()
        if loop is None:
            continue
        if any(_is_loaded_for_others(factor, loop) for factor in (product.lhs, product.rhs)):
            found[loop] = Wait.END
        elif _is_computed(product.lhs, loop, boxes):
            found.setdefault(loop, Wait.BEGIN)
    return found


def _is_loaded_for_others(factor: SSAValue, loop: scf.ForOp) -> bool:
    """Returns whether a trip of a loop loads a factor, and more than such products take it."""
    op = factor.owner
    while isinstance(op, _MOVES):
        op = op.operands[0].owner
    if not isinstance(op, tile.LoadOp) or not loop.is_ancestor(op):
        return False
    pending: list[Operation] = [op]
    products = set[bool | str]()
    for moved in pending:
        for use in moved.results[0].uses:
            if isinstance(use.operation, _MOVES):
                pending.append(use.operation)
            elif isinstance(use.operation, tile.DotOp):
                products.add(_is_asynchronous(use.operation))
            else:
                return True
    return len(products) > 1


def _is_asynchronous(product: tile.DotOp) -> bool | str:
    """Returns whether a product has the rows of an asynchronous one; the label that decides it.

    Rows and columns are the last axes of its result, behind those of a batch.
    """
    rows = axes_of(product.result.type)[-2].extent
    return rows if isinstance(rows, str) else padded(rows) >= ROWS


def _is_computed(factor: SSAValue, loop: scf.ForOp, boxes: dict[Operation, Box]) -> bool:
    """Returns whether each trip of a loop has a factor in registers, without having waited."""
    op = factor.owner
    while isinstance(op, _MOVES):
        op = op.operands[0].owner
    if not isinstance(op, Operation) or not loop.is_ancestor(op):
        # What is carried from trip to trip goes through shared memory.
        return False
    if isinstance(op, tile.LoadOp):
        box = boxes.get(op)
        return _is_corrected(op, box is not None) or (box is not None and is_reshaped(box, op))
    return not _needs_product(op, loop)


def _is_corrected(op: tile.LoadOp, copied: bool) -> bool:
    """Returns whether elements are set after they were loaded, outside of a tensor or of masks."""
    other = op.fill if op.pad is None else op.pad
    if op.fill is not None and str(op.fill) != str(other):
        return True
    return copied and other is not None and bool(other.value.data)


def _needs_product(op: Operation, loop: scf.ForOp) -> bool:
    """Returns whether an operation's operands are computed of a product in a loop.

    Triton waits for that product, and so for all before it, to compute them.
    """
    pending, seen = [op], {op}
    while pending:
        current = pending.pop()
        if isinstance(current, tile.DotOp):
            return True
        for nested in current.walk():
            for operand in nested.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and loop.is_ancestor(owner) and owner not in seen:
                    seen.add(owner)
                    pending.append(owner)
    return False
