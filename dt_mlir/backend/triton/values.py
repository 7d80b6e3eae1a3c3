"""Names, shapes and indices of the values of a kernel in Triton's terms."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.signature import Signature
from dt_mlir.backend.triton.widths import narrow_operand
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names

INLINE = 60
"""The longest expression, in characters, that stands inside another."""


class ValuePrinter:
    """Prints what the operations of a kernel give as expressions and variables.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        origins: collects the operations that code comes from, if they are wanted.
    """

    def __init__(
        self, kernel: GridKernelOp, signature: Signature, origins: Origins | None = None
    ) -> None:
        self.origins = origins
        self.kernel = kernel
        self.signature = signature
        self.names = signature.names
        self.writer = code.Writer()
        self.values: dict[SSAValue, ast.expr] = {}
        self.tensors: set[SSAValue] = set()
        self.named: Collection[SSAValue] = ()
        """Values that are variables wherever they are used."""

    def _printed(self, op: Operation, first: int) -> None:
        """Notes what was printed of an operation.

        Args:
            op: the operation.
            first: the number of statements that the writer held before.
        """
        if self.origins is not None:
            made = [self.values[result] for result in op.results if result in self.values]
            self.origins.note(op, [*self.writer.statements[first:], *made])

    # Names and inlining

    def _variable(self, value: SSAValue, default: str) -> str:
        # Text loses the numbers that tell equal hints apart, so they must not count.
        hint = re.sub(r"(_\d+)+$", "", value.name_hint or "") or default
        hint = re.sub(r"\W", "_", hint)
        return self.names.fresh(hint if not hint[0].isdigit() else default)

    def _define(self, value: SSAValue, expression: ast.expr, default: str = "value") -> None:
        """Binds a value: in place where it is used once, nearby and short, else as a variable."""
        uses = list(value.uses)
        user = uses[0].operation if len(uses) == 1 else None
        nearby = user is not None and user.parent is self._block_of(value)
        nearby = nearby and value not in self.named
        yielded = nearby and isinstance(user, tile.YieldOp | scf.YieldOp)
        short = len(code.text(expression)) <= INLINE and not self._must_name(user)
        if yielded or (nearby and short):
            self.values[value] = expression
        else:
            self._assign(value, expression, default)

    def _must_name(self, user: Operation | None) -> bool:
        """Returns whether an operand reads better as a name."""
        return isinstance(user, tile.DotOp)

    def _assign(self, value: SSAValue, expression: ast.expr, default: str) -> None:
        if not value.uses:
            return
        variable = self._variable(value, default)
        self.writer.assign(variable, expression)
        self.values[value] = code.name(variable)

    def _block_of(self, value: SSAValue) -> Block | None:
        owner = value.owner
        return owner if isinstance(owner, Block) else owner.parent

    def _operands(self, op: Operation, far: bool) -> Callable[[SSAValue], ast.expr]:
        """Returns what gives the operands of an operation, as wide as it needs them.

        Args:
            op: a scalar operation.
            far: whether indices may be larger than the sizes of tensors.
        """
        narrow = narrow_operand(op, far)

        def shown(value: SSAValue) -> ast.expr:
            found = self.values[value]
            if value is not narrow:
                return found
            return code.call("tl.cast", found, code.name(self.signature.index))

        return shown

    def _is_tensor(self, value: SSAValue) -> bool:
        """Returns whether a value is surely a tensor of Triton's (an index may be a number)."""
        return bool(axes_of(value.type)) or value in self.tensors

    # Shapes

    def _extent(self, axis: Axis) -> ast.expr:
        if isinstance(axis.extent, str):
            return code.name(self.signature.tiles[axis.extent])
        return code.constant(axis.extent)

    def _shape(self, type: Attribute) -> ast.expr:
        return code.tuple_of([self._extent(axis) for axis in axes_of(type)])

    def _spread(self, value: SSAValue, axes: Sequence[Axis]) -> ast.expr:
        """A value with its axes in an order, and axes of one element for those that it lacks."""
        return self._spread_out(self.values[value], value.type, axes)

    def _spread_out(self, found: ast.expr, type: Attribute, axes: Sequence[Axis]) -> ast.expr:
        names = axis_names(type)
        order = [names.index(axis.name) for axis in axes if axis.name in names]
        if order != sorted(order):
            found = transposed(found, order)
        return code.new_axes(found, [axis.name in names for axis in axes])

    def _distances(self, value: SSAValue) -> ast.expr:
        """The distances of the indices of a range from its origin."""
        op = value.owner
        assert isinstance(op, tile.RangeOp | tile.JoinedRangeOp)
        found = code.call("tl.arange", code.constant(0), self._extent(op.axis))
        if op.origin_of(value) not in self.tensors:
            # What comes from the program's id is wide already; a sum is widened before it wraps.
            found = code.method(found, "to", code.name(self.signature.index))
        if isinstance(op, tile.JoinedRangeOp):
            found = self._side(op, op.side_of(value), found)
        elif op.stride > 1:
            found = code.binary("*", found, code.constant(op.stride))
        return found

    def _side(self, op: tile.JoinedRangeOp, number: int, points: ast.expr) -> ast.expr:
        """The distances of points of a box from its origin, along one of its sides."""
        behind, extent = math.prod(op.extents[number + 1 :]), op.extents[number]
        if behind > 1:
            points = code.binary("//", points, code.constant(behind))
        return code.binary("%", points, code.constant(extent)) if number else points


def transposed(value: ast.expr, order: Sequence[int]) -> ast.expr:
    """A tile with its axes in another order.

    Args:
        value: the tile.
        order: the numbers of its axes.
    """
    if len(order) == 2:
        return code.call("tl.trans", value)
    return code.call("tl.permute", value, code.tuple_of([code.constant(n) for n in order]))
