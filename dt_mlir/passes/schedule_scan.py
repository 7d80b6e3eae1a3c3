"""`schedule-scan`: computes reductions up to each index of a label in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.nests import loops_in, own_loops, writes_of
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.builders.indices import build_index
from dt_mlir.builders.loops import interchange, sink_between
from dt_mlir.builders.reductions import combine, product_of
from dt_mlir.diagnostics import did_you_mean, has_location
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import add, dimension, multiply, number, substitute, symbol
from dt_mlir.dialects.loop import Index
from dt_mlir.dialects.numbers import constant
from dt_mlir.passes.schedule_fuse_at_copies import bind
from dt_mlir.passes.schedule_scan_factors import Factor, depends, find_factor, without
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name
from dt_mlir.traversal import captured_by, operations_of


@dataclass(frozen=True)
class _Prefix:
    """A reduction over all indices up to one of the function's, or from one on."""

    op: loop.ReduceOp
    shift: int
    """The last index that is reduced, or the first, relative to the function's."""
    descending: bool
    """True if indices from one on are reduced."""
    others: list[AffineExpr]
    """The other constraints of the domain."""
    factor: Factor | None = None
    """The product that each element has up to the index."""


@dataclass(frozen=True)
class ScanPass(Directive):
    """Computes reductions up to each index of a label in one pass.

    `c[x] = rsum(A[j], j, j <= x)` with `c.scan(x)` walks `x` once and adds one element to the sum
    in each step; without it each `x` has a loop over `j`. `j < x` leaves the index itself out,
    `j >= x` and `j > x` reduce from the end on. Tiles of `x` are scanned at once, and the
    combination of all tiles before is carried on. Other conditions select elements. Sums, products,
    extremes, `rany` and `rall`. Elements of a sum may have a product from behind their own index to
    `x` as a factor, `rsum(B[j] * rprod(A[i], i, i > j, i <= x), j, j <= x)`: from one index to the
    next all are multiplied by the same, so that pairs of a factor and a sum are scanned. The loop
    walks the whole label, so that `x` is in no block, but for a scan in chunks (`rfactor`). Triton:
    `associative_scan`.

    ```
    %s = loop.reduce add %j = j of c where (%x) {   ->   %a = loop.read %A[%x]
      %a = loop.read %A[%j]                              %s = loop.prefix add %a along %x : f32
    ```
    """

    name = "schedule-scan"
    phase: ClassVar[Phase] = Phase.SCANS

    label: str = parameter(Name("label"), "The label up to whose indices is reduced.")

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        own = own_loops(kernel, writes_of(kernel, self.function)[0])
        walked = own.get(self.label)
        if not isinstance(walked, loop.ForOp):
            raise site.error(
                f"'{self.function}' has no loop over '{self.label}'",
                did_you_mean(self.label, own)
                or f"it has loops over {', '.join(own) or 'no label'}",
            )
        self._check(site, kernel)
        # The loop of a scan stands innermost, where two cannot.
        for other in operations_of(kernel, loop.PrefixOp):
            if other.loop is not walked:
                raise site.error(
                    f"'{self.function}' is scanned along '{other.loop.label_name}' already",
                    f"define what is reduced up to each '{self.label}' as a function, "
                    "and scan that",
                )
        found: list[_Prefix] = []
        for op in operations_of(walked, loop.ReduceOp):
            if any(prefix.factor is not None and prefix.factor.op is op for prefix in found):
                continue
            prefix = self._prefix(site, op, walked)
            if prefix is not None:
                found.append(prefix)
        if not found:
            raise site.error(
                f"'{self.function}' reduces nothing up to each '{self.label}'",
                self._hint(site, kernel),
            )
        if len({prefix.descending for prefix in found}) > 1:
            raise site.error(
                f"it reduces both up to each '{self.label}' and from it on",
                "define a function for each direction",
            )
        walked = self._innermost(site, kernel, walked, found)
        for prefix in found:
            self._replace(site, prefix, walked)

    def _hint(self, site: Site, kernel: loop.KernelOp) -> str:
        """Returns what helps where nothing is left to be scanned."""
        if operations_of(kernel, loop.PrefixOp):
            return "it is scanned already"
        if operations_of(kernel, loop.OnlineOp):
            return f"'{self.function}.online' computes the reductions in one pass: leave it out"
        for (function, label), parts in site.program.parts.items():
            if function == self.function:
                return (
                    f"'{parts}' reduces '{label}' in parts: leave that out; rfactor of "
                    f"'{self.label}', as in {self.label}:{self.label}_in/4096, scans in chunks"
                )
        return f"write a condition, as in 'rsum(…, j, j <= {self.label})'"

    def _check(self, site: Site, kernel: loop.KernelOp) -> None:
        """Checks that nothing has shaped the loops yet.

        Raises:
            CompileError: if something has.
        """
        site.check_nothing_fused("scan")
        shaped = any(op.is_tile or op.origin is not None for op in loops_in(kernel))
        joined = operations_of(kernel, loop.DelinearizeOp)
        if shaped or joined or kernel.grid.label_names:
            raise site.error(
                f"the loops of '{site.function}' are already tiled, split, joined or blocked",
                "scan first",
            )

    def _prefix(self, site: Site, op: loop.ReduceOp, walked: loop.ForOp) -> _Prefix | None:
        """Returns what a reduction reduces up to each index; None if it does not.

        Raises:
            CompileError: if it is another domain that moves with the index.
        """
        if op.domain is None or walked.iv not in op.bounds:
            return None
        count = op.domain.data.num_dims - 1
        place = 1 + list(op.bounds[:count]).index(walked.iv)
        moving = [expr for expr in op.constraints if place in expr.used_dims()]
        label = op.label_name
        if op.kind is None or op.named_kind.is_arg:
            raise site.error(
                f"'{op.kind and op.named_kind}' over '{label}' is not scanned",
                "scan sums, products, extremes, 'rany' or 'rall'",
            )
        if isinstance(op.parent_op(), loop.ReductionLoop):
            raise site.error(
                f"the reduction over '{label}' is computed for each index of another one",
                "define it as a function, and scan that",
            )
        for shift in (0, -1):
            up = add(_difference(place), number(shift))
            down = add(multiply(_difference(place), number(-1)), number(shift))
            for wanted, descending in ((up, False), (down, True)):
                if [collected(expr) for expr in moving] == [collected(wanted)]:
                    rest = [expr for expr in op.constraints if expr not in moving]
                    first = -shift if descending else shift
                    factor = self._factor(site, op, walked, first, descending, rest)
                    return _Prefix(op, first, descending, rest, factor)
        raise site.error(
            f"the domain of '{label}' does not begin or end at '{self.label}' alone",
            f"scan conditions such as '{label} <= {self.label}' or '{label} > {self.label}'",
        )

    def _factor(
        self,
        site: Site,
        op: loop.ReduceOp,
        walked: loop.ForOp,
        shift: int,
        descending: bool,
        others: Sequence[AffineExpr],
    ) -> Factor | None:
        """Returns the product through which elements depend on the label, if they do.

        Raises:
            CompileError: if they depend on it otherwise.
        """
        if not depends(captured_by(op), walked.iv):
            return None
        label = op.label_name
        factor = find_factor(op, walked.iv, shift, descending)
        if factor is None:
            raise site.error(
                f"the elements that are reduced over '{label}' depend on '{self.label}'",
                "a scan adds the same element to the reductions of all indices behind it, or one "
                f"times a product from behind '{label}' to '{self.label}': rprod(…, i, "
                + (f"i < {label}, i >= {self.label})" if descending
                   else f"i > {label}, i <= {self.label})"),
            )  # fmt: skip
        if others:
            raise site.error(
                f"other conditions restrict the sum over '{label}', whose elements have factors",
                "choose elements by where(…, …, 0)",
            )
        if descending and not self._same_size(site, label):
            raise site.error(
                f"'{label}' may have more indices than '{self.label}', from whose end the sum "
                "with factors starts",
                "declare the size of one as that of the other, as in "
                f"'RVar {label} = len({self.label})'",
            )
        return factor

    def _innermost(
        self,
        site: Site,
        kernel: loop.KernelOp,
        walked: loop.ForOp,
        found: Sequence[_Prefix],
    ) -> loop.ForOp:
        """Moves the loop over the label into those that what is reduced depends on.

        Returns:
            The loop over the label.
        """
        if all(prefix.op.parent_op() is walked for prefix in found):
            return walked
        (write,) = writes_of(kernel, site.function)
        loops = own_loops(kernel, write).values()
        nest = [op for op in operations_of(kernel, loop.ForOp) if op in loops]
        sink_between(nest)
        order = [*(op for op in nest if op is not walked), walked]
        interchange(nest, order)
        return nest[-1]

    def _replace(self, site: Site, prefix: _Prefix, walked: loop.ForOp) -> None:
        """Replaces a reduction by the combination of the elements of the loop's trips."""
        op, location = prefix.op, site.location or prefix.op.location
        builder = Builder(InsertPoint.before(op))
        kind = ReductionKind.ADD if op.is_dot else op.named_kind
        factor: SSAValue | None = None
        if prefix.factor is None:
            element = self._element(site, prefix, walked, op)
        else:
            element, factor = self._pair(site, prefix, prefix.factor, walked)
        found = loop.PrefixOp(kind, element, walked.iv, op.result.type, prefix.descending, factor)
        found.result.name_hint = op.result.name_hint
        value = builder.insert(found).result
        if prefix.descending and not self._same_size(site, op.label_name):
            value = combine(builder, kind, value, self._tail(prefix, walked))
        op.result.replace_all_uses_with(value)
        Rewriter.erase_op(op)
        for inner in operations_of(walked, Operation):
            if not has_location(inner):
                inner.location = location

    def _pair(
        self, site: Site, prefix: _Prefix, factor: Factor, walked: loop.ForOp
    ) -> tuple[SSAValue, SSAValue]:
        """Inserts the element of a trip, and the factor of the sum before it."""
        op = prefix.op
        rest = without(op, factor)
        element = self._element(site, replace(prefix, op=rest), walked, op)
        Rewriter.erase_op(rest)
        product = _Prefix(factor.op, factor.shift, prefix.descending, factor.others)
        multiplier = self._element(site, product, walked, op)
        builder = Builder(InsertPoint.before(op))
        place, size = add(dimension(0), number(prefix.shift)), symbol(0)
        left = add(size, add(multiply(place, number(-1)), number(-1)))
        differ = not self._same_size(site, op.label_name)

        def where(conditions: Sequence[AffineExpr]) -> SSAValue:
            """Inserts the factor where conditions hold, and 1 elsewhere."""
            return _one_unless(builder, multiplier, conditions, walked, op.label_name)

        if factor.includes_own:
            # What an index out of range adds is 0, whatever the factor is.
            inside = [place] if prefix.shift < 0 else []
            own = where([*inside, left] if prefix.shift > 0 or differ else inside)
            element = product_of(builder, element, own, op.result.type)
        # No factor multiplies the 0 of trips before that of the first element, nor that of the
        # elements behind the end of a tile, from which one walks down.
        earlier = [add(place, number(-1))] if prefix.shift < 0 else []
        if prefix.descending:
            earlier.append(add(left, number(-1)))
        elif differ:
            earlier.append(add(size, number(-1)))
        return element, where(earlier)

    def _element(
        self, site: Site, prefix: _Prefix, walked: loop.ForOp, before: loop.ReduceOp
    ) -> SSAValue:
        """Inserts the element that the trip of an index adds, in front of a reduction."""
        op, shift = prefix.op, prefix.shift
        builder = Builder(InsertPoint.before(before))
        copy = op.clone()
        block = before.parent
        assert block is not None
        block.insert_op_before(copy, before)
        guarded = bool(shift) or not self._same_size(site, op.label_name)
        if guarded:
            reads = operations_of(copy, loop.ReadOp)
            if not self._same_size(site, op.label_name):
                self._check_reads(site, copy, reads)
            for read in reads:
                if read.boundary is None and any(copy.iv is value for value in read.indices):
                    read.boundary = StringAttr(CONSTANT)
                    read.exterior = constant(0, read.result.type)
        bind(copy, copy.iv, Index(add(dimension(0), number(shift)), (walked.iv,), ()))
        values = list(copy.yielded)
        for inner in list(copy.body.block.ops):
            if not isinstance(inner, loop.YieldOp):
                inner.detach()
                block.insert_op_before(inner, copy)
        Rewriter.erase_op(copy)
        element = values[0]
        if op.is_dot:
            element = product_of(builder, values[0], values[1], op.result.type)
        conditions = self._conditions(prefix, walked, guarded, builder)
        if not conditions:
            return element
        inside = conditions[0]
        for condition in conditions[1:]:
            inside = builder.insert(arith.AndIOp(inside, condition)).result
        kind = ReductionKind.ADD if op.is_dot else op.named_kind
        neutral = builder.insert(arith.ConstantOp(identity(kind, element.type))).result
        return builder.insert(arith.SelectOp(inside, element, neutral)).result

    def _check_reads(
        self, site: Site, op: loop.ReduceOp, reads: Sequence[loop.ReadOp]
    ) -> None:
        """Checks that no trip reads an element of what has none: trips of no index read, too.

        Raises:
            CompileError: at the read that might.
        """
        for read in reads:
            if _needs_points(op, read):
                label = op.label_name
                tensor = site.kernel.argument_names[site.kernel.args.index(read.base)]
                raise site.error(
                    f"'{label}' may have no index where '{self.label}' has one, and '{tensor}' is "
                    "read at an index that is computed then",
                    "declare the size of one as that of the other, as in "
                    f"'RVar {label} = len({self.label})'",
                )

    def _conditions(
        self, prefix: _Prefix, walked: loop.ForOp, guarded: bool, builder: Builder
    ) -> list[SSAValue]:
        """Inserts where the index of a trip's element is one, and in the rest of the domain."""
        op = prefix.op
        assert op.domain is not None
        count = op.domain.data.num_dims - 1
        own = build_index(builder, add(dimension(0), number(prefix.shift)), [walked.iv], [])
        dims, symbols = [own, *op.bounds[:count]], list(op.bounds[count:])
        found: list[SSAValue] = []
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))

        def holds(value: SSAValue) -> None:
            if zero.parent is None:
                builder.insert(zero)
            found.append(builder.insert(arith.CmpiOp(value, zero.result, "sge")).result)

        if guarded:
            if prefix.shift < 0:
                holds(own)
            size = builder.insert(loop.SizeOp(op.label_name)).result
            found.append(builder.insert(arith.CmpiOp(own, size, "slt")).result)
        for expr in prefix.others:
            holds(build_index(builder, expr, dims, symbols))
        return found

    def _tail(self, prefix: _Prefix, walked: loop.ForOp) -> SSAValue:
        """Inserts the reduction of the indices that no trip has, in front of the loop."""
        op = prefix.op
        assert op.domain is not None
        _move_in_front(walked, [v for v in (*op.bounds, *captured_by(op)) if v is not walked.iv])
        builder = Builder(InsertPoint.before(walked))
        size = builder.insert(loop.SizeOp(walked.label_name)).result
        copy = op.clone()
        builder.insert(copy)
        count = op.domain.data.num_dims - 1
        sizes = list(op.bounds[count:])
        end = add(symbol(len(sizes)), number(prefix.shift))
        behind = add(dimension(0), multiply(end, number(-1)))
        keep = [d for d in op.bounds[:count] if d is not walked.iv]
        places = [dimension(0)] + [
            dimension(1 + keep.index(d)) if d in keep else number(0) for d in op.bounds[:count]
        ]
        names = [symbol(i) for i in range(len(sizes))]
        rest = [substitute(expr, places, names) for expr in prefix.others]
        copy.set_domain([behind, *rest], keep, [*sizes, size])
        return copy.result

    def _same_size(self, site: Site, label: str) -> bool:
        """Returns whether a label is known to have as many indices as the one that is scanned."""
        program = site.program.host
        first = program.first_of_same()

        def root(name: str) -> str:
            return first.get(name, name)

        if root(label) == root(self.label):
            return True
        for item in program.definitions():
            pair = {root(item.label), *map(root, item.sizes)}
            if list(item.map.results) == [symbol(0)] and pair == {root(label), root(self.label)}:
                return True
        return False


