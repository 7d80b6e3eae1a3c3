"""The contents that block programs store, as terms."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from dt_mlir.analysis.magnitudes import is_surely_moderate
from dt_mlir.certificates.algorithm import integer_element, product, widened
from dt_mlir.certificates.folding import (
    Fold,
    Folding,
    Law,
    carries,
    operands_of,
    replaced,
)
from dt_mlir.certificates.numbering import Numbering
from dt_mlir.certificates.places import EXTREMES, extremes_found, in_order, placed
from dt_mlir.certificates.prefixes import at_single_point, followed, prefix
from dt_mlir.certificates.scalars import Scalars, Value, as_term, operation
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    COMBINING,
    Apply,
    Carried,
    Choice,
    Element,
    Number,
    Piece,
    Reduction,
    Term,
    Unknown,
    combined,
    is_neutral,
    neutral,
    substituted,
    subterms,
)
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of
from dt_mlir.element_types import MODERATE, is_float
from dt_mlir.traversal import operations

MOST_OPERATIONS = 20_000
"""The most operations of a term; a power of integers has more than there is memory for."""


@dataclass(frozen=True)
class Access:
    """An access to a tensor: by every program instance, trip and lane whose mask holds."""

    op: tile.AccessOp
    """The operation."""
    tensor: str
    """The tensor's name."""
    indices: tuple[Integer, ...]
    """An index for each axis."""
    mask: Condition
    """The condition under which it takes place."""
    binders: tuple[Integer, ...]
    """The variables for whose values it is made: blocks, trips and lanes."""
    value: Term | None = None
    """The stored value, if it is a store."""


