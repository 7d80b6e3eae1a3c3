"""Operands in an order that follows from what they compute, whichever way they are written.

`a * b` and `b * a` are one product. Functions are looked at in the order in which others read
them, so that the same one of two operands has to come first, whichever is written first.
Expressions are told apart by color refinement (Weisfeiler and Leman, 1968): a tensor is known by
how it is defined, and by what is done with it wherever it is read, and both are worked out again
until no more tensors are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from graphlib import TopologicalSorter
from hashlib import blake2b

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from dt_mlir.autoscheduling.likeness import LABELS
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.formats import symbol_name
from dt_mlir.traversal import operations_of

COMMUTATIVE = (
    arith.AddfOp, arith.MulfOp, arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp,
    arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, arith.MaxSIOp,
    arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp, math.FmaOp,
)  # fmt: skip
"""The operations whose first two operands may be swapped."""
SYMMETRIC = {"eq", "ne", "oeq", "one", "ord", "ueq", "une", "uno"}
"""The comparisons of which this is true, too."""
_SUMS = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
_NAMED = {*LABELS, "source", "map", "domain"}
"""The properties that hold names, or places of names."""


def order_operands(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    """Puts operands that may be swapped in an order that neither names nor the text decide.

    Those that take more steps to compute come first. Among others the texts of their operations
    decide, without names, and where these are equal what the operations are computed of.

    Args:
        module: a program at the `dt` level, which is changed.
        sizes: sizes of labels, which tell apart what is written alike.
    """
    keys = _Keys(module, sizes)
    for op in keys.functions.values():
        _order(op.body.block, keys)


class _Keys:
    """Texts of what operations of a program compute, which are equal where that is the same.

    Arguments are those of `order_operands`.
    """

    def __init__(self, module: ModuleOp, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        found = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
        outputs = [symbol_name(op.function) for op in module.ops if isinstance(op, dt.OutputOp)]
        self.functions = _sorted(found, outputs)
        inputs = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.InputOp)}
        self.colors = {name: f"input {_text(op.type)}" for name, op in inputs.items()}
        """A text for each tensor, by which it is told apart from others."""
        self.colors |= {name: "output" if name in outputs else "" for name in found}
        self._steps = dict.fromkeys(self.colors, 0)
        """The steps that it takes to compute each tensor."""
        self._depths: dict[Operation, int] = {}
        """The steps that it takes to compute what each operation does."""
        self._said: dict[Operation, str] = {}
        """The text of each operation by itself: neither of operands nor of what it reads."""
        self._labels: dict[Operation, dict[str, int]] = {}
        """The numbers of the labels that each operation may use."""
        for name, op in self.functions.items():
            labels = {label: place for place, label in enumerate(op.label_names)}
            self._look_at(op.body.block, labels)
            self._steps[name] = self._depths[_last(op.body.block)]
        self._up: dict[Operation, str] = {}
        """The text of all that each operation computes."""
        told = len({*self.colors.values()})
        before = 0
        while before < told < len(self.colors):
            self._refine()
            before, told = told, len({*self.colors.values()})
        self._compute()

    def place(self, value: SSAValue) -> tuple[int, str, str]:
        """Returns what says where an operand comes among those that it may be swapped with."""
        op = _owner(value)
        return -self._depths[op], self._said[op], self._up[op]

    def _look_at(self, block: Block, labels: dict[str, int]) -> None:
        """Finds what does not change from round to round, under numbers of labels."""
        for op in block.ops:
            inside = labels
            if isinstance(op, dt.ReduceOp):
                inside = {**labels, **{
                    label: len(labels) + place for place, label in enumerate(op.label_names)
                }}  # fmt: skip
            self._labels[op] = inside
            before = [self._depths[_owner(value)] for value in op.operands]
            if isinstance(op, dt.ReadOp):
                before.append(self._steps[op.source_name])
            for region in op.regions:
                self._look_at(region.block, inside)
                before.append(self._depths[_last(region.block)])
            self._depths[op] = max(before, default=0) + 1
            said = [_text(attr) for name, attr in op.properties.items() if name not in _NAMED]
            types = [_text(value.type) for value in op.results]
            self._said[op] = ", ".join([op.name, *self._indices(op, ()), *said, *types])

    def _indices(self, op: Operation, values: Sequence[str]) -> list[str]:
        """Returns the labels of an operation, and its indices, without names.

        Args:
            op: the operation.
            values: the values in its indices; not told apart if there are none.
        """
        numbers = self._labels[op]

        def of(label: str) -> str:
            return f"{numbers.get(label, '')}:{self.sizes.get(label, '')}"

        def indices(
            exprs: Iterable[AffineExpr], labels: Iterable[str], sizes: Iterable[str]
        ) -> list[str]:
            dims, symbols = [*map(of, labels), *values], [*map(of, sizes)]
            return [_index(expr, dims, symbols) for expr in exprs]

        if isinstance(op, dt.ReadOp):
            return indices(op.indices, op.used_labels, op.size_labels)
        if isinstance(op, dt.ReduceOp):
            domain = indices(op.constraints, op.constrained_labels, op.size_labels)
            return [*map(of, op.label_names), *sorted(domain)]
        if isinstance(op, dt.IndexOp | dt.SizeOp | dt.ClampOp):
            return [*map(of, op.used_labels)]
        return []

    def _refine(self) -> None:
        """Tells tensors apart by what is told apart of those that they are defined by, and of those
        that they define."""
        self._compute()
        uses: dict[str, list[str]] = {name: [] for name in self.colors}
        for name, op in reversed(self.functions.items()):
            self.colors[name] = _of(self.colors[name], *sorted(uses[name]))
            self._use(op.body.block, self.colors[name], {}, uses)
        for name in self.colors.keys() - self.functions.keys():
            self.colors[name] = _of(self.colors[name], *sorted(uses[name]))

    def _compute(self) -> None:
        """Finds what operations compute, from what is known of the tensors that they read."""
        for name, op in self.functions.items():
            self._compute_in(op.body.block)
            self.colors[name] = _of(self.colors[name], self._up[_last(op.body.block)])

    def _compute_in(self, block: Block) -> None:
        for op in block.ops:
            for region in op.regions:
                self._compute_in(region.block)
            operands = [self._up[_owner(value)] for value in op.operands]
            inside = [self._up[_last(region.block)] for region in op.regions]
            if isinstance(op, dt.ReadOp):
                inside.append(self.colors[op.source_name])
            if op.operands and isinstance(op, dt.ReadOp | dt.ReduceOp):
                operands = self._indices(op, operands)
            else:
                count = swappable(op)
                operands[:count] = sorted(operands[:count])
            self._up[op] = _of(self._said[op], *operands, "of", *inside)

    def _use(
        self, block: Block, result: str, down: dict[Operation, list[str]],
        uses: dict[str, list[str]],
    ) -> None:  # fmt: skip
        """Finds what is done with what operations compute.

        Args:
            block: the operations.
            result: what is done with what the last one yields.
            down: what is done with what others compute; added to.
            uses: what is done with elements of each tensor; added to.
        """
        for op in reversed(list(block.ops)):
            done = result if op is block.last_op else _of(*sorted(down.get(op, ())))
            own = _of(self._up[op], done)
            for region in op.regions:
                self._use(region.block, own, down, uses)
            count = swappable(op)
            for place, value in enumerate(op.operands):
                use = own if place < count else _of(own, str(place))
                down.setdefault(_owner(value), []).append(use)
            if isinstance(op, dt.ReadOp):
                uses[op.source_name].append(own)


def _order(block: Block, keys: _Keys) -> None:
    """Puts operands in order, and operations in the order in which they are operands."""
    for op in block.ops:
        count = swappable(op)
        found = [*sorted(op.operands[:count], key=keys.place), *op.operands[count:]]
        if found != [*op.operands]:
            op.operands = found
        for region in op.regions:
            _order(region.block, keys)
    order: dict[Operation, None] = {}
    # What nothing uses comes behind what is yielded.
    for root in (*_needed(_last(block)), *block.ops):
        pending = [root]
        while pending:
            needed = [op for op in _needed(pending[-1]) if op not in order]
            if needed:
                pending += reversed(needed)
            else:
                order.setdefault(pending.pop())
    if [*block.ops] == [*order]:
        return
    for op in order:
        op.detach()
    block.add_ops(order)


def _needed(op: Operation) -> list[Operation]:
    """Returns the operations of a block that one of them needs, in the order in which it does."""
    values = (value for inner in op.walk() for value in inner.operands)
    return [_owner(value) for value in values if _owner(value).parent is op.parent]


def _sorted(found: Mapping[str, dt.FuncOp], outputs: Iterable[str]) -> dict[str, dt.FuncOp]:
    """Returns the functions that outputs need, each behind those that it reads."""
    reads: dict[str, list[str]] = {}
    pending = [*outputs]
    while pending:
        name = pending.pop()
        if name not in reads:
            every = (op.source_name for op in operations_of(found[name], dt.ReadOp))
            reads[name] = [other for other in dict.fromkeys(every) if other in found]
            pending += reads[name]
    return {name: found[name] for name in TopologicalSorter(reads).static_order()}


def swappable(op: Operation) -> int:
    """Returns how many of an operation's operands, the first ones, may change places: 0 or 2."""
    if isinstance(op, dt.YieldOp):
        around = op.parent_op()
        swaps = isinstance(around, dt.ReduceOp) and around.kind.data is ReductionKind.DOT
    elif isinstance(op, arith.CmpfOp):
        swaps = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data] in SYMMETRIC
    elif isinstance(op, arith.CmpiOp):
        swaps = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data] in SYMMETRIC
    else:
        swaps = isinstance(op, COMMUTATIVE)
    return 2 if swaps else 0


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _owner(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def _index(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """Returns an index as a text that is the same in whatever order its terms are written."""
    if isinstance(expr, AffineDimExpr):
        return f"[{dims[expr.position] if expr.position < len(dims) else ''}]"
    if isinstance(expr, AffineSymExpr):
        return f"len[{symbols[expr.position]}]"
    if not isinstance(expr, AffineBinaryOpExpr):
        return str(expr)
    terms = [expr.lhs, expr.rhs]
    if expr.kind in _SUMS:
        while any(isinstance(t, AffineBinaryOpExpr) and t.kind is expr.kind for t in terms):
            terms = [
                side for t in terms for side in (
                    (t.lhs, t.rhs) if isinstance(t, AffineBinaryOpExpr) and t.kind is expr.kind
                    else (t,)
                )
            ]  # fmt: skip
    found = [_index(term, dims, symbols) for term in terms]
    return f"({expr.kind.name}: {', '.join(sorted(found) if expr.kind in _SUMS else found)})"


@lru_cache(maxsize=4096)
def _text(attr: Attribute) -> str:
    return str(attr)


def _of(*texts: str) -> str:
    """Returns a short text that stands for others."""
    return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