def _needs_points(op: loop.ReduceOp, read: loop.ReadOp) -> bool:
    """Returns whether a read in a reduction takes an element, whatever the reduction's index is."""
    if any(
        isinstance(part, AffineBinaryOpExpr)
        and part.kind in (AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv)
        and not isinstance(part.rhs, AffineConstantExpr)
        for expr in read.map.data.results
        for part in expr.dfs()
    ):
        return True
    if read.boundary is None:
        # What data say is the nearest element that there is; with the index itself nothing is read.
        found = [v.owner for v in read.indices if isinstance(v.owner, Operation)]
        return op.iv not in read.indices and any(map(op.body.block.is_ancestor, found))
    return read.boundary.data != CONSTANT


def _one_unless(
    builder: Builder,
    value: SSAValue,
    conditions: Sequence[AffineExpr],
    walked: loop.ForOp,
    label: str,
) -> SSAValue:
    """Inserts a value where expressions of an index and the size of a label are at least 0; else 1.
    """
    if not conditions:
        return value
    sizes = [builder.insert(loop.SizeOp(label)).result]
    zero = builder.insert(arith.ConstantOp(IntegerAttr(0, IndexType()))).result
    one = builder.insert(arith.ConstantOp(identity(ReductionKind.MUL, value.type))).result
    for expr in conditions:
        index = build_index(builder, expr, [walked.iv], sizes)
        holds = builder.insert(arith.CmpiOp(index, zero, "sge")).result
        value = builder.insert(arith.SelectOp(holds, value, one)).result
    return value


def _move_in_front(walked: loop.ForOp, values: Sequence[SSAValue]) -> None:
    """Moves what computes values that a loop does not change in front of it."""
    for value in values:
        op = value.owner
        if isinstance(op, Operation) and op.parent is walked.body.block:
            _move_in_front(walked, [*op.operands, *captured_by(op)])
            op.detach()
            block = walked.parent
            assert block is not None
            block.insert_op_before(op, walked)


def _difference(place: int) -> AffineExpr:
    """Returns the difference of a dimension and the first one."""
    return add(dimension(place), multiply(dimension(0), number(-1)))
