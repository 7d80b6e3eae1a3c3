"""Reductions over a label that become one loop."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineSetAttr, AnyFloat, IndexType, IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.builders.indices import build_index
from dt_mlir.builders.loops import interchange
from dt_mlir.diagnostics import Note
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.indices import symbol
from dt_mlir.dialects.numbers import constant
from dt_mlir.element_types import is_float
from dt_mlir.laws.body import Body
from dt_mlir.laws.domains import point_conditions
from dt_mlir.laws.reductions import Insert, Laws, Reduced
from dt_mlir.laws.terms import NotSeparable
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import captured_by

Domain = tuple[AffineSetAttr | None, tuple[SSAValue, ...]]


def merge(site: Site, nest: Sequence[loop.ForOp], label: str) -> None:
    """Makes one loop of the reductions over a label in the innermost block of a nest.

    Args:
        site: the function, and the directive.
        nest: the loops of the function, outermost first, with nothing between them.
        label: the label.

    Raises:
        CompileError: if there is no such reduction, or no law repairs one.
    """
    inside = nest[-1].body.block if nest else site.kernel.grid.body.block
    found = [op for op in inside.ops if isinstance(op, loop.ReduceOp) and _is_merged(op, label)]
    if not found:
        raise site.error(
            f"'{site.function}' needs no reduction over '{label}' that others could join",
            "name a label that it, or what it reads, is reduced over",
        )
    _Merge(site, nest, inside, found).run()


def _is_merged(op: loop.ReduceOp, label: str) -> bool:
    if op.label_name != label or op.kind is None:
        return False
    return not (op.named_kind.is_arg and (op.domain is not None or op.extreme is not None))


class _Merge:
    """The reductions over a label that become one loop.

    Args:
        site: the function, and the directive.
        nest: the loops of the function.
        inside: the block of the reductions.
        reductions: the reductions, in program order.
    """

    def __init__(
        self,
        site: Site,
        nest: Sequence[loop.ForOp],
        inside: Block,
        reductions: Sequence[loop.ReduceOp],
    ) -> None:
        self.site, self.nest, self.inside, self.reductions = site, nest, inside, reductions
        first = reductions[0]
        self.label = first.label_name
        self.block = Block(arg_types=[IndexType()])
        self.block.args[0].name_hint = first.iv.name_hint
        location = site.location or first.location
        self.body = Body(self.block, location)
        domains = {_domain_of(op) for op in reductions}
        self.shared: Domain | None = domains.pop() if len(domains) == 1 else None
        """The domain of all reductions; None if they differ."""
        whole = self.shared is not None and self.shared[0] is None
        self.online: loop.OnlineOp | None = None
        """The loop, once it stands in its place."""
        self.points = self._point_conditions()
        has_point = None if self.points is None else self._has_point
        visits_all = whole or self.shared is None
        self.laws = Laws(self.body, self._size if visits_all else None, whole, has_point)
        self.values: dict[SSAValue, SSAValue] = {}
        """The values of the body that stand for those of the block."""
        self.reduced: dict[loop.ReduceOp, list[Reduced]] = {}
        self.needed: dict[Operation, None] = {}
        """The operations of the block that the loop uses."""
        self.dependent = self._dependent()

    def _dependent(self) -> set[SSAValue]:
        """Returns the values of the block that depend on what is reduced."""
        found: set[SSAValue] = set()
        for op in self.inside.ops:
            used = {*op.operands, *captured_by(op)}
            if op in self.reductions or not found.isdisjoint(used):
                found.update(op.results)
        return found

    def run(self) -> None:
        for op in self.reductions:
            self.reduced[op] = self._reduce(op)
        results = [result for op in self.body.running for result in op.results]
        last = loop.YieldOp(*results)
        last.location = self.body.location
        self.block.add_op(last)
        types = [result.type for result in results]
        region = Region(self.block)
        online = loop.OnlineOp(self.label, self.site.function, region, types)
        online.location = self.body.location
        if self.shared is not None and self.shared[0] is not None:
            domain, bounds = self.shared
            for value in bounds:
                self._need(value)
            assert domain is not None
            online.take_domain(domain, bounds)
        self._place(online)
        self.online = online
        self._finish(online, results)

    # Elements

    def _reduce(self, op: loop.ReduceOp) -> list[Reduced]:
        self.values[op.iv] = self.block.args[0]
        for inner in op.body.block.ops:
            if not isinstance(inner, loop.YieldOp):
                self._clone(inner)
        elements = [self._inner(value) for value in op.yielded]
        kind, body = op.named_kind, self.body
        if kind.is_arg and len(elements) == 1:
            # One over further labels gives its index itself.
            elements.append(body.value(arith.IndexCastOp(self.block.args[0], i64)))
        elif self.shared is None and op.domain is not None:
            kind, elements = self._masked(op, elements)
        try:
            return self.laws.reduce(kind, elements, op.result.type)
        except NotSeparable as error:
            place = error.value.owner
            located = place if isinstance(place, Operation) else op
            shown = self.site.error(
                f"the {_shown(op)} over '{self.label}' cannot be repaired where what its elements "
                f"depend on changes: {error.reason}",
                error.hint or f"leave out {self.site.function}.online({self.label})",
            )
            shown.notes.append(_note(located))
            raise shown from None

    def _clone(self, op: Operation) -> None:
        for value in (*op.operands, *captured_by(op)):
            self.values[value] = self._inner(value)
        copy = self.body.clone(op, self.values)
        for old, new in zip(op.results, copy.results):
            self.values[old] = new

    def _inner(self, value: SSAValue) -> SSAValue:
        """Returns what stands for a value in the body of the loop."""
        known = self.values.get(value)
        if known is not None:
            return known
        op = value.owner
        if value not in self.dependent:
            self._need(value)
            return value
        assert isinstance(op, Operation)
        if isinstance(op, loop.ReduceOp) and op in self.reduced:
            self.values[value] = self.reduced[op][op.results.index(value)].value
        else:
            self._clone(op)
        return self.values[value]

    def _need(self, value: SSAValue) -> None:
        """Notes that the loop uses a value, and what that is computed from."""
        op = value.owner
        if isinstance(op, Operation) and op.parent is self.inside and op not in self.needed:
            self.needed[op] = None
            for used in (*op.operands, *captured_by(op)):
                self._need(used)

    def _masked(
        self, op: loop.ReduceOp, elements: list[SSAValue]
    ) -> tuple[ReductionKind, list[SSAValue]]:
        """Elements that are neutral where they are not in a domain that others do not have."""
        body, kind = self.body, op.named_kind
        domain = op.domain
        assert domain is not None
        count = domain.data.num_dims - 1
        dims = [self.block.args[0], *(self._inner(value) for value in op.bounds[:count])]
        symbols = [self._inner(value) for value in op.bounds[count:]]
        inside: SSAValue | None = None
        for expr in op.constraints:
            holds = _holds(expr, dims, symbols, body.insert)
            inside = holds if inside is None else body.value(arith.AndIOp(inside, holds))
        assert inside is not None
        if kind is ReductionKind.DOT:
            # A factor that is not finite must not reach a sum from which it is excluded.
            elements = [self._product(elements, op.result.type)]
            kind = ReductionKind.ADD
        neutral = body.value(arith.ConstantOp(identity(kind, elements[0].type)))
        return kind, [body.value(arith.SelectOp(inside, elements[0], neutral))]

    def _product(self, factors: Sequence[SSAValue], type: Attribute) -> SSAValue:
        body = self.body
        if factors[0].type == type:
            left, right = factors
        else:
            assert isinstance(type, AnyFloat)
            left, right = (body.value(arith.ExtFOp(value, type)) for value in factors)
        cls = arith.MulfOp if is_float(type) else arith.MuliOp
        return body.value(cls(left, right))

    def _size(self, type: Attribute) -> SSAValue:
        """Inserts the size of the label as a number."""
        size = self.body.value(loop.SizeOp(self.label))
        whole = self.body.value(arith.IndexCastOp(size, i64))
        assert isinstance(type, AnyFloat)
        return self.body.value(arith.SIToFPOp(whole, type))

    def _point_conditions(self) -> list[AffineExpr] | None:
        """Returns what must be at least 0 for the domain that all have to have a point.

        Without one it is the label. The last symbol is the size of that. None if domains differ, or
        a constraint does not bound the index of the loop by itself.
        """
        if self.shared is None:
            return None
        domain = self.shared[0]
        size = symbol(0 if domain is None else domain.data.num_symbols)
        return point_conditions(self.reductions[0].constraints, size)

    def _has_point(self, insert: Insert) -> SSAValue:
        """Inserts whether the domain that all have has a point, outside of the loop."""
        assert self.points is not None
        online = self.online
        assert online is not None
        # Where loops were interchanged, the loop that is in its place has other indices.
        bounds, domain = list(online.bounds), online.domain
        count = 0 if domain is None else domain.data.num_dims - 1
        size = insert(loop.SizeOp(self.label)).results[0]
        dims, symbols = [size, *bounds[:count]], [*bounds[count:], size]
        found: SSAValue | None = None
        for expr in self.points:
            holds = _holds(expr, dims, symbols, insert)
            found = holds if found is None else insert(arith.AndIOp(found, holds)).results[0]
        return insert(arith.ConstantOp(constant(True, i1))).results[0] if found is None else found

    # The place of the loop

    def _place(self, online: loop.OnlineOp) -> None:
        """Inserts the loop where it is computed once for each element that it depends on."""
        used = {value for op in self.needed for value in (*op.operands, *captured_by(op))}
        used.update(captured_by(online), online.operands)
        inner = [op for op in self.nest if op.iv not in used]
        outer = [op for op in self.nest if op.iv in used]
        if inner:
            # What is interchanged are ranges, so that the innermost loops stay where they are.
            interchange(self.nest, [*outer, *inner])
        place: Operation | None = self.nest[len(outer)] if inner else self.inside.first_op
        assert place is not None
        block = place.parent
        assert block is not None
        first = place
        for op in [op for op in self.inside.ops if op in self.needed]:
            if op is first:
                first = op.next_op or first
                continue
            op.detach()
            block.insert_op_before(op, first)
        block.insert_op_before(online, first)

    def _finish(self, online: loop.OnlineOp, results: Sequence[SSAValue]) -> None:
        """Replaces the reductions by what is computed of the loop's results."""
        builder = Builder(InsertPoint.after(online))

        def insert(op: Operation) -> Operation:
            op.location = self.body.location
            return builder.insert(op)

        values = dict[SSAValue, SSAValue](zip(results, online.outs))
        for result, out in values.items():
            out.name_hint = result.name_hint
        for op in self.reductions:
            for old, reduced in zip(op.results, self.reduced[op]):
                new = self.laws.final(reduced, values, insert)
                new.name_hint = new.name_hint or old.name_hint
                old.replace_all_uses_with(new)
        for op in reversed(self.reductions):
            Rewriter.erase_op(op)
        self.body.release()


def _holds(
    expr: AffineExpr, dims: Sequence[SSAValue], symbols: Sequence[SSAValue], insert: Insert
) -> SSAValue:
    """Inserts whether a constraint holds."""
    block = Block()
    value = build_index(Builder(InsertPoint.at_end(block)), expr, dims, symbols)
    found: dict[SSAValue, SSAValue] = {}
    for op in block.ops:
        copy = insert(op.clone(found))
        found.update(zip(op.results, copy.results))
    block.drop_all_references()
    zero = insert(arith.ConstantOp(IntegerAttr(0, IndexType()))).results[0]
    return insert(arith.CmpiOp(found.get(value, value), zero, "sge")).results[0]


def _domain_of(op: loop.ReduceOp) -> Domain:
    return op.domain, tuple(op.bounds)


def _shown(op: loop.ReduceOp) -> str:
    kind = op.named_kind
    names = {
        ReductionKind.ADD: "sum", ReductionKind.DOT: "sum of products",
        ReductionKind.MUL: "product",
    }  # fmt: skip
    return names.get(kind, f"reduction '{kind}'")


def _note(op: Operation) -> Note:
    return Note("this is the part that it would have to be repaired in", op.location)
