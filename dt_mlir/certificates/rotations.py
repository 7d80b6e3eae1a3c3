"""Rotations of rings, which take states of a specialized kernel to states that behave alike.

Groups count the trips in which they use a ring: a count c means stage c % depth in the phase of
parity c // depth % 2. If all counts of a ring grow by one and its stages move on by one place, a
state becomes another one from which the same follows. Whether that is so is not assumed but
checked, for each action and each count that a group gives on, with every value that counts may
have. An action for which it is not so is an obstacle: no state is rotated from which it may follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from math import gcd, lcm, prod
from typing import Any, NamedTuple

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.certificates.group_steps import Group, Local, Residue
from dt_mlir.certificates.happens_before import LONG_AGO, Barrier, Buffer, Clock, Fill, Shared
from dt_mlir.certificates.trip_bounds import UnprovedError
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.warp_partitions import Barriers, Ring
from dt_mlir.interpreters.warp_protocol import Action, Kind

MOST_COUNTS = 256
"""The combinations of counts for which an action is checked; one with more is an obstacle."""


class Moved(NamedTuple):
    """The place that barriers and buffers have after a rotation."""

    barriers: tuple[tuple[int, int], ...]
    """The new number of each barrier, and the phases that are added."""
    buffers: tuple[int, ...]
    """The new number of each buffer."""

    def action(self, action: Action) -> Action:
        """Returns an action on what was moved."""
        action = action._replace(buffers=tuple(self.buffers[b] for b in action.buffers))
        if action.barrier < 0:
            return action
        barrier, phases = self.barriers[action.barrier]
        if action.kind is Kind.WAIT:
            action = action._replace(number=(action.number + phases) % 2)
        return action._replace(barrier=barrier)

    def shared(self, shared: Shared) -> Shared:
        """Returns the shared memory with its buffers and barriers moved."""
        groups = len(shared.clocks)
        sources: list[tuple[int, int]] = [(0, 0)] * len(self.barriers)
        for number, (to, phases) in enumerate(self.barriers):
            sources[to] = number, phases

        def clock(old: Clock) -> Clock:
            return (*old[:groups], *(_later(old[groups + n], more) for n, more in sources))

        barriers: list[Barrier] = []
        for number, more in sources:
            b = shared.barriers[number]
            coming, known = clock(b.coming), clock(b.known)
            barriers.append(b._replace(phase=b.phase + more, coming=coming, known=known))
        buffers: list[Buffer] = list(shared.buffers)
        for to, (fill, reads) in zip(self.buffers, shared.buffers, strict=True):
            buffers[to] = Buffer(fill and self._fill(fill), reads)
        return Shared(
            tuple(map(clock, shared.clocks)), tuple(barriers), tuple(buffers),
            tuple(tuple(map(self._all, own)) for own in shared.products),
            tuple(map(self._all, shared.stores)),
        )  # fmt: skip

    def _fill(self, fill: Fill) -> Fill:
        if fill.barrier < 0:
            return fill
        barrier, more = self.barriers[fill.barrier]
        return fill._replace(barrier=barrier, number=_later(fill.number, more))

    def _all(self, buffers: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.buffers[b] for b in buffers)


def _later(phase: int, more: int) -> int:
    return phase if phase == LONG_AGO else phase + more


class Counted(NamedTuple):
    """Rings that are rotated together."""

    values: tuple[SSAValue, ...]
    """The counts that say which of their stages is meant, and in which phase."""
    rings: tuple[Ring | Barriers, ...]
    stages: int
    """The number of stages; each has a barrier of every kind, and one buffer or several."""
    period: int
    """The number of rotations after which all is as before."""


class Rotations:
    """The rotations of the rings of a kernel.

    Args:
        groups: its groups.
        barriers: the number of barriers.
        buffers: the number of buffers.
    """

    def __init__(self, groups: Sequence[Group], barriers: int, buffers: int) -> None:
        self._barriers, self._buffers = barriers, buffers
        self._moduli: dict[SSAValue, int] = {}
        """The moduli of counts; what is known by no remainder is none."""
        for group in groups:
            self._moduli.update((v, m) for v, m in group.moduli.items() if m > 1)
        self._counts: dict[SSAValue, set[SSAValue]] = {}
        self.counted = self._components(groups)
        """The sets of rings that are rotated together."""
        self._number = {v: n for n, own in enumerate(self.counted) for v in own.values}
        self._moves: dict[tuple[int, ...], Moved] = {}
        self._ahead: dict[tuple[int, Operation], frozenset[int]] = {}
        partitions = dict.fromkeys(group.partition for group in groups)
        self._order = {op: n for p in partitions for n, op in enumerate(p.walk())}
        self._obstacles = [self._obstacles_of(group) for group in groups]

    def of(self, local: Sequence[Local]) -> tuple[int, ...]:
        """Returns how often each set of rings is rotated so that alike states become one."""
        ahead: set[int] = set()
        for number, own in enumerate(local):
            if own.op is not None:
                ahead |= self._ahead_of(number, own.op)
        return tuple(
            0 if number in ahead else self.turns(counted, local)
            for number, counted in enumerate(self.counted)
        )

    def turns(self, counted: Counted, local: Sequence[Local]) -> int:
        """Returns how often a set of rings is rotated until its first known count is 0."""
        for own in local:
            known = dict(own.values)
            for value in counted.values:
                found = known.get(value)
                if isinstance(found, Residue) and found.modulus == counted.period:
                    return -found.value % counted.period
        return 0

    def values(self, values: Mapping[Any, Any], turns: Sequence[int]) -> dict[Any, Any]:
        """Returns what a group knows after rotations."""
        found = dict(values)
        for value, known in values.items():
            number = self._number.get(value)
            if number is not None and isinstance(known, Residue):
                count = (known.value + turns[number]) % known.modulus
                found[value] = Residue(count, known.modulus)
        return found

    def moved(self, turns: tuple[int, ...]) -> Moved:
        """Returns where rotations move barriers and buffers."""
        if turns not in self._moves:
            barriers = [(number, 0) for number in range(self._barriers)]
            buffers = list(range(self._buffers))
            for counted, more in zip(self.counted, turns, strict=True):
                for ring in counted.rings:
                    width = ring.depth // counted.stages
                    for place in range(ring.depth):
                        phases, to = divmod(place + more * width, ring.depth)
                        if isinstance(ring, Barriers):
                            barriers[ring.first + place] = ring.first + to, phases
                        else:
                            buffers[ring.first + place] = ring.first + to
            self._moves[turns] = Moved(tuple(barriers), tuple(buffers))
        return self._moves[turns]

    def _components(self, groups: Sequence[Group]) -> list[Counted]:
        """Returns the rings that are rotated together, as one value counts for them."""
        joined: list[tuple[Any, Any]] = []
        for group in groups:
            for op in group.partition.walk():
                for ring, counts in _uses(group, op):
                    joined += [(ring, value) for count in counts for value in self._leaves(count)]
                for given, name in _bindings(op):
                    if name in self._moduli:
                        joined += [(name, value) for value in self._leaves(given)]
                if isinstance(op, scf.ForOp):
                    joined += zip(op.body.block.args[1:], op.results)
        items = [*dict.fromkeys(chain.from_iterable(joined))]
        found: DisjointSet[Any] = DisjointSet(items)
        for pair in joined:
            found.union(*pair)
        sets: dict[Any, list[Any]] = {}
        for item in items:
            sets.setdefault(found.find(item), []).append(item)
        components: list[Counted] = []
        for items in sets.values():
            rings = tuple(x for x in items if isinstance(x, Ring | Barriers))
            values = tuple(x for x in items if x in self._moduli)
            stages = gcd(*(ring.depth for ring in rings))
            if stages and values:
                period = lcm(2 * stages, *(self._moduli[v] for v in values))
                components.append(Counted(values, rings, stages, period))
        return components

    def _leaves(self, value: SSAValue) -> set[SSAValue]:
        """Returns the counts that a value is computed of."""
        if value not in self._counts:
            if _is_carried(value):
                self._counts[value] = {value} & self._moduli.keys()
            else:
                op = value.owner
                assert isinstance(op, Operation)
                found = {leaf for operand in op.operands for leaf in self._leaves(operand)}
                self._counts[value] = found
        return self._counts[value]

    def _obstacles_of(self, group: Group) -> dict[Operation, frozenset[int]]:
        """Returns the rings that may not be rotated before each operation, if there are any."""
        found: dict[Operation, frozenset[int]] = {}
        for op in group.partition.walk():
            acts = group.is_action(op)
            given = [(value, name) for value, name in _bindings(op) if name in self._moduli]
            if not acts and not given:
                continue
            used = list(op.operands) if acts else [value for value, _ in given]
            leaves = [*dict.fromkeys(leaf for value in used for leaf in self._leaves(value))]
            ranges = [range(self._moduli[leaf]) for leaf in leaves]
            if prod(map(len, ranges)) > MOST_COUNTS:
                found[op] = frozenset(range(len(self.counted)))
                continue
            bad: set[int] = set()
            for counts in product(*ranges):
                values = {v: Residue(c, self._moduli[v]) for v, c in zip(leaves, counts)}
                for number in range(len(self.counted)):
                    if number not in bad and not self._commutes(
                        group, op, acts, given, values, number
                    ):
                        bad.add(number)
            if bad:
                found[op] = frozenset(bad)
        return found

    def _commutes(
        self, group: Group, op: Operation, acts: bool,
        given: Sequence[tuple[SSAValue, SSAValue]], values: Mapping[SSAValue, Residue], number: int,
    ) -> bool:  # fmt: skip
        """Returns whether an operation does the same behind a rotation, up to the rotation."""
        turns = tuple(int(n == number) for n in range(len(self.counted)))
        turned = self.values(values, turns)
        try:
            if acts:
                before, after = (
                    group.action(Local(op, frozenset(known.items()))) for known in (values, turned)
                )
                if self.moved(turns).action(before) != after:
                    return False
            for value, name in given:
                before = self.values({name: group.kept(value, name, values)}, turns)
                if before[name] != group.kept(value, name, turned):
                    return False
        except (UnprovedError, ExecutionError):
            return False
        return True

    def _ahead_of(self, number: int, op: Operation) -> frozenset[int]:
        """Returns the rings with an obstacle at an operation, or at one that may follow it."""
        key = number, op
        if key not in self._ahead:
            loops = _loops_around(op)
            self._ahead[key] = frozenset(
                ring
                for obstacle, rings in self._obstacles[number].items()
                if self._order[obstacle] >= self._order[op] or loops & _loops_around(obstacle)
                for ring in rings
            )
        return self._ahead[key]


def _uses(group: Group, op: Operation) -> list[tuple[Ring | Barriers, list[SSAValue]]]:
    """Returns the rings that an operation takes something of, each with what may say which."""
    rings = [x for x in map(group.shared_of, op.operands) if isinstance(x, Ring | Barriers)]
    counts = [x for x in op.operands if group.shared_of(x) is None]
    return [(ring, counts) for ring in rings]


def _bindings(op: Operation) -> list[tuple[SSAValue, SSAValue]]:
    """Returns the values that an operation gives away, each with its name there."""
    if isinstance(op, scf.ForOp):
        return [*zip(op.iter_args, op.body.block.args[1:])]
    if not isinstance(op, scf.YieldOp):
        return []
    parent = op.parent_op()
    names = parent.body.block.args[1:] if isinstance(parent, scf.ForOp) else _results(parent)
    return [*zip(op.operands, names)]


def _loops_around(op: Operation) -> set[Operation]:
    """Returns the loops that an operation is in."""
    found: set[Operation] = set()
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp):
            found.add(parent)
        parent = parent.parent_op()
    return found


def _results(op: Operation | None) -> Sequence[SSAValue]:
    return () if op is None else op.results


def _is_carried(value: SSAValue) -> bool:
    """Returns whether a value is one that a loop or a condition gives."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, scf.ForOp | scf.IfOp)
