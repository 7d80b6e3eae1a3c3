"""The bounds that decide how often the loops of a specialized kernel make trips.

Groups of warps compute them each for itself. A bound is known by its expression over sizes, the
program id and the trips of loops around, so that the same bound of two groups is found to be one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from dt_mlir.certificates.proving import Prover
from dt_mlir.certificates.scalars import Scalars
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import Term
from dt_mlir.certificates.universe import Integer, Universe
from dt_mlir.dialects import tile, warp


class UnprovedError(Exception):
    """The reason for which nothing is proved of a kernel."""


@dataclass(frozen=True)
class Compared:
    """A claim that a number is below a bound; the bound of a known number of trips is a number."""

    bound: int
    """The number of the bound, without the constant in it; 0 for the bound 0."""
    place: int
    """The number."""
    step: int = 0
    """The difference from trip to trip, for a loop."""


@dataclass(frozen=True)
class FirstTrip:
    """A claim about the number of a trip, which holds in all trips but the first, or in all."""

    loop: scf.ForOp
    in_first: bool
    """True if it holds in the first trip, too."""


Claim = Compared | FirstTrip | bool

_LESS = {2: (0, 1, 0), 3: (0, 1, -1), 4: (1, 0, 0), 5: (1, 0, -1)}
"""The operands below and above, and what is added to the lower one, by predicate of `arith.cmpi`.
"""


class Bounds:
    """The bounds of the loops of a kernel, all of whose groups share them.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: warp.KernelOp) -> None:
        self.universe = Universe()
        self.prover = Prover(self.universe)
        self.scalars = Scalars(self.prover)
        self._trips: dict[tuple[str, ...], Integer] = {}
        self._alternates: dict[tuple[str, ...], Integer] = {}
        self._numbers: dict[str, int] = {"0": 0}
        self._exprs: dict[int, Integer] = {}
        self._instance = self.universe.variable("program", lambda v: [v >= 0])
        self._programs = self.universe.variable("programs", lambda v: [v >= 1])
        # The copy engine describes no tensor without elements: other kernels run for them.
        for argument in kernel.body.block.args:
            users = [use.operation for use in argument.uses]
            if not any(isinstance(user, warp.TmaDescriptorOp) for user in users):
                continue
            for label in kernel.axes_of(argument):
                size = self.universe.size(label)
                self.universe.know(size, size >= 1)

    def sign(self, bound: int) -> tuple[int | None, int | None]:
        """Returns a number that a bound is known to be at least, and one that it is at most."""
        expr = self._exprs.get(bound)
        if expr is None:
            # A number of trips.
            return 0, None
        if self.prover.implied([], expr > 0):
            return 1, None
        return (None, 0) if self.prover.implied([], expr <= 0) else (None, None)

    def is_lasting(self, bound: int) -> bool:
        """Returns whether a bound is one of sizes alone, and thus the same in all trips."""
        expr = self._exprs.get(bound)
        sizes = {size.get_id() for size in self.universe.sizes.values()}
        return expr is not None and all(v.get_id() in sizes for v in self.universe.free(expr))

    def loop(self, op: scf.ForOp) -> Compared:
        """Returns the claim with which a loop begins its first trip.

        Raises:
            UnprovedError: if others do not see why it ends.
        """
        self.check_step(op)
        lower, upper, step = (self._value(x) for x in (op.lb, op.ub, op.step))
        if z3.is_int_value(step):
            found = self._below(lower, upper)
            return Compared(found.bound, found.place, step.as_long())
        return Compared(self._number(f"({_text(lower)} {_text(upper)} {_text(step)})"), 0, 1)

    def check_step(self, op: scf.ForOp) -> None:
        """Checks that a loop ends, whatever its bounds are.

        Raises:
            UnprovedError: if its step is not known to be 1 or more.
        """
        if not self.prover.implied([], self._value(op.step) >= 1):
            raise UnprovedError("a loop has a step that may be below 1")

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def condition(self, value: SSAValue) -> Claim:
        """Returns the claim that a condition makes.

        Raises:
            UnprovedError: if it is not one about bounds and trips.
        """
        op = value.owner
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data not in _LESS:
            raise UnprovedError("a condition on what others see is not a comparison of numbers")
        below, above, more = _LESS[op.predicate.value.data]
        operands = op.operands[below], op.operands[above]
        less, bound = (self._value(x) for x in operands)
        for argument in operands:
            loop = _loop_of(argument)
            if loop is not None:
                return self._of_trip(loop, argument is operands[1], less + more)
        found = self._below(less + more, bound)
        return found if found.bound else found.place < 0

    def _of_trip(self, loop: scf.ForOp, is_above: bool, less: Integer) -> FirstTrip:
        """Returns the claim that a number is below the one of a trip."""
        lower, step = self._value(loop.lb), z3.simplify(self._value(loop.step))
        more = z3.simplify(less - lower, som=True)
        known = is_above and z3.is_int_value(more) and z3.is_int_value(step)
        if known and more.as_long() < step.as_long():
            return FirstTrip(loop, more.as_long() < 0)
        raise UnprovedError("a condition on the number of a trip tells more than the first")

    def _below(self, less: Integer, bound: Integer) -> Compared:
        """Returns the claim that a number is below another."""
        expr = z3.simplify(bound - less, som=True)
        constant = 0
        if z3.is_int_value(expr):
            return Compared(0, -expr.as_long())
        if z3.is_add(expr):
            constant = sum(x.as_long() for x in expr.children() if z3.is_int_value(x))
            expr = z3.simplify(expr - constant, som=True)
        number = self._number(_text(expr))
        self._exprs[number] = expr
        return Compared(number, -constant)

    def _value(self, value: SSAValue) -> Integer:
        """Returns an integer over sizes and trips."""
        if isinstance(value, BlockArgument):
            loop = _loop_of(value)
            if loop is None:
                raise UnprovedError("a loop ends where a number that it carries says")
            return self._trip(loop)
        op = value.owner
        assert isinstance(op, Operation)
        match op:
            case tile.SizeOp():
                return self.universe.size(op.label.data)
            case tile.ProgramIdOp():
                return self._instance
            case tile.NumProgramsOp():
                return self._programs
            case tile.AlternateOp():
                return self._alternated(*(self._value(x) for x in op.operands))
            case _ if op.name.startswith("arith.") and all(_is_integer(x) for x in op.operands):
                found = self.scalars.apply(op, [self._value(x) for x in op.operands])
            case _:
                found = None
        if found is None or isinstance(found, Term):
            raise UnprovedError(f"a loop ends where '{op.name}' says")
        return found

    def _alternated(self, number: Integer, blocks: Integer, programs: Integer) -> Integer:
        """Returns the block of a walk whose rounds alternate: one of those that there are."""
        if not self.prover.implied([], z3.And(number >= 0, number < blocks)):
            raise UnprovedError("a walk turns around at a number that may be no block's")
        key = tuple(map(_text, (number, blocks, programs)))
        if key not in self._alternates:
            self._alternates[key] = self.universe.variable(
                "block", lambda v: [v >= 0, v < blocks]
            )
        return self._alternates[key]

    def _trip(self, loop: scf.ForOp) -> Integer:
        ends = tuple(self._value(x) for x in (loop.lb, loop.ub, loop.step))
        key = tuple(map(_text, ends))
        if key not in self._trips:
            self._trips[key] = self.universe.variable(
                "trip", lambda v: [v >= ends[0], v < ends[1]]
            )
        return self._trips[key]


def _text(expr: Integer) -> str:
    return expr.sexpr()


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, IndexType | IntegerType)


def _loop_of(value: SSAValue) -> scf.ForOp | None:
    """Returns the loop of which a value is the number of a trip."""
    if not isinstance(value, BlockArgument) or value.index:
        return None
    loop = value.block.parent_op()
    return loop if isinstance(loop, scf.ForOp) else None
