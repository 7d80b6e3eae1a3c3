"""The steps of one group of warps, whatever the number of trips of its loops.

Before each trip a loop asks whether it goes on, and the answer is free. Questions of several groups
are one where they compare the same number with the same bound, in the same trips of the loops
around: the group that asks first decides for all. Of what a loop carries only numbers are kept, and
of these the remainders, which say the number of a stage and the parity of a phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import Any, NamedTuple

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.certificates.trip_bounds import Bounds, Claim, Compared, FirstTrip, UnprovedError
from dt_mlir.dialects import warp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.interpreters.warp_partitions import Place, action_of, buffer_of
from dt_mlir.interpreters.warp_protocol import Action, Kind
from dt_mlir.traversal import operations

MOST_SILENT = 8
"""The blocks that a group goes through without an action after which it is given up."""
_UNSEEN = (warp.ConvertLayoutOp, warp.HalveOp, warp.IndexOp, warp.TransposeOp)
"""The operations of the level that nobody else sees."""


class Residue(NamedTuple):
    """A number of 0 or more that is known by its remainder."""

    value: int
    modulus: int


class Pending(NamedTuple):
    """The result of a product that nobody has waited for."""

    number: int
    """Its place among the products of its group that are under way; below 0 if it has ended."""


class Bound(NamedTuple):
    """A bound in some trips of the loops around."""

    number: int
    """The number of the bound."""
    around: tuple[Bound, int] | None = None
    """The bound of the loop around, and the number that was compared with it."""


class Trip(NamedTuple):
    """A trip of a loop."""

    bound: Bound
    """The bound that decides whether there is another one."""
    place: int
    """The number that was compared with it."""
    first: bool
    """True for the first trip."""


class Known(NamedTuple):
    """The decisions about a bound so far."""

    least: int | None = None
    """A number that it is known to be at least."""
    most: int | None = None
    """A number that it is known to be at most."""


Decided = Mapping[Bound, Known]
Values = dict[Any, Any]


Point = tuple[Operation | None, Values, Decided]
"""An operation that a group goes on with, what it knows there, and what has been decided."""


class Local(NamedTuple):
    """The state of a group between two actions."""

    op: Operation | None
    """The operation of the next action; None at the end."""
    values: frozenset[tuple[Any, Any]]
    """The trips of loops, and what is known of numbers and products; other values are data."""


class Group:
    """A group of warps.

    Args:
        partition: the task.
        number: the number of the group among those of the task.
        shared: the buffers and barriers.
        bounds: the bounds of loops.
    """

    def __init__(
        self,
        partition: warp.PartitionOp,
        number: int,
        shared: Mapping[SSAValue, Any],
        bounds: Bounds,
    ) -> None:
        self.partition = partition
        self.bounds = bounds
        self.moduli = _moduli(partition)
        """The number by which the remainder of each value has to be known."""
        self._shared = dict(shared)
        for argument in partition.body.block.args:
            self._shared[argument] = number
        self._inside: dict[Operation, set[Any]] = {}
        self._operands: dict[Operation, set[SSAValue]] = {}
        self._live: dict[Operation, set[Any]] = {}
        self.loops: dict[scf.ForOp, Compared] = {}
        self._claims: dict[scf.IfOp, Claim] = {}
        for op in partition.body.block.ops:
            self._prepare(op)
        numbers = [claim.bound for claim in self.loops.values() if claim.bound]
        if len(set(numbers)) < len(numbers):
            raise UnprovedError(f"'{partition.sym_name.data}' has two loops of one bound")
        self.looped = frozenset(numbers)
        """The bounds that loops ask for."""
        told = [c.loop for c in self._claims.values() if isinstance(c, FirstTrip)]
        self._told = frozenset(told)
        self.claims = [*self.loops.values()]
        """All that is compared with bounds."""
        self.claims += [c for c in self._claims.values() if isinstance(c, Compared)]
        self.assumed: dict[int, Known] = {}
        """The case under exploration of what is known of bounds that last."""
        self.asked = frozenset(claim.bound for claim in self.claims)
        """All bounds that are asked for."""

    def _prepare(self, op: Operation) -> None:
        """Notes what an operation asks, and those in it."""
        if not op.regions or not _is_seen(op):
            for inner in operations(op):
                if isinstance(inner, scf.ForOp):
                    self.bounds.check_step(inner)
            return
        if isinstance(op, scf.ForOp):
            self.loops[op] = self.bounds.loop(op)
        elif isinstance(op, scf.IfOp):
            self._claims[op] = self.bounds.condition(op.cond)
        else:
            raise UnprovedError(f"'{op.name}' has actions in it that others see")
        inside: set[Any] = set()
        for region in op.regions:
            for block in region.blocks:
                inside.update(block.args)
                for inner in block.ops:
                    inside.update((inner, *inner.results))
                    self._prepare(inner)
                    inside.update(self._inside.get(inner, ()))
        self._inside[op] = inside

    def _used(self, op: Operation) -> set[Any]:
        """Returns what may be used from an operation on, in this trip and in later ones."""
        if op not in self._live:
            found: set[Any] = {"products"}
            at: Operation | None = op
            while at is not None and at is not self.partition:
                behind: Operation | None = at if at is op else at.next_op
                while behind is not None:
                    found.update(self._operands_of(behind))
                    behind = behind.next_op
                at = at.parent_op()
                if isinstance(at, scf.ForOp):
                    # Whatever a trip computes, the next one computes anew.
                    found.update(self._operands_of(at) - self._inside[at])
                    found.add(at)
            # A loop that has ended is known for the questions behind it.
            found.update(self.loops)
            self._live[op] = found
        return self._live[op]

    def _operands_of(self, op: Operation) -> set[SSAValue]:
        if op not in self._operands:
            self._operands[op] = _operands(op)
        return self._operands[op]

    def shared_of(self, value: SSAValue) -> Any:
        """Returns the buffers or barriers that a value names; None where it names none."""
        return self._shared.get(value)

    def is_action(self, op: Operation) -> bool:
        """Returns whether an operation is one that other groups see."""
        return not op.regions and _is_seen(op)

    def start(self, decided: Decided) -> list[tuple[Local, Decided]]:
        """Returns the states before the first action, with the decisions that lead to each."""
        return self._run(self.partition.body.block.first_op, {}, decided)

    def action(self, local: Local) -> Action:
        """Returns the next action of a group that has not ended.

        Raises:
            UnprovedError: if it is not known what it acts on.
            ExecutionError: if there is no such buffer or barrier.
        """
        assert local.op is not None
        values = dict(local.values)
        # Where a copy begins in its tensor is data, however it is computed.
        args = tuple(
            self._value(x, values) if _says_which(local.op, x) else None
            for x in local.op.operands
        )
        if isinstance(local.op, warp.MmaOp):
            for operand, arg in zip(local.op.operands[:2], args):
                if isinstance(operand.type, warp.BufferType) and not isinstance(arg, Place):
                    raise UnprovedError(f"it is not known what '{local.op.name}' acts on")
            buffers = tuple(x.buffer for x in args[:2] if isinstance(x, Place))
            return Action(Kind.PRODUCT, local.op, buffers)
        if isinstance(local.op, warp.MmaWaitOp):
            return Action(Kind.PRODUCT_WAIT, local.op, number=local.op.pending.value.data)
        for operand, arg in zip(local.op.operands, args, strict=True):
            unknown = arg is None or isinstance(arg, Residue)
            if unknown and _says_which(local.op, operand):
                raise UnprovedError(f"it is not known what '{local.op.name}' acts on")
        found = action_of(local.op, args)
        assert found is not None
        return found

    def after(self, local: Local, decided: Decided) -> list[tuple[Local, Decided]]:
        """Returns the states behind the next action of a group."""
        op = local.op
        assert op is not None
        values = dict(local.values)
        if isinstance(op, warp.MmaOp):
            number = values.get("products", 0)
            values[op.result] = Pending(number)
            values["products"] = number + 1
        elif isinstance(op, warp.MmaWaitOp):
            self._wait(op, values)
        return self._run(op.next_op, values, decided)

    def _wait(self, op: warp.MmaWaitOp, values: Values) -> None:
        """Ends all products but some; what is waited for is known then."""
        kept = min(op.pending.value.data, values.get("products", 0))
        ended = values.get("products", 0) - kept
        for value, known in values.items():
            if isinstance(known, Pending):
                values[value] = Pending(max(known.number - ended, -1))
        values["products"] = kept
        for operand, result in zip(op.values, op.sums, strict=True):
            known = values.get(operand)
            if isinstance(known, Pending) and known.number >= 0:
                values[result] = known

    def _run(
        self, op: Operation | None, values: Values, decided: Decided
    ) -> list[tuple[Local, Decided]]:
        """Goes on up to the next actions that others see."""
        found: list[tuple[Local, Decided]] = []
        pending = [(op, values, decided, 0)]
        while pending:
            op, values, decided, silent = pending.pop()
            if silent > MOST_SILENT:
                raise UnprovedError(
                    f"'{self.partition.sym_name.data}' may make any number of trips in which it "
                    "does nothing that others see"
                )
            while True:
                if op is None:
                    # Blocks but that of the task end in a yield.
                    found.append((Local(None, frozenset()), decided))
                    break
                if isinstance(op, scf.YieldOp) or op in self._inside:
                    for after in self._control(op, values, decided):
                        pending.append((*after, silent + 1))
                    break
                if self.is_action(op):
                    self._check_operands(op, values)
                    used = self._used(op)
                    kept = frozenset(item for item in values.items() if item[0] in used)
                    found.append((Local(op, kept), decided))
                    break
                for inner in operations(op):
                    self._check(inner, values)
                op = op.next_op
        return found

    def _control(
        self, op: Operation, values: Values, decided: Decided
    ) -> list[Point]:
        """Returns where a group goes on at the begin or the end of a block."""
        if isinstance(op, scf.ForOp):
            names = op.body.block.args[1:]
            carried = [self.kept(x, n, values) for x, n in zip(op.iter_args, names)]
            claim = self.loops[op]
            return self._trips(op, claim.place, True, carried, values, decided)
        if isinstance(op, scf.IfOp):
            found: list[Point] = []
            for holds, after in self._answers(op, values, decided):
                region = op.true_region if holds else op.false_region
                if region.blocks:
                    found.append((region.block.first_op, values, after))
                else:
                    found.append((op.next_op, values, after))
            return found
        parent = _known(op.parent_op())
        names = parent.body.block.args[1:] if isinstance(parent, scf.ForOp) else parent.results
        given = [self.kept(x, n, values) for x, n in zip(op.operands, names)]
        outside = {v: k for v, k in values.items() if v not in self._inside[parent]}
        if isinstance(parent, scf.ForOp):
            trip = values[parent]
            place = trip.place + self.loops[parent].step
            return self._trips(parent, place, False, given, outside, decided)
        assert isinstance(parent, scf.IfOp)
        _bind(parent.results, given, outside)
        return [(parent.next_op, outside, decided)]

    def _trips(
        self, op: scf.ForOp, place: int, first: bool, carried: Sequence[Any], values: Values,
        decided: Decided,
    ) -> list[Point]:  # fmt: skip
        """Returns where a group goes on before a trip."""
        values = {v: k for v, k in values.items() if v is not op}
        bound = Bound(self.loops[op].bound, self._around(op, values))
        found: list[Point] = []
        for goes_on, after in self._asked(bound, place, decided):
            own = dict(values)
            own[op] = Trip(bound, place, first and op in self._told) if goes_on else bound
            block = op.body.block
            _bind(block.args[1:] if goes_on else op.results, carried, own)
            if goes_on:
                found.append((block.first_op, own, after))
            else:
                found.append((op.next_op, own, after))
        return found

    def _around(self, op: Operation, values: Values) -> tuple[Bound, int] | None:
        parent = op.parent_op()
        while parent is not None and parent is not self.partition:
            if isinstance(parent, scf.ForOp):
                trip = values[parent]
                return trip.bound, trip.place
            parent = parent.parent_op()
        return None

    def _answers(
        self, op: scf.IfOp, values: Values, decided: Decided
    ) -> list[tuple[bool, Decided]]:
        claim = self._claims[op]
        match claim:
            case bool():
                return [(claim, decided)]
            case FirstTrip():
                return [(claim.in_first or not values[claim.loop].first, decided)]
            case Compared():
                bound = Bound(claim.bound, self._around(op, values))
                return self._asked(bound, claim.place, decided)

    def _asked(
        self, bound: Bound, place: int, decided: Decided
    ) -> list[tuple[bool, Decided]]:
        """Returns whether a number may be below a bound, with the decisions that say so."""
        if not bound.number:
            return [(place < 0, decided)]
        known = decided.get(bound)
        if known is None:
            known = self.assumed.get(bound.number)
            if known is None:
                known = Known(*self.bounds.sign(bound.number))
            elif known.least == known.most:
                # There is nothing to decide.
                return [(place < _number(known.least), decided)]
        if known.least is not None and place < known.least:
            return [(True, {**decided, bound: known})]
        if known.most is not None and place >= known.most:
            return [(False, {**decided, bound: known})]
        return [
            (True, {**decided, bound: Known(place + 1, known.most)}),
            (False, {**decided, bound: Known(known.least, place)}),
        ]

    def kept(self, value: SSAValue, name: SSAValue, values: Mapping[Any, Any]) -> Any:
        """Returns what is kept of a value that a block gives away under a name."""
        found = self._value(value, values)
        modulus = self.moduli.get(name, 1)
        if isinstance(found, int):
            return Residue(found % modulus, modulus) if found >= 0 else None
        if isinstance(found, Residue) and found.modulus % modulus == 0:
            return Residue(found.value % modulus, modulus)
        return found if isinstance(found, Pending) else None

    def _check_operands(self, op: Operation, values: Values) -> None:
        """Checks an action: a product may add to a sum that is under way, and a wait ends it."""
        match op:
            case warp.MmaWaitOp():
                return
            case warp.MmaOp():
                checked = [op.lhs, op.rhs]
            case _:
                checked = op.operands
        for value in checked:
            self._check_value(value, values)

    def _check(self, op: Operation, values: Values) -> None:
        for value in op.operands:
            self._check_value(value, values)

    def _check_value(self, value: SSAValue, values: Values) -> None:
        if isinstance(values.get(value), Pending):
            name = self.partition.sym_name.data
            raise UnprovedError(f"'{name}' uses the result of a product that is under way")

    def _value(self, value: SSAValue, values: Mapping[Any, Any]) -> Any:
        """Returns what is known of a value: an integer, a remainder, a buffer; None of data."""
        if value in values:
            return values[value]
        if value in self._shared:
            return self._shared[value]
        if isinstance(value, BlockArgument) or axes_of(value.type):
            return None
        op = value.owner
        assert isinstance(op, Operation)
        match op:
            case arith.ConstantOp():
                number = op.value
                return number.value.data if isinstance(number, IntegerAttr) else None
            case warp.IndexOp():
                ring, index = (self._value(x, values) for x in op.operands)
                if not isinstance(index, int):
                    raise UnprovedError("it is not known which buffer of a ring is meant")
                return buffer_of(op, ring, index)
            case warp.TransposeOp():
                place = self._value(op.buffer, values)
                return Place(place.buffer, not place.transposed)
            case _ if op.name in _ARITHMETIC:
                a, b = (self._value(x, values) for x in op.operands)
                return None if a is None or b is None else _ARITHMETIC[op.name](a, b)
            case _:
                return None


def _moduli(partition: warp.PartitionOp) -> dict[SSAValue, int]:
    """Returns by what number the remainder of each value has to be known.

    It is what divides whatever a remainder is taken by, of the value or of what is computed of it.
    """
    found: dict[SSAValue, int] = {}

    def need(value: SSAValue, modulus: int) -> bool:
        before = found.get(value, 1)
        found[value] = lcm(before, modulus)
        return found[value] != before

    def divisor(op: Operation) -> int | None:
        number = constant_index(op.operands[1])
        return number if number is not None and number > 0 else None

    changes = True
    while changes:
        changes = False
        for op in partition.walk():
            after = [found.get(result, 1) for result in op.results]
            match op:
                case arith.RemSIOp() if divisor(op):
                    changes |= need(op.lhs, _number(divisor(op)))
                case arith.DivSIOp() if divisor(op):
                    changes |= need(op.lhs, _number(divisor(op)) * after[0])
                case arith.AddiOp() | arith.MuliOp():
                    for operand in op.operands:
                        changes |= need(operand, after[0])
                case scf.ForOp():
                    names = op.body.block.args[1:]
                    given = _known(op.body.block.last_op).operands
                    for name, result, *others in zip(names, op.results, op.iter_args, given):
                        changes |= need(name, found.get(result, 1))
                        for value in (result, *others):
                            changes |= need(value, found.get(name, 1))
                case scf.IfOp():
                    for block in (b for region in op.regions for b in region.blocks):
                        for value, modulus in zip(_known(block.last_op).operands, after):
                            changes |= need(value, modulus)
                case _:
                    pass
    return found


def _operands(op: Operation) -> set[SSAValue]:
    """Returns the values that an operation uses, and all that these are computed of."""
    found: set[SSAValue] = set()
    pending = [value for inner in op.walk() for value in inner.operands]
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if isinstance(value.owner, Operation):
                pending += value.owner.operands
    return found


def _known(op: Operation | None) -> Operation:
    assert op is not None
    return op


def _number(value: int | None) -> int:
    assert value is not None
    return value


def _bind(names: Sequence[Any], given: Sequence[Any], values: Values) -> None:
    """Notes values under other names; data is left out."""
    for name, known in zip(names, given, strict=True):
        values.pop(name, None)
        if known is not None:
            values[name] = known


def _is_seen(op: Operation) -> bool:
    """Returns whether others see an operation, or one in it."""
    return any(x.name.startswith("warp.") and not isinstance(x, _UNSEEN) for x in op.walk())


def _says_which(op: Operation, operand: SSAValue) -> bool:
    """Returns whether an operand says what an action acts on: a buffer, a barrier or a parity."""
    match op:
        case warp.TmaLoadOp():
            return operand in (op.buffer, op.barriers, op.index)
        case warp.TmaStoreOp():
            return operand is op.buffer
        case warp.LocalStoreOp():
            return operand is op.buffer
        case _:
            return True


def _added(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, Residue) and isinstance(b, Residue):
        same = a.modulus == b.modulus
        return Residue((a.value + b.value) % a.modulus, a.modulus) if same else None
    known, number = (a, b) if isinstance(a, Residue) else (b, a)
    if number < 0:
        # The sum may be negative.
        return None
    return Residue((known.value + number) % known.modulus, known.modulus)


def _less(a: Any, b: Any) -> Any:
    return a - b if isinstance(a, int) and isinstance(b, int) else None


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, Residue) and isinstance(b, Residue):
        return None
    known, number = (a, b) if isinstance(a, Residue) else (b, a)
    return Residue(known.value * number, known.modulus * number) if number > 0 else None


def _divided(a: Any, b: Any) -> Any:
    if not isinstance(b, int) or b < 1:
        return None
    if isinstance(a, int):
        return a // b if a >= 0 else None
    return Residue(a.value // b, a.modulus // b) if a.modulus % b == 0 else None


def _rest(a: Any, b: Any) -> Any:
    if not isinstance(b, int) or b < 1:
        return None
    if isinstance(a, int):
        return a % b if a >= 0 else None
    return a.value % b if a.modulus % b == 0 else None


_ARITHMETIC = {
    "arith.addi": _added, "arith.subi": _less, "arith.muli": _times, "arith.divsi": _divided,
    "arith.remsi": _rest,
}  # fmt: skip
"""The operations on integers and remainders."""
