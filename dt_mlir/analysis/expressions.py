"""Groups the scalar operations of a `loop` kernel into expressions: one `tile.map` for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from dt_mlir.analysis.nests import write_to
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.dialects import loop
from dt_mlir.traversal import captured_by, operations

_OWN = loop.ReadOp | loop.SizeOp | loop.LocalOp | loop.RunningOp | loop.PrefixOp
"""The operations that are lowered by themselves, and end expressions."""


class Expressions:
    """Groups the scalar operations of a kernel into expressions.

    An operation belongs to the expression of its only user if both depend on the same loops, so
    that neither can be hoisted without the other, and nothing in the kernel computes the same, so
    that common subexpressions stay apart until `tile-cse` merges them. A constant belongs to the
    expression of its only user.

    Args:
        axes: the axes of the kernel.
    """

    def __init__(self, axes: TileAxes) -> None:
        self._axes = axes
        self._loops: dict[SSAValue, frozenset[loop.LoopLike]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._of_value: dict[SSAValue, int] = {}
        self._root: dict[Operation, Operation] = {}
        self._members: dict[Operation, list[Operation]] = {}
        scalars: list[Operation] = []
        for op in operations(axes.kernel):
            if op.results and not isinstance(op, loop.LoopLike):
                self._visit(op)
                if not isinstance(op, _OWN):
                    scalars.append(op)
        self._count = Counter(self._of_value[op.results[0]] for op in scalars)
        for op in reversed(scalars):
            user = self._only_user(op)
            root = self._root[user] if user is not None and self._joins(op, user) else op
            self._root[op] = root
            self._members.setdefault(root, []).append(op)

    def ending_in(self, op: Operation) -> list[Operation]:
        """Returns the operations of the expression that ends in an operation, in program order.

        The list is empty for an operation that belongs to the expression of its user.
        """
        return self._members.get(op, [])[::-1]

    def _only_user(self, op: Operation) -> Operation | None:
        users = {use.operation for use in op.results[0].uses}
        user = users.pop() if len(users) == 1 else None
        return user if user in self._root else None

    def _joins(self, op: Operation, user: Operation) -> bool:
        """Returns whether an operation belongs to the expression of its only user."""
        value, used = op.results[0], user.results[0]
        axes = self._axes.of(used)
        if not axes or isinstance(op, UnrealizedConversionCastOp):
            return False
        if isinstance(op, arith.ConstantOp):
            return True
        return (
            op.parent is user.parent
            and self._count[self._of_value[value]] == 1
            and axes == self._axes.of(value)
            and self._loops_of(value) == self._loops_of(used)
        )

    def _loops_of(self, value: SSAValue) -> frozenset[loop.LoopLike]:
        """Returns the loops that a value depends on, tiled or not."""
        known = self._loops.get(value)
        if known is None:
            known = self._loops[value] = self._compute_loops(value)
        return known

    def _compute_loops(self, value: SSAValue) -> frozenset[loop.LoopLike]:
        owner = value.owner
        assert isinstance(value, BlockArgument | OpResult)
        if isinstance(owner, Block):
            op = owner.parent_op()
            if isinstance(op, loop.RunningOp):
                return self._loops_of([op.result, *op.sources][value.index])
            return frozenset([op]) if isinstance(op, loop.LoopLike) else frozenset()
        if isinstance(owner, loop.OnlineOp):
            return self._loops_of(owner.yielded[value.index])
        if isinstance(owner, loop.RunningOp):
            values = (*owner.operands, *captured_by(owner), *owner.loop.bounds)
            return frozenset[loop.LoopLike]().union(*map(self._loops_of, values)) - {owner.loop}
        if isinstance(owner, loop.ReadOp) and isinstance(owner.base.owner, loop.LocalOp):
            write = write_to(owner.base)
            renamed = dict(self._axes.renaming(write, owner))
            return frozenset(renamed.get(op, op) for op in self._loops_of(write.value))
        if isinstance(owner, loop.ReduceOp):
            values = (*owner.yielded, *owner.bounds)
            inner = frozenset[loop.LoopLike]().union(*map(self._loops_of, values))
            return inner - {owner}
        operands = owner.operands
        first = self._loops_of(operands[0]) if operands else frozenset[loop.LoopLike]()
        # Most operands depend on the same loops; their set is shared then.
        rest = [loops for loops in map(self._loops_of, operands[1:]) if loops is not first]
        return first.union(*rest) if any(not loops <= first for loops in rest) else first

    def _visit(self, op: Operation) -> None:
        """Numbers the value of an operation; equal values have equal numbers."""
        if isinstance(op, loop.ReadOp):
            base = op.base
            if isinstance(base.owner, loop.LocalOp):
                number = self._number_of(write_to(base).value)
            else:
                values = map(self._number_of, op.indices)
                access = (op.map, op.sizes, op.boundary, op.exterior)
                number = self._number((base, *access, *values))
        elif isinstance(op, arith.ConstantOp):
            number = self._number(op.value)
        else:
            number = self._number(
                (
                    type(op),
                    *op.properties.items(),
                    op.results[0].type,
                    *map(self._number_of, op.operands),
                )
            )
        for result in op.results:
            self._of_value[result] = number

    def _number_of(self, value: SSAValue) -> int:
        known = self._of_value.get(value)
        if known is None:
            known = self._of_value[value] = self._number(self._key(value))
        return known

    def _key(self, value: SSAValue) -> Hashable:
        owner = value.owner
        if isinstance(owner, loop.ReduceOp):
            limit = () if owner.limit is None else (owner.limit,)
            values = map(self._number_of, (*owner.yielded, *owner.bounds, *limit))
            return (owner.kind, owner.label, owner.domain, *values)
        if isinstance(owner, loop.OnlineOp) and isinstance(value, OpResult):
            return owner.label, owner.domain, self._number_of(owner.yielded[value.index])
        if isinstance(owner, Block) and isinstance(op := owner.parent_op(), loop.LoopLike):
            label = op.label_name
            return "index", self._axes.same.get(label, label)
        return value

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))
