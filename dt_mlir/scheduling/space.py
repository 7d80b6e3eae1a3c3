"""Spaces of schedules: what a schedule leaves open, and its points.

A space has a dimension for each knob, for each set that stands in a directive, and for each group
of alternatives. A point gives each an option; alternatives are numbered from 0. What occurs only
in alternatives that a point does not take is not a dimension there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects.sched import (
    AlternativesOp,
    Argument,
    DirectiveOp,
    KnobOp,
    KnobReference,
    Options,
    ScheduleOp,
)

Option = int | str
Point = dict[str, Option]
"""An option for each dimension, by name."""


@dataclass
class Dimension:
    """The subject of a decision."""

    name: str
    """A knob's or a choice's name; of a set where it stands, as in `f.block.x`."""
    options: tuple[Option, ...]
    """The options."""
    branches: set[tuple[str, int] | None] = field(default_factory=set[tuple[str, int] | None])
    """The alternatives in which it occurs, each with its dimension; None for what always counts."""
    texts: tuple[str, ...] = ()
    """The directives of each alternative, in DT."""

    @property
    def is_choice(self) -> bool:
        """True if it is about alternatives."""
        return bool(self.texts)

    def __str__(self) -> str:
        if not self.is_choice:
            return f"{self.name} = {Options(self.options)}"
        shown = (f"{number}: {text}" for number, text in enumerate(self.texts))
        return f"{self.name} = {{{', '.join(shown)}}}"

    def is_active(self, point: Mapping[str, Option]) -> bool:
        """Returns whether it matters where some alternatives are taken."""
        return any(at is None or point.get(at[0]) == at[1] for at in self.branches)


class Space:
    """The space of schedules that a module's schedule leaves open."""

    def __init__(self, module: ModuleOp) -> None:
        self.schedules = [op for op in module.ops if isinstance(op, ScheduleOp)]
        self.dimensions: dict[str, Dimension] = {}
        self.choices: dict[AlternativesOp, str] = {}
        """The dimension of each group of alternatives."""
        self.sets: dict[DirectiveOp, list[str]] = {}
        """The dimensions of the sets that stand in each directive."""
        for schedule in self.schedules:
            for op in schedule.body.block.ops:
                if isinstance(op, KnobOp):
                    self._add(op.sym_name.data, op.option_set.values)
        for schedule in self.schedules:
            for op in schedule.body.block.ops:
                if isinstance(op, AlternativesOp):
                    self._alternatives(op)
                elif isinstance(op, DirectiveOp):
                    self._directive(op, None)

    def _add(self, name: str, options: tuple[Option, ...]) -> Dimension:
        unique, number = name, 1
        while unique in self.dimensions:
            number += 1
            unique = f"{name}_{number}"
        self.dimensions[unique] = Dimension(unique, options)
        return self.dimensions[unique]

    def _alternatives(self, op: AlternativesOp) -> None:
        if op.sym_name is not None:
            name = op.sym_name.data
        else:
            firsts = [next(iter(b.block.ops), None) for b in op.branches]
            found = [d for d in firsts if isinstance(d, DirectiveOp)]
            named = {f"{d.function_name}.{d.directive_name}" for d in found}
            name = named.pop() if len(named) == 1 else "choice"
        choice = self._add(name, tuple(range(len(op.branches))))
        choice.texts = tuple(
            " ".join(_text(d) for d in branch.block.ops) or "none" for branch in op.branches
        )
        choice.branches.add(None)
        self.choices[op] = choice.name
        for number, branch in enumerate(op.branches):
            for directive in branch.block.ops:
                assert isinstance(directive, DirectiveOp)
                self._directive(directive, (choice.name, number))

    def _directive(self, op: DirectiveOp, branch: tuple[str, int] | None) -> None:
        self.sets[op] = []
        for argument in op.argument_list:
            for part in (argument.value, argument.factor):
                if isinstance(part, KnobReference):
                    self.dimensions[part.name].branches.add(branch)
                elif isinstance(part, Options):
                    key = "" if argument.key is None else f".{argument.key}"
                    found = self._add(f"{op.function_name}.{op.directive_name}{key}", part.values)
                    found.branches.add(branch)
                    self.sets[op].append(found.name)

    def points(self) -> Iterator[Point]:
        """All points, the last dimension's options fastest."""
        choices = [d for d in self.dimensions.values() if d.is_choice]
        for taken in itertools.product(*(d.options for d in choices)):
            start = dict(zip((d.name for d in choices), taken))
            active = [d for d in self.dimensions.values() if not d.is_choice and d.is_active(start)]
            for values in itertools.product(*(d.options for d in active)):
                yield start | dict(zip((d.name for d in active), values))

    def __len__(self) -> int:
        choices = [d for d in self.dimensions.values() if d.is_choice]
        count = 0
        for taken in itertools.product(*(d.options for d in choices)):
            start = dict(zip((d.name for d in choices), taken))
            count += math.prod(
                len(d.options)
                for d in self.dimensions.values()
                if not d.is_choice and d.is_active(start)
            )
        return count

    def __str__(self) -> str:
        return ", ".join(map(str, self.dimensions.values()))


def _text(op: Operation) -> str:
    assert isinstance(op, DirectiveOp)
    return f"{op.function_name}.{op.directive_name}({', '.join(map(str, op.argument_list))})"


def select(module: ModuleOp, point: Mapping[str, Option]) -> None:
    """Decides dimensions of a module's schedule.

    Args:
        module: the module; it is changed.
        point: an option for some dimensions, by name.

    Raises:
        CompileError: if there is no such dimension or option; the module is unchanged.
    """
    space = Space(module)
    for name, option in point.items():
        dimension = space.dimensions.get(name)
        if dimension is None:
            known = list(space.dimensions)
            raise CompileError(
                f"the schedule leaves no '{name}' open", None,
                did_you_mean(name, known)
                or (f"it leaves open: {space}" if known else "everything is decided"),
            )  # fmt: skip
        if option not in dimension.options:
            raise CompileError(
                f"'{name}' cannot be {option}", None, f"it is one of {Options(dimension.options)}"
            )
    for op, sets in space.sets.items():
        _decide(op, point, sets)
    for op, name in space.choices.items():
        taken = point.get(name)
        if isinstance(taken, int):
            _take(op, op.branches[taken].block)
    _drop_unused_knobs(space.schedules)


def _decide(op: DirectiveOp, point: Mapping[str, Option], sets: list[str]) -> None:
    """Puts options where sets and knobs stand; `sets` are the sets' names in their order."""
    pending = iter(sets)

    def decided(part: Any) -> Any:
        if isinstance(part, KnobReference):
            return point.get(part.name, part)
        return point.get(next(pending), part) if isinstance(part, Options) else part

    arguments = [
        Argument(a.key, decided(a.value), decided(a.factor))
        for a in op.argument_list
    ]
    if arguments != op.argument_list:
        op.set_arguments(arguments)


def _take(op: AlternativesOp, branch: Block) -> None:
    """Puts the directives of a branch in the place of the alternatives."""
    block = op.parent_block()
    assert block is not None
    for directive in list(branch.ops):
        directive.detach()
        block.insert_op_before(directive, op)
    Rewriter.erase_op(op)


def _drop_unused_knobs(schedules: list[ScheduleOp]) -> None:
    for schedule in schedules:
        used = {
            part.name
            for op in schedule.directives()
            for argument in op.argument_list
            for part in (argument.value, argument.factor)
            if isinstance(part, KnobReference)
        }
        for op in list(schedule.body.block.ops):
            if isinstance(op, KnobOp) and op.sym_name.data not in used:
                Rewriter.erase_op(op)
