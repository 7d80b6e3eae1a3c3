"""Registers that asynchronous products of Hopper GPUs read their left factors from.

`HGMMA`, or for elements of 8 bits `QGMMA` and `IGMMA`, starts a product for which a group of warps
waits later: `gsb0` closes a group of products, and `WARPGROUP.DEPBAR.LE gsb0, n` waits until at
most `n` groups are under way. Until then products may read the registers of their left factors.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import NamedTuple

INSTRUCTION = re.compile(
    r"/\*[0-9a-f]{4,}\*/\s+(?:@!?(?P<guard>U?P\w+)\s+)?(?P<name>[A-Z][A-Z0-9_.]*)"
    r"(?P<operands>[^;]*);"
)
"""An instruction as nvdisasm prints it."""
_LABEL = re.compile(r"^\s*(\.L\w+):")
_PREDICATE = re.compile(r"!?U?P[T\d]\w*")
_REGISTER = re.compile(r"R(\d+)(?:\.\w+)?")
PRODUCTS = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")
"""The instructions that start products."""
_WAIT = "WARPGROUP.DEPBAR.LE"
_WRITES_NONE = (
    "ST", "RED", "BAR", "ISETP", "FSETP", "DSETP", "HSETP", "PSETP", "PLOP", "R2P", "FCHK", "R2UR",
    "SYNCS", "MEMBAR", "WARPSYNC", "NANOSLEEP", "SUATOM",
)  # fmt: skip
"""The first letters of instructions whose first operand that is a register is read."""
_ENDS = ("EXIT", "BRA", "BRX", "JMP", "JMX", "RET")
"""The instructions behind which nothing is run, unless they depend on a predicate."""
_FACTOR = 4
"""The registers of a thread that hold its part of a left factor."""
_MOST_GROUPS = 8
"""The groups that are told apart: instructions wait for fewer."""

Group = frozenset[int]


class _Instruction(NamedTuple):
    guarded: bool
    name: str
    operands: str

    def parts(self) -> list[str]:
        """Returns its operands without the predicates that come first."""
        found = [part.strip() for part in self.operands.split(",")]
        while found and _PREDICATE.fullmatch(found[0]):
            found = found[1:]
        return found

    @property
    def may_be_left_out(self) -> bool:
        """True if it depends on a predicate whether it takes place."""
        first = self.operands.split(",")[0].strip()
        return self.guarded or _PREDICATE.fullmatch(first) is not None


class _State(NamedTuple):
    """The groups that may be under way at an instruction, as the registers of left factors."""

    closed: tuple[Group, ...] = ()
    """Those that have ended, the last one first."""
    open: Group = frozenset()
    """The one that further products join."""

    def reads(self) -> Group:
        return frozenset().union(*self.closed, self.open)

    def joined(self, other: _State) -> _State:
        """Returns what may be under way on one of two paths."""
        pairs = zip_longest(self.closed, other.closed, fillvalue=frozenset[int]())
        return _State(tuple(a | b for a, b in pairs), self.open | other.open)


def overwritten_factor(assembly: str) -> int | None:
    """Returns a register that is written while a product under way may still read it.

    All paths through a kernel are followed; where they meet, what any of them has started counts.

    Args:
        assembly: what nvdisasm prints of a kernel (`-c`).

    Returns:
        The number of the register; None if there is none.
    """
    code, places = _parsed(assembly)
    known: dict[int, _State] = {}
    # What an indirect branch leads to begins at a label.
    pending = [(place, _State()) for place in (0, *places.values())]
    while pending:
        at, state = pending.pop()
        while at < len(code):
            if at in known:
                state = known[at].joined(state)
                if state == known[at]:
                    break
            known[at] = state
            instruction = code[at]
            if instruction.name.startswith(PRODUCTS) or instruction.name == _WAIT:
                # A product that is started does not write before those that were.
                after = _after(state, instruction)
                state = after.joined(state) if instruction.guarded else after
            elif touched := _written(instruction) & state.reads():
                return min(touched)
            at += 1
            operation = instruction.name.split(".")[0]
            if operation == "BRA":
                target = places.get(_target(instruction))
                if target is not None:
                    pending.append((target, state))
            if operation in _ENDS and not instruction.may_be_left_out:
                break
    return None


def _parsed(assembly: str) -> tuple[list[_Instruction], dict[str, int]]:
    """Returns the instructions, and the places of labels among them."""
    code: list[_Instruction] = []
    places: dict[str, int] = {}
    for line in assembly.splitlines():
        label = _LABEL.match(line)
        if label is not None:
            places[label[1]] = len(code)
        for found in INSTRUCTION.finditer(line):
            code.append(
                _Instruction(found["guard"] is not None, found["name"], found["operands"])
            )
    return code, places


def _target(branch: _Instruction) -> str:
    """Returns the label that a branch leads to."""
    return branch.operands.split(",")[-1].strip().strip("`()")


def _after(state: _State, instruction: _Instruction) -> _State:
    """Returns what is under way after a product, or a wait for products."""
    parts = instruction.parts()
    if instruction.name == _WAIT:
        return state._replace(closed=state.closed[: int(parts[-1], 0)])
    factor = _REGISTER.fullmatch(parts[1]) if len(parts) > 1 else None
    registers = state.open
    if factor is not None:
        registers |= set(range(int(factor[1]), int(factor[1]) + _FACTOR))
    if "gsb0" in parts:
        return _State((registers, *state.closed)[:_MOST_GROUPS])
    return state._replace(open=registers)


def _written(instruction: _Instruction) -> frozenset[int]:
    """Returns the registers that an instruction writes, but for products."""
    parts = instruction.parts()
    found = _REGISTER.fullmatch(parts[0]) if parts else None
    if found is None or instruction.name.startswith(_WRITES_NONE):
        return frozenset()
    first = int(found[1])
    return frozenset(range(first, first + _width(instruction.name)))


def _width(name: str) -> int:
    """Returns the number of registers that an instruction writes."""
    operation, *parts = name.split(".")
    if operation == "LDSM":
        return int(parts[-1]) if parts[-1].isdigit() else 1
    if "128" in parts:
        return 4
    # A conversion says what it converts to, as in F64 and S64, and then what from.
    wide = "64" in parts or "WIDE" in parts or operation in ("DADD", "DMUL", "DFMA")
    wide |= any(part in ("F64", "S64", "U64") for part in parts[:1])
    return 2 if wide or (operation == "CS2R" and "32" not in parts) else 1
