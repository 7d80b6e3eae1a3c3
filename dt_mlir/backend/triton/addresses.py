"""Prints the addresses of a kernel's loads and stores."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.joined_indices import JoinedIndex, joined_indices
from dt_mlir.analysis.moving_addresses import MovingAccess, MovingAddresses, MovingIndex, Part
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.alignment import Alignments
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.scalars import constant_of
from dt_mlir.backend.triton.signature import Signature
from dt_mlir.backend.triton.values import ValuePrinter
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import Axis, axes_of


class AddressPrinter(ValuePrinter):
    """Prints the addresses of a kernel.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        origins: collects the operations that code comes from, if they are wanted.
    """

    def __init__(
        self, kernel: GridKernelOp, signature: Signature, origins: Origins | None = None
    ) -> None:
        super().__init__(kernel, signature, origins)
        self.addresses = MovingAddresses(kernel)
        self.named = self.addresses.parts
        self.alignments = Alignments()
        self.moving: dict[Operation, tuple[ast.expr, MovingAccess]] = {}
        """Accesses with the offsets that were computed before a loop."""
        self.offsets: dict[tuple[Block | None, str], ast.expr] = {}
        """The variables of offsets, by the block in which they stand and their text."""

    def pointer(self, op: tile.LoadOp | tile.StoreOp, axes: Sequence[Axis]) -> ast.expr:
        """The pointers of the elements of an access, or the pointer of its element.

        Args:
            op: the access.
            axes: the axes of its tile.
        """
        if op in self.moving:
            fixed, access = self.moving[op]
            moved = [
                MovingIndex((), index.moving, index.number if index.moving else 0)
                for index in access.indices
            ]
            moves = code.total("+", self._terms(op, op.base, moved, axes))
            # Sums of 32 bits take fewer registers than pointers, which products need.
            return code.binary("+", self.values[op.base], code.binary("+", fixed, moves))
        indices = [MovingIndex((Part(index, 1),), (), 0) for index in op.indices]
        terms = self._terms(op, op.base, indices, axes)
        base = self.values[op.base]
        return code.binary("+", base, code.total("+", terms)) if terms else base

    def name_offsets(self, op: scf.ForOp) -> None:
        """Names the offsets that a loop's accesses are moved from; equal ones once.

        Args:
            op: the loop, which is about to be printed.
        """
        for access in self.addresses.accesses.get(op, ()):
            first = len(self.writer.statements)
            offsets = self._named(op, access.op.base, "offsets", self._fixed(access, op))
            self.moving[access.op] = offsets, access
            self._printed(access.op, first)

    def _named(self, op: Operation, base: SSAValue, suffix: str, found: ast.expr) -> ast.expr:
        """The variable of an expression of indices in front of an operation; equal ones once."""
        block, shown = op.parent, code.text(found)
        while block is not None and (block, shown) not in self.offsets:
            block = block.parent_block()
        if block is None:
            block = op.parent
            tensor = self.signature.variables[base].removesuffix("_ptr")
            variable = self.names.fresh(f"{tensor}_{suffix}")
            self.writer.assign(variable, found)
            self.offsets[block, shown] = code.name(variable)
        return self.offsets[block, shown]

    def _fixed(self, access: MovingAccess, loop: scf.ForOp) -> ast.expr:
        """The offsets of an access that are known before a loop."""
        op = access.op
        axes = axes_of(op.result.type if isinstance(op, tile.LoadOp) else op.value.type)
        fixed = [
            MovingIndex(index.fixed, (), 0 if index.moving else index.number)
            for index in access.indices
        ]
        return code.total("+", self._terms(loop, op.base, fixed, axes))

    def _terms(
        self, op: Operation, base: SSAValue, indices: Sequence[MovingIndex], axes: Sequence[Axis]
    ) -> list[ast.expr]:
        """The offsets along the axes of a tensor, without those that are 0.

        Args:
            op: the operation in front of which they are printed.
            base: the tensor.
            indices: an index for each of its axes.
            axes: the axes of the tile.
        """
        lone = [_lone(index) for index in indices]
        strides = self.signature.strides[base]
        terms: list[ast.expr] = []
        for group in joined_indices([None] * len(lone) if self.signature.dynamic else lone):
            if group.value is not None and group.joins:
                joined = self._joined(op, base, group)
                terms.append(self._spread_out(joined, group.value.type, axes))
                continue
            (axis,) = group.axes
            term = self._term(indices[axis], strides[axis], axes)
            terms += [] if term is None else [term]
        return terms

    def _term(self, index: MovingIndex, stride: str, axes: Sequence[Axis]) -> ast.expr | None:
        parts = [p for p in (*index.fixed, *index.moving) if not _is_zero(p.value)]
        if not parts and index.number == 0:
            return None
        total = self.alignments.hinted(self._sum(parts, index.number, axes), parts, axes)
        return code.binary("*", total, code.name(stride))

    def _joined(self, op: Operation, base: SSAValue, group: JoinedIndex) -> ast.expr:
        """The offset along axes that are one where they lie behind each other in memory."""
        value = group.value
        assert value is not None
        own = axes_of(value.type)
        strides = [code.name(stride) for stride in self.signature.strides[base]]
        conditions: list[ast.expr] = []
        for join in group.joins:
            given = join.size
            size = code.constant(given) if isinstance(given, int) else self.values[given]
            behind = code.binary("*", size, strides[join.second])
            conditions.append(code.compare("==", strides[join.first], behind))
        one = code.binary("*", self._sum([Part(value, 1)], 0, own), strides[group.axes[-1]])
        each = [
            code.binary("*", self._sum([Part(index, 1)], 0, own), strides[axis])
            for axis, index in zip(group.axes, group.digits)
        ]
        found = code.conditional(code.total("&", conditions), one, code.total("+", each))
        return self._named(op, base, value.name_hint or "joined", found)

    def _sum(self, parts: Sequence[Part], number: int, axes: Sequence[Axis]) -> ast.expr:
        """A sum of multiples of indices, as wide as offsets."""
        total: ast.expr | None = code.constant(number) if not parts else None
        for part in parts:
            found = self._distances(part.value) if part.from_origin else self.values[part.value]
            if not axes_of(part.value.type) and part.value not in self.tensors:
                found = code.call("tl.cast", found, code.name(self.signature.index))
            size = abs(part.factor)
            found = found if size == 1 else code.binary("*", found, code.constant(size))
            term = self._spread_out(found, part.value.type, axes)
            if total is None:
                total = term if part.factor > 0 else code.negative(term)
            else:
                total = code.binary("+" if part.factor > 0 else "-", total, term)
        assert total is not None
        if parts and number:
            sign = "+" if number > 0 else "-"
            total = code.binary(sign, total, code.constant(abs(number)))
        return total


def _lone(index: MovingIndex) -> SSAValue | None:
    """Returns the value that an index is by itself, or None."""
    if len(index.fixed) != 1 or index.moving or index.number:
        return None
    (part,) = index.fixed
    return part.value if part.factor == 1 and not part.from_origin else None


def _is_zero(value: SSAValue) -> bool:
    known = constant_of(value)
    return known is not None and known.value.data == 0