class Program:
    """The accesses of all instances of a kernel.

    Args:
        kernel: the kernel, with physical axes.
        tensors: the name of what is launched for each argument.
        scalars: evaluates scalar operations.
        padded: for each tensor whose storage is padded with zeros the size of each axis, without
            the padding.
        positive: the scalar arguments of `tile.factors` that are positive and moderate.
    """

    def __init__(
        self,
        kernel: tile.KernelOp,
        tensors: Sequence[str],
        scalars: Scalars,
        padded: Mapping[str, Sequence[Integer]] | None = None,
        positive: Collection[SSAValue] = (),
    ) -> None:
        self.positive = positive
        self.kernel = kernel
        self.padded = padded or {}
        self.scalars = scalars
        self.universe: Universe = scalars.prover.universe
        self.numbering = Numbering(kernel, scalars.prover)
        self.values: dict[SSAValue, Value] = {}
        self._counts: dict[int, tuple[int, Value]] = {}
        """The number of operations of terms, by their ids, with them."""
        self.axes: dict[Axis, tuple[Integer, ...]] = {}
        self.sides: dict[Axis, tuple[int, ...]] = {}
        self.extents: dict[str, Integer] = {}
        self.walks: dict[Axis, tuple[tuple[str, Integer], ...]] = {}
        self.trips: list[Integer] = []
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self.laws: list[Law] = []
        self.endless = False
        """True if a loop may not end."""
        self.folds: dict[int, Fold] = {}
        self.names = dict(zip(kernel.args, tensors, strict=True))
        for argument, name in self.names.items():
            if not isinstance(argument.type, MemRefType):
                self.values[argument] = self._argument(name, argument.type)
        self._block(kernel.body.block)

    @staticmethod
    def _argument(name: str, type: Attribute) -> Value:
        if isinstance(type, IntegerType):
            return integer_element(name, (), type)
        return Element(name, (), type)

    def _block(self, block: Block) -> list[Value]:
        for op in block.ops:
            if isinstance(op, scf.YieldOp | tile.YieldOp):
                return [self.values[value] for value in op.operands]
            self._operation(op)
        return []

    def _operation(self, op: Operation) -> None:
        match op:
            case tile.SizeOp():
                self.values[op.result] = self.universe.size(op.label.data)
            case tile.ProgramIdOp():
                self.values[op.result] = self.numbering.instance
            case tile.NumProgramsOp():
                self.values[op.result] = self.numbering.programs
            case tile.AlternateOp():
                found = self.numbering.alternated(*(self.values[x] for x in op.operands))
                unknown = Unknown("a walk that turns around, and not over the blocks of the grid")
                self.values[op.result] = unknown if found is None else found
            case tile.RangeOp():
                self._range(op)
            case tile.JoinedRangeOp():
                self._joined_range(op)
            case tile.MaskOp():
                self.values[op.result] = self._mask(op)
            case tile.LoadOp():
                self.values[op.result] = self._load(op)
            case tile.StoreOp():
                tensor, indices, mask, binders = self._access(op)
                value = as_term(self.values[op.value], element_of(op.value.type))
                self.stores.append(Access(op, tensor, indices, mask, binders, value))
            case tile.MapOp():
                inner = op.body.block
                self.values.update(zip(inner.args, (self.values[x] for x in op.inputs)))
                self.values[op.result] = self._block(inner)[0]
            case tile.FillOp() | tile.BroadcastOp() | tile.TransposeOp():
                self.values[op.result] = self.values[op.value]
            case tile.RenameOp():
                self.values[op.result] = self._renamed(op)
            case tile.ReduceOp():
                type = element_of(op.value.type)
                body = as_term(self.values[op.value], type)
                (axis,) = (a for a in axes_of(op.value.type) if a.name == op.axis.data)
                self.values[op.result] = self._reduced(op.kind.data, body, axis, type)
            case tile.ScanOp() if op.factor is None:
                self.values[op.result] = self._scanned(op)
            case tile.ArgReduceOp():
                self.values[op.extreme], self.values[op.position] = self._place(op)
            case tile.DotOp():
                self.values[op.result] = self._dot(op)
            case tile.FactorsOp():
                self._factors(op)
            case scf.ForOp():
                self._loop(op)
            case _ if op.name.split(".")[0] in ("arith", "math", "elem"):
                self.values[op.results[0]] = self._scalar(op)
            case _:
                self._skip(op, f"what '{op.name}' gives")

    def _factors(self, op: tile.FactorsOp) -> None:
        """Evaluates the factors of a scalar, which stand in one of two orders."""
        type = op.before.type
        scalar = as_term(self.values[op.scalar], op.scalar.type)
        positive = op.scalar in self.positive or is_surely_moderate(op.scalar)
        if isinstance(scalar, Number):
            # The order follows from the number.
            positive = MODERATE[0] <= float(scalar.value.value.data) <= MODERATE[1]
        if type != op.scalar.type:
            scalar = widened(scalar, op.scalar.type, type)
        one = neutral(ReductionKind.MUL, type)
        self.values[op.before], self.values[op.after] = (
            (one, self.scalars.positive(scalar)) if positive else (scalar, one)
        )

    def _scalar(self, op: Operation) -> Value:
        operands = [self.values[x] for x in op.operands]
        if isinstance(op, arith.DivSIOp | arith.RemSIOp) and not any(
            isinstance(x, Term) for x in operands
        ):
            found = self.numbering.taken_apart(*operands)
            if found is not None:
                return found[0] if isinstance(op, arith.DivSIOp) else found[1]
        if isinstance(op, arith.MuliOp) and not any(isinstance(x, Term) for x in operands):
            product = self.numbering.multiplied(*operands)
            return Unknown("a product of so many factors") if product is None else product
        found = self.scalars.apply(op, operands)
        if isinstance(found, Term):
            count = 1 + sum(self._counts.get(id(x), (1, x))[0] for x in operands)
            if count > MOST_OPERATIONS:
                # A term that is used twice counts twice, as where it is compared and shown.
                found, count = Unknown("a value of so many operations"), 1
            self._counts[id(found)] = count, found
        return found

    def _lane(self, axis: Axis) -> tuple[Integer, ...]:
        """Returns the variables of an axis: one, unless it joins the sides of a box."""
        if axis not in self.axes:
            if isinstance(axis.extent, int):
                extent = z3.IntVal(axis.extent)
            else:
                extent = self._padded(axis.extent)
            lane = self.universe.variable(axis.name, lambda v: [v >= 0, v < extent])
            self.axes[axis] = (lane,)
        return self.axes[axis]

    def _padded(self, label: str) -> Integer:
        """Returns the extent that the whole of a label is padded to."""
        if label not in self.extents:
            size = self.universe.size(label)
            most = self.kernel.least_extents.get(label, 1)
            self.extents[label] = self.universe.variable(
                f"{label}_padded", lambda v: [v >= size, v >= most]
            )
        return self.extents[label]

    def _range(self, op: tile.RangeOp) -> None:
        lanes = self._lane(op.axis)
        if op.bound is not None or len(lanes) != 1:
            self.values[op.result] = Unknown("an axis that is not physical yet, or is a box, too")
            return
        origin = self.values[op.origin]
        if isinstance(origin, Term):
            self.values[op.result] = origin
            return
        index = origin + op.stride * lanes[0]
        self.walks[op.axis] = ((op.label.data, index),)
        self.values[op.result] = index

    def _joined_range(self, op: tile.JoinedRangeOp) -> None:
        sides = tuple(op.extents)
        if op.axis not in self.axes:
            self.sides[op.axis] = sides
            self.axes[op.axis] = tuple(
                self.universe.variable(label.data, lambda v, n=extent: [v >= 0, v < n])
                for label, extent in zip(op.labels, sides, strict=True)
            )
        unknown = any(isinstance(self.values[origin], Term) for origin in op.origins)
        if op.bounds or unknown or self.sides.get(op.axis) != sides:
            for result in op.indices:
                self.values[result] = Unknown("an axis that is not physical yet, or another box")
            return
        walks: list[tuple[str, Integer]] = []
        lanes = self.axes[op.axis]
        for lane, label, origin, result in zip(
            lanes, op.labels, op.origins, op.indices, strict=True
        ):
            index = self.values[origin] + lane
            walks.append((label.data, index))
            self.values[result] = index
        self.walks[op.axis] = tuple(walks)

    def _mask(self, op: tile.MaskOp) -> Condition | Term:
        index, bound = self.values[op.index], self.values[op.bound]
        if isinstance(index, Term) or isinstance(bound, Term):
            return Unknown("a mask of an index that is computed from data")
        # Where the emitter prints no mask at all, every lane is let through.
        below = index < bound
        match op.shortcut(self.kernel.dynamic is not None):
            case "divisor":
                assert op.divisor is not None
                return z3.Or(below, bound % op.divisor.value.data == 0)
            case "whole":
                extent = axes_of(op.index.type)[0].extent
                assert isinstance(extent, str)
                return z3.Or(below, bound == self._padded(extent))
            case "end":
                assert op.end is not None
                end = self.values[op.end]
                if isinstance(end, Term):
                    return Unknown("a mask of an index that is computed from data")
                return z3.Or(below, bound >= end)
            case _:
                return below

    def _access(
        self, op: tile.AccessOp
    ) -> tuple[str, tuple[Integer, ...], Condition, tuple[Integer, ...]]:
        assert isinstance(op.base, BlockArgument)
        indices = [self.values[index] for index in op.indices]
        masks = [self.values[mask] for mask in op.masks]
        lanes = [
            lane
            for index in op.indices
            for axis in axes_of(index.type)
            for lane in self._lane(axis)
        ]
        binders = dict.fromkeys([*self.numbering.blocks, *self.trips, *lanes])
        data = any(isinstance(x, Term) for x in [*indices, *masks])
        mask = z3.And(*masks) if masks and not data else z3.BoolVal(True)
        place = () if data else tuple(indices)
        return self.names[op.base], place, mask, tuple(binders)

    def _load(self, op: tile.LoadOp) -> Value:
        tensor, indices, mask, binders = self._access(op)
        inside = [self.values[bound] for bound in op.inside]
        if len(indices) < len(op.indices) or any(isinstance(x, Term) for x in inside):
            self.loads.append(Access(op, tensor, (), mask, binders))
            return Unknown("an element at an index that is computed from data")
        within = z3.And(*inside) if inside else z3.BoolVal(True)
        self.loads.append(Access(op, tensor, indices, z3.And(mask, within), binders))
        type = element_of(op.result.type)
        if isinstance(type, IntegerType):
            return self._loaded_integer(op, tensor, indices, mask, within)
        found: Term = Element(tensor, indices, type)
        if tensor in self.padded:
            inner = self._unpadded(tensor, indices)
            found = Choice(inner, found, neutral(ReductionKind.ADD, type))
        if op.fill is not None:
            found = Choice(within, found, Number(op.fill))
        return found if op.pad is None else Choice(mask, found, Number(op.pad))

    def _loaded_integer(
        self, op: tile.LoadOp, tensor: str, indices: Sequence[Integer], mask: Condition,
        within: Condition,
    ) -> Value:  # fmt: skip
        """Returns loaded integers or truth values as the solver's, which indices may be."""
        type = element_of(op.result.type)
        assert isinstance(type, IntegerType)

        def number(attr: Attribute) -> Value:
            assert isinstance(attr, IntegerAttr)
            value = attr.value.data
            return z3.BoolVal(bool(value)) if type == i1 else z3.IntVal(value)

        found = integer_element(tensor, indices, type)
        if tensor in self.padded:
            zero = number(neutral(ReductionKind.ADD, type).value)
            found = z3.If(self._unpadded(tensor, indices), found, zero)
        for condition, other in ((within, op.fill), (mask, op.pad)):
            if other is not None and not z3.is_true(condition):
                found = z3.If(condition, found, number(other))
        return found

    def _unpadded(self, tensor: str, indices: Sequence[Integer]) -> Condition:
        sizes = self.padded[tensor]
        return z3.And(*(index < size for index, size in zip(indices, sizes, strict=True)))

    def _renamed(self, op: tile.RenameOp) -> Value:
        value = self.values[op.value]
        if isinstance(value, Term) and carries(value):
            return Unknown("what a loop carries, along another axis")
        pairs: list[tuple[Integer, Integer]] = []
        for old, new in zip(axes_of(op.value.type), axes_of(op.result.type)):
            if old != new:
                lanes = self._lane(old), self._lane(new)
                if self.sides.get(old) != self.sides.get(new) or len(lanes[0]) != len(lanes[1]):
                    return Unknown("an axis under the name of another box")
                pairs.extend(zip(*lanes, strict=True))
        if isinstance(value, Term):
            return substituted(value, pairs, self.universe)
        return z3.substitute(value, *pairs) if pairs else value

    def _reduced(self, kind: ReductionKind, body: Term, axis: Axis, type: Attribute) -> Term:
        """Returns the combination of a value along an axis."""
        piece = Piece(self._lane(axis), body, self.walks.get(axis, ()))
        single = at_single_point(kind, type, piece, axis.name, self.universe)
        return combined(kind, type, [piece]) if single is None else single

    def _scanned(self, op: tile.ScanOp) -> Term:
        """Returns the combinations of a value's elements up to each lane of an axis."""
        type = element_of(op.value.type)
        body = as_term(self.values[op.value], type)
        (axis,) = (a for a in axes_of(op.value.type) if a.name == op.axis.data)
        lanes = self._lane(axis)
        if len(lanes) != 1 or carries(body):
            return Unknown("a scan of what a loop carries, or of a box")
        whole = Piece(lanes, body, self.walks.get(axis, ()))
        return prefix(op.kind.data, type, whole, op.reverse is not None, self.universe)

    def _place(self, op: tile.ArgReduceOp) -> tuple[Term, Term]:
        """Returns the extreme element along an axis, and its index."""
        type, kind = element_of(op.value.type), op.kind.data
        body, index = as_term(self.values[op.value], type), self.values[op.index]
        (axis,) = (a for a in axes_of(op.value.type) if a.name == op.axis.data)
        lanes = self._lane(axis)
        extreme = self._reduced(EXTREMES[kind], body, axis, type)
        if isinstance(index, Term) or len(lanes) != 1 or carries(body):
            return extreme, Unknown("the place of an extreme of what a loop carries, or of a box")
        piece = placed(Piece(lanes, body, self.walks.get(axis, ())), index)
        self.laws.extend(in_order([piece], lanes, self.universe))
        return extreme, Reduction(kind, element_of(op.position.type), (piece,))

    def _dot(self, op: tile.DotOp) -> Term:
        given, type = element_of(op.lhs.type), element_of(op.result.type)
        left, right = (as_term(self.values[x], given) for x in (op.lhs, op.rhs))
        axis = axes_of(op.lhs.type)[-1]
        body = product(left, right, given, type)
        found = self._reduced(ReductionKind.ADD, body, axis, type)
        if op.acc is None:
            return found
        cls = arith.AddfOp if is_float(type) else arith.AddiOp
        acc = as_term(self.values[op.acc], type)
        return Apply(operation(cls, type, type), (acc, found))

    def _loop(self, op: scf.ForOp) -> None:
        lower, upper, step = (self.values[x] for x in (op.lb, op.ub, op.step))
        ends = (lower, upper, step)
        body = op.body.block
        if any(isinstance(x, Term) for x in ends):
            self._skip(op, "a loop whose ends are computed from data")
            return
        block = None if op.iter_args else self.numbering.walked(lower, upper, step)
        if block is not None:
            self.values[body.args[0]] = block
            self._block(body)
            self.numbering.end_walk()
            return
        if not self.scalars.prover.implied([], step > 0):
            self.endless = True
            self._skip(op, "a loop whose step may not be positive")
            return
        if self.scalars.prover.implied([], lower >= upper):
            # What the loop carries is what it begins with.
            self.values.update(zip(op.results, (self.values[x] for x in op.iter_args)))
            return
        trip = self.universe.variable("trip", lambda v: [v >= 0, lower + step * v < upper])
        self.values[body.args[0]] = lower + step * trip
        carried = [Carried(op, i) for i in range(len(op.iter_args))]
        self.values.update(zip(body.args[1:], carried))
        self.trips.append(trip)
        first_store = len(self.stores)
        ends = self._block(body)
        self.trips.pop()
        types = [element_of(result.type) for result in op.results]
        firsts = [as_term(self.values[x], t) for x, t in zip(op.iter_args, types)]
        lasts = [as_term(x, t) for x, t in zip(ends, types)]
        # Larger steps are those of ranges, whose lanes say more.
        single = z3.is_int_value(step) and step.as_long() == 1
        sizes = self.universe.sizes.items() if single else ()
        walked = [label for label, size in sizes if size.eq(upper)]
        trips = Piece((trip,), Unknown("a trip"), tuple((x, lower + trip) for x in walked))
        found = [
            self._accumulated(carried[n], firsts[n], lasts[n], types[n], trips)
            for n in range(len(carried))
        ]
        for pair in extremes_found(carried, firsts, lasts, types, trips, self.universe):
            found[pair.number], found[pair.place_number] = pair.extreme, pair.place
            self.laws.extend(pair.laws)
        another = lower + step * (trip + 1) < upper
        self._store_running(first_store, carried, firsts, lasts, trip, another)
        running = {n: x for n, x in enumerate(found) if not isinstance(x, Unknown)}
        # What nothing reads in the end needs no law.
        if any(op.results[n].uses for n in range(len(found)) if n not in running):
            folding = Folding(self.universe, trip, carried, lasts, types, running)
            zeros = {n for n, x in enumerate(firsts) if is_neutral(x, ReductionKind.ADD)}
            for number, result in folding.results(firsts, zeros, self.folds).items():
                found[number] = result
            self.laws.extend(folding.laws)
            self.folds.update(folding.folds)
        self.values.update(zip(op.results, found))

    def _store_running(
        self, start: int, carried: Sequence[Carried], firsts: Sequence[Term],
        lasts: Sequence[Term], trip: Integer, another: Condition,
    ) -> None:  # fmt: skip
        """Says what a loop's stores take from the trips before, as far as that is a combination.

        Args:
            start: the number of the loop's first store.
            carried: the values at the begin of a trip.
            firsts: the values in front of the loop.
            lasts: the values at the end of a trip.
            trip: the variable that counts the trips.
            another: the condition that another trip follows.
        """
        wanted = {
            id(x) for store in self.stores[start:] if store.value for x in subterms(store.value)
        }
        known: dict[int, Term] = {}
        for value, first, last in zip(carried, firsts, lasts, strict=True):
            if id(value) not in wanted:
                continue
            given = [*self.universe.facts(trip), another]
            then = followed(last, given, self.scalars.prover)
            before = self.universe.variable("trip", lambda v: [v >= 0, v < trip])
            ended = substituted(then, [(trip, before)], self.universe)
            type = element_of(value.loop.results[value.position].type)
            found = self._accumulated(value, first, ended, type, Piece((before,), ended))
            if not isinstance(found, Unknown):
                known[id(value)] = found
        for number, store in enumerate(self.stores[start:], start) if known else ():
            if store.value is not None:
                value = replaced(store.value, known)
                self.stores[number] = with_fields(store, value=value)

    def _skip(self, op: Operation, reason: str) -> None:
        """Takes what an operation gives, and what it stores and loads, for unknown."""
        for result in op.results:
            self.values[result] = Unknown(reason)
        for inner in operations(op):
            if isinstance(inner, tile.StoreOp | tile.LoadOp):
                # It is written or read, and nobody knows where and how often.
                assert isinstance(inner.base, BlockArgument)
                tensor = self.names[inner.base]
                mask = self.universe.variable("skipped", lambda _: []) > 0
                found = Access(inner, tensor, (), mask, (), Unknown(reason))
                into = self.stores if isinstance(inner, tile.StoreOp) else self.loads
                into.append(found)

    def _accumulated(
        self, carried: Carried, first: Term, last: Term, type: Attribute, trips: Piece
    ) -> Term:
        """Returns what a loop carries in the end, where each trip combines something with it.

        Args:
            carried: the value at the begin of a trip.
            first: the value in front of the loop.
            last: the value at the end of a trip.
            type: its type.
            trips: the trips, and the labels that they walk.
        """
        if last is carried:
            return first
        if not isinstance(last, Apply) or last.op.name not in COMBINING:
            return Unknown("a value that a loop carries, and that is not a sum or an extreme")
        kind = COMBINING[last.op.name]
        parts = operands_of(last, last.op.name)
        rest = [part for part in parts if part is not carried]
        if len(rest) != len(parts) - 1 or any(carries(part) for part in rest):
            return Unknown("a value that a loop carries, and that depends on another one")
        found = combined(kind, type, [trips.with_body(part) for part in rest])
        if is_neutral(first, kind):
            return found
        if isinstance(first, Reduction) and first.kind is kind:
            return Reduction(kind, type, (*first.pieces, *found.pieces))
        return Apply(last.op, (first, found))


def stores_to(stores: Sequence[Access], tensor: str) -> list[Access]:
    """Returns the stores to a tensor."""
    return [store for store in stores if store.tensor == tensor]
