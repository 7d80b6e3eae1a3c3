"""Registers that asynchronous products of Hopper GPUs read or add to, and what touches them.

An `HGMMA` instruction starts a product of which a group of warps waits later: `gsb0` closes a group
of products, and `WARPGROUP.DEPBAR.LE gsb0, n` waits until at most `n` groups are under way. Until
then the products read the left factor's registers, and add to those of the sum.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_INSTRUCTION = re.compile(
    r"/\*[0-9a-f]{4,}\*/\s+(?:@!?(?P<guard>U?P\w+)\s+)?(?P<name>[A-Z][A-Z0-9_.]*)"
    r"(?P<operands>[^;]*);"
)
_LABEL = re.compile(r"^\s*(\.L\w+):")
_PREDICATE = re.compile(r"!?U?P[T\d]\w*")
_REGISTER = re.compile(r"R(\d+)(?:\.\w+)?")
_PRODUCT = "HGMMA"
_WAIT = "WARPGROUP.DEPBAR.LE"
_WRITES_NONE = (
    "ST", "RED", "BAR", "ISETP", "FSETP", "DSETP", "HSETP", "PSETP", "PLOP", "R2P", "FCHK", "R2UR",
    "SYNCS", "MEMBAR", "WARPSYNC",
)  # fmt: skip
"""The first letters of instructions whose first operand that is a register is read."""
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


class _State(NamedTuple):
    """The groups under way at an instruction, each as the registers of its left factors."""

    closed: tuple[Group, ...] = ()
    """Those that have ended, the oldest first."""
    open: Group = frozenset()
    """The one that further products join."""

    def reads(self) -> Group:
        return frozenset().union(*self.closed, self.open)


def overwritten_factor(assembly: str) -> int | None:
    """Returns a register that is written while a product under way may still read it.

    All paths through a kernel are followed.

    Args:
        assembly: what nvdisasm prints of a kernel (`-c`).

    Returns:
        The number of the register; None if there is none.
    """
    code, places = _parsed(assembly)
    seen: set[tuple[int, _State]] = set()
    # What an indirect branch leads to begins at a label.
    pending = [(place, _State()) for place in (0, *places.values())]
    while pending:
        at, state = pending.pop()
        while at < len(code) and (at, state) not in seen:
            seen.add((at, state))
            instruction = code[at]
            written = _written(instruction)
            # A product that is started does not write before those that were.
            if instruction.name.startswith(_PRODUCT) or instruction.name == _WAIT:
                state = _after(state, instruction)
            elif written and (touched := written & state.reads()):
                return min(touched)
            at += 1
            if instruction.name.startswith("BRA"):
                target = places.get(instruction.operands.strip().strip("`()").split()[-1])
                if target is not None:
                    pending.append((target, state))
            if instruction.name in ("BRA", "EXIT") and not instruction.guarded:
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
        for found in _INSTRUCTION.finditer(line):
            code.append(
                _Instruction(found["guard"] is not None, found["name"], found["operands"])
            )
    return code, places


def _after(state: _State, instruction: _Instruction) -> _State:
    """Returns what is under way after a product, or a wait for products."""
    parts = instruction.parts()
    if instruction.name == _WAIT:
        left = int(parts[-1], 0)
        return state._replace(closed=state.closed[len(state.closed) - left :] if left else ())
    factor = _REGISTER.fullmatch(parts[1]) if len(parts) > 1 else None
    registers = state.open
    if factor is not None:
        registers |= set(range(int(factor[1]), int(factor[1]) + _FACTOR))
    if "gsb0" in parts:
        return _State((*state.closed, registers)[-_MOST_GROUPS:])
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
    wide = "64" in parts or "WIDE" in parts or operation in ("DADD", "DMUL", "DFMA")
    return 2 if wide or (operation == "CS2R" and "32" not in parts) else 1
