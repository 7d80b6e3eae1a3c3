"""Mixed-radix numberings: how program ids count blocks, and joined indices count points.

The lemma: for a number c and integers a, d > 0, the map that takes r to (r div c d, r mod c d) is a
bijection from [0, a d) to the pairs (q, s) with 0 <= q < ceil(a / c) and
0 <= s < min(c, a - c q) d. Proof: r = q c d + s with 0 <= s < c d has exactly one solution, by
division with remainder. From r < a d follows q c d < a d, so that q < a / c, and s < a d - q c d.
Conversely such a pair gives r = q c d + s < q c d + (a - c q) d = a d.

With it a program id that counts several labels is as good as one variable for each, of which each
is bounded by a linear expression: the solver never sees a product of two sizes.

The lemma of alternating rounds: for n >= 0 and p > 0 the map that takes b, 0 <= b < n, to b where
n div p - b div p is even, and to b + p - 1 - 2 (b mod p) where it is odd, is a permutation of these
numbers. Proof: it takes the round r = b div p to itself, as b mod p and p - 1 - b mod p both lie
between 0 and p - 1. On a round it is the identity, or takes s = b mod p to p - 1 - s, which is its
own inverse. That of an incomplete round, r = n div p, is the identity, and all others hold p
numbers below n.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from dt_mlir.certificates.proving import Prover
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.universe import Condition, Integer
from dt_mlir.dialects import tile

MOST_FACTORS = 64
"""The most factors of a product: the solver multiplies powers out."""


class Numbering:
    """The program ids of a kernel, and what they are taken apart into.

    Args:
        kernel: the kernel.
        prover: decides which expressions are equal.
    """

    def __init__(self, kernel: tile.KernelOp, prover: Prover) -> None:
        self.prover, self.universe = prover, prover.universe
        self._products: dict[int, list[Integer]] = {}
        self._apart: dict[tuple[int, int], tuple[Integer, Integer]] = {}
        self._alternated: dict[int, Integer] = {}
        self._kept: list[Integer] = []
        self._factors: dict[int, list[Integer]] = {}
        self._walks = kernel.programs is not None
        self.grid = [
            z3.simplify((self.universe.size(label) + (block - 1)) / block)
            for label, block in kernel.grid
        ]
        self.programs = self.universe.variable("programs", lambda v: [v >= 1])
        self.blocks: list[Integer] = []
        """The variables that say which block it is: every combination of their values is one. In
        front of and behind a walk over the blocks they say which instance it is."""
        if self._walks:
            self.instance = self.universe.variable("program", lambda v: [v >= 0, v < self.programs])
            self.blocks.append(self.instance)
        else:
            self.instance = self._number("program", self.grid)

    def _number(self, hint: str, factors: list[Integer]) -> Integer:
        """Returns a new variable from 0 to below a product."""
        def facts(variable: Integer) -> list[Condition]:
            if not factors:
                return [variable == 0]
            below = factors[0]
            for factor in factors[1:]:
                below = below * factor
            return [variable >= 0, variable < below]

        found = self.universe.variable(hint, facts)
        self._factors[found.get_id()] = factors
        self._kept.append(found)
        self.blocks.append(found)
        return found

    def multiplied(self, a: Integer, b: Integer) -> Integer | None:
        """Returns a product, whose factors are remembered; None if it has too many: each square of
        a square has twice as many as the one before."""
        factors = [*self._factors_of(a), *self._factors_of(b)]
        if len(factors) > MOST_FACTORS:
            return None
        result = a * b
        self._kept.append(result)
        self._products[result.get_id()] = factors
        return result

    def _factors_of(self, expr: Integer) -> list[Integer]:
        return self._products.get(expr.get_id(), [expr])

    def walked(self, lower: Integer, upper: Integer, step: Integer) -> Integer | None:
        """Returns the number of a block, if a loop walks all blocks from each program id on.

        Each number from 0 to below the number of blocks is that of one program id and trip: its
        remainder and quotient by the number of programs.
        """
        if not self._walks or lower is not self.instance or step is not self.programs:
            return None
        # A walk in a walk has blocks that depend on those around.
        if [v.get_id() for v in self.blocks] != [self.instance.get_id()]:
            return None
        if not self._counts_blocks(upper):
            return None
        self.blocks.clear()
        return self._number("block", self.grid)

    def _counts_blocks(self, number: Integer) -> bool:
        """Returns whether a number is that of the blocks of the grid."""
        factors, grid = (
            [x for x in found if not self._equal(x, z3.IntVal(1))]
            for found in (self._factors_of(number), self.grid)
        )
        return self._without(factors, grid) == []

    def alternated(self, number: Integer, blocks: Integer, programs: Integer) -> Integer | None:
        """Returns the block that a walk with alternating rounds takes for a number, by the lemma.

        The number itself no longer says which block it is.
        """
        found = self._alternated.get(number.get_id())
        if found is not None:
            return found
        if programs is not self.programs or self._factors.get(number.get_id()) is None:
            return None
        if [v.get_id() for v in self.blocks] != [number.get_id()]:
            return None
        if not self._counts_blocks(blocks):
            return None
        self.blocks.clear()
        found = self._alternated[number.get_id()] = self._number("block", self.grid)
        return found

    def end_walk(self) -> None:
        """Ends the walk over the blocks that is under way."""
        self.blocks[:] = [self.instance]

    def _equal(self, a: Integer, b: Integer) -> bool:
        return self.prover.implied([], a == b)

    def _without(self, factors: list[Integer], taken: list[Integer]) -> list[Integer] | None:
        """Returns factors without others; None where one of these is not among them."""
        left = list(factors)
        for other in taken:
            place = next((i for i, factor in enumerate(left) if self._equal(factor, other)), None)
            if place is None:
                return None
            del left[place]
        return left

    def taken_apart(self, number: Integer, divisor: Integer) -> tuple[Integer, Integer] | None:
        """Returns quotient and remainder of a number that counts blocks, by the lemma."""
        factors = self._factors.get(number.get_id())
        if factors is None:
            return None
        key = number.get_id(), divisor.get_id()
        if key in self._apart:
            return self._apart[key]
        self._kept.append(divisor)
        parts = self._factors_of(divisor)
        numbers = [p.as_long() for p in parts if z3.is_int_value(p)]
        taken = [p for p in parts if not z3.is_int_value(p)]
        left = self._without(factors, taken)
        count = 1
        for item in numbers:
            count *= item
        if left is None or any(item < 1 for item in numbers) or (count > 1 and len(left) != 1):
            return None
        places = [v.get_id() for v in self.blocks]
        if number.get_id() not in places:
            # It is taken apart by another divisor already.
            return None
        del self.blocks[places.index(number.get_id())]
        if count == 1:
            quotient = self._number("block", left)
            rest = self._number("block", taken)
        else:
            (whole,) = left
            quotient = self._number("group", [z3.simplify((whole + (count - 1)) / count)])
            ahead = whole - count * quotient
            size = z3.If(ahead < count, ahead, z3.IntVal(count))
            rest = self._number("block", [size, *taken])
        self._apart[key] = quotient, rest
        return quotient, rest
