"""The obligations that rest on each directive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import DirectiveNote, Kind, Obligation
from dt_mlir.dialects import dt, sched
from dt_mlir.frontend.raising import raise_module
from dt_mlir.language.schedule import Schedule
from dt_mlir.registry import find_directive
from dt_mlir.scheduling.directive import Directive, Phase

_ALGEBRA = frozenset({Kind.VALUE, Kind.REDUCED, Kind.NEUTRAL, Kind.LAW})
_PLACES = frozenset({Kind.WRITTEN, Kind.IN_BOUNDS})
RESTS_ON: dict[Phase, frozenset[Kind]] = {
    Phase.NAMES: frozenset(),
    Phase.ALGEBRA: _ALGEBRA,
    Phase.COPIES: _PLACES | {Kind.VALUE},
    Phase.PARTS: _ALGEBRA | {Kind.WRITTEN},
    Phase.SCANS: _ALGEBRA,
    Phase.CHUNKS: _ALGEBRA,
    Phase.LABELS: _ALGEBRA | _PLACES,
    Phase.FUSION: frozenset({Kind.VALUE, Kind.REDUCED, Kind.NEUTRAL}),
    Phase.PARTITION: _PLACES,
    Phase.ORDER: frozenset({Kind.VALUE, Kind.WRITTEN}),
    Phase.TILING: _PLACES | {Kind.REDUCED, Kind.NEUTRAL},
    Phase.MAPPING: frozenset({Kind.WRITTEN}),
    Phase.STORAGE: frozenset({Kind.IN_BOUNDS, Kind.VALUE}),
    Phase.HINTS: frozenset({Kind.VALUE, Kind.PROTOCOL}),
    Phase.PROMISES: frozenset(),
}
"""The obligations that a directive of a phase could break: the phase says what it changes."""


def _kinds(cls: type[Directive] | None) -> frozenset[Kind]:
    """Returns the obligations that a directive could break."""
    if cls is None:
        return frozenset(Kind)
    if cls.phase is Phase.HINTS and not cls.decides_bits:
        return frozenset()
    return RESTS_ON[cls.phase]


def kernels_of(module: ModuleOp, stored: Sequence[str]) -> dict[str, set[str]]:
    """Returns the kernels in which each function of a program is computed.

    Args:
        module: the program at the `dt` level.
        stored: the functions that have kernels.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
    found: dict[str, set[str]] = {}
    for root in stored:
        pending = [root]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen or name not in functions:
                continue
            seen.add(name)
            found.setdefault(name, set()).add(root)
            for op in functions[name].body.walk():
                if isinstance(op, dt.ReadOp) and op.source_name not in stored:
                    pending.append(op.source_name)
    return found


def attributed(
    module: ModuleOp, obligations: Sequence[Obligation], kernels: Mapping[str, set[str]]
) -> tuple[DirectiveNote, ...]:
    """Returns the directives of a program with the obligations that rest on each.

    Args:
        module: the program at the `dt` level, its schedule beside it.
        obligations: the obligations.
        kernels: the kernels in which each function is computed.
    """
    lines = Schedule.of(raise_module(module)).to_dt().splitlines()
    ops = [op for op in module.walk() if isinstance(op, sched.DirectiveOp)]
    found: list[DirectiveNote] = []
    for op, line in zip(ops, lines):
        function = op.function_name
        cls = find_directive(op.directive_name)
        kinds = _kinds(cls)
        roots = kernels.get(function, {function})
        numbers = tuple(
            number
            for number, item in enumerate(obligations)
            if item.kernel in roots and item.kind in kinds
        )
        found.append(DirectiveNote(line, function, numbers, op.location))
    return tuple(found)
