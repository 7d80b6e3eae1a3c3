"""Finds the pass that changes what a program computes.

The module is kept after every pass. Then each is run on the same small inputs and compared with
the one before it: in exact arithmetic, where reassociation changes nothing, or, at a pass that
rewrites functions which exact arithmetic takes for symbols, within bounds of the error that a
legal computation may have. The last comparison is the emitted kernel on Triton's interpreter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, host, sched
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Arithmetic, Value, shape_of
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.exact import ExactArithmetic, symbol_uses
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.run import Inputs, random_inputs, run_module
from dt_mlir.printing import module_text
from dt_mlir.scheduling.directive import Directive
from dt_mlir.verification.sizes import choose_sizes


class Mode(StrEnum):
    """The arithmetic that modules are compared in."""

    EXACT = "exact"
    """A finite field, where that decides."""
    BOUNDED = "bounded"
    """Float64 with error bounds."""


@dataclass(frozen=True)
class Stage:
    """A module as it was at one point of a pipeline."""

    module: ModuleOp
    """A copy of the module."""
    item: ModulePass | None
    """The pass that made it; None for the input."""
    location: Attribute | None = None
    """The place of the directive in the program, if the pass is a directive of its schedule."""


@dataclass(frozen=True)
class Given:
    """Inputs that a run is repeated with."""

    mode: Mode
    """The arithmetic that they belong to."""
    sizes: dict[str, int]
    """A size for each label."""
    inputs: Inputs
    """The inputs, as that arithmetic has them."""


@dataclass
class Report:
    """What was compared."""

    passes: int = 0
    """How many passes ran."""
    changes: int = 0
    """How many of them changed the module."""
    exactly: int = 0
    """How many of these were compared in exact arithmetic."""
    sizes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    """The sizes at which they were compared, by kind."""
    elements: int = 0
    """The number of elements of results that were compared."""
    undecided: int = 0
    """The number of them that can be any value, so that comparing them decides nothing."""
    notes: list[str] = field(default_factory=list[str])
    """What was decided in another way, and why."""
    kernel: str = ""
    """What became of the emitted kernel."""

    def __str__(self) -> str:
        shown = "; ".join(
            f"{kind} {', '.join(f'{label}={size}' for label, size in sizes.items())}"
            for kind, sizes in self.sizes.items()
            if "(" not in kind
        )
        head = (
            f"{self.passes} passes ran, {self.changes} changed the module, "
            f"{self.exactly} of these agree exactly"
        )
        rest = self.changes - self.exactly
        head += f" and {rest} within error bounds" if rest else ""
        lines = [
            f"semantics verified: {head}",
            f"  sizes: {shown}",
            *(f"  {n}" for n in self.notes),
        ]
        if self.undecided:
            lines.append(f"  {self.undecided} of {self.elements} elements are undecided")
        if self.kernel:
            lines.append(f"  the emitted kernel {self.kernel}")
        return "\n".join(lines)


class SemanticsError(CompileError):
    """A pass that changes what a program computes.

    Args:
        message: what is wrong.
        at: the program's line.
        stage: the number of the stage whose pass is at fault; the number of stages for the
            emitter.
        given: the inputs that show it.
        breaks: whether the program does what none may, rather than give another result.
    """

    def __init__(
        self,
        message: str,
        at: Attribute | None,
        stage: int,
        given: Given | None,
        breaks: bool = False,
    ) -> None:
        super().__init__(message, at)
        self.stage = stage
        self.given = given
        self.breaks = breaks


class UndecidedError(SemanticsError):
    """A result of which no comparison decides anything, at any size and in either arithmetic."""


class Recorder:
    """Keeps the module after each pass; call it from a pass manager's callback."""

    def __init__(self, module: ModuleOp) -> None:
        self.stages = [Stage(module.clone(), None)]

    def after(self, item: ModulePass, module: ModuleOp) -> None:
        """Keep what a pass has made."""
        self.stages.append(Stage(module.clone(), item))

    def applied(
        self, directive: Directive, location: Attribute | None, module: ModuleOp
    ) -> None:
        """Keep what a directive of a schedule has made; see `OBSERVER`."""
        self.stages.append(Stage(without_schedule(module), directive, location))


def without_schedule(module: ModuleOp) -> ModuleOp:
    """A copy of a module without the directives that are yet to be applied."""
    copy = module.clone()
    for op in list(copy.ops):
        if isinstance(op, sched.ScheduleOp):
            Rewriter.erase_op(op)
    return copy


def arithmetic_for(mode: Mode, module: ModuleOp) -> Arithmetic:
    """What elements are, in a mode and for a module."""
    return ExactArithmetic() if mode is Mode.EXACT else BoundedArithmetic(Accuracy.of(module))


def verify_semantics(
    stages: Sequence[Stage],
    mode: Mode = Mode.EXACT,
    given: Given | None = None,
    sizes: Mapping[str, int] | None = None,
    kernel: bool = True,
) -> Report:
    """Compare each stage of a pipeline with the one before it.

    Args:
        stages: the input and what each pass made of it.
        mode: how; `exact` falls back to `bounded` where it cannot decide.
        given: inputs that are used in place of random ones.
        sizes: sizes of labels that are used in place of chosen ones.
        kernel: whether to run the emitted kernel too, if the last stage can be emitted.

    Raises:
        SemanticsError: at the first pass that changes what is computed.
        CompileError: if the program itself does what it must not, or is too large to run.
    """
    return _Check(stages, mode, given, dict(sizes or {}), kernel).run()


class _Check:
    def __init__(
        self,
        stages: Sequence[Stage],
        mode: Mode,
        given: Given | None,
        sizes: dict[str, int],
        kernel: bool,
    ) -> None:
        self.mode = mode if given is None else given.mode
        self.given, self.kernel = given, kernel
        self.report = Report(passes=len(stages) - 1)
        self.count = len(stages)
        # What a pass leaves as it was need not run again; and some passes are meant to change
        # what is computed.
        self.stages: list[tuple[int, Stage]] = []
        before = ""
        for number, stage in enumerate(stages):
            text = module_text(stage.module)
            if getattr(stage.item, "changes_meaning", False):
                self.stages.clear()
                self.report.notes.append(f"{_named(stage)} is meant to change the result")
            if text != before:
                self.stages.append((number, stage))
            before = text
        self.report.changes = len(self.stages) - 1
        modules = [stage.module for _, stage in self.stages]
        self._interfaces()
        if given is not None:
            self.sizes = {"given": given.sizes}
        else:
            self.sizes = choose_sizes(modules, sizes)
            first = next(iter(self.sizes))
            # Once more, with inputs of which many are equal and some not a number.
            self.sizes[f"{first} (special inputs)"] = self.sizes[first]
        self.report.sizes = self.sizes
        self.results: dict[tuple[int, Mode, str], dict[str, Value]] = {}
        self.decided: dict[tuple[int, str], list[int]] = {}
        """For each stage and result the number of undecided elements and of all elements."""
        self.places: dict[str, Attribute] = {}
        for op in stages[0].module.walk():
            if isinstance(op, dt.FuncOp):
                self.places[op.sym_name.data] = op.location
            elif isinstance(op, host.AllocOp):
                self.places[op.tensor.data] = op.location

    def run(self) -> Report:
        for kind in self.sizes:
            self._results(0, self.mode, kind)
        rewriting = 0
        for index in range(1, len(self.stages)):
            decided = [self._compare(index, self.mode, kind) for kind in self.sizes]
            self._check_decided(index)
            rewriting += not all(mode is Mode.EXACT for mode in decided)
        self.report.exactly = self.report.changes - rewriting
        if self.kernel:
            self._emitted()
        return self.report

    def _interfaces(self) -> None:
        """Compare what the stages take."""
        known = Interface.of(self.stages[0][1].module)
        outputs = output_names(self.stages[0][1].module)
        for number, stage in self.stages[1:]:
            try:
                found = known.difference(Interface.of(stage.module))
                results = output_names(stage.module)
            except CompileError as error:
                raise SemanticsError(
                    f"'{_named(stage)}' breaks the program: {error.message}",
                    stage.location or error.location, number, None, True,
                ) from error  # fmt: skip
            if found is None and results != outputs:
                found = f"it returns {', '.join(results)}, and returned {', '.join(outputs)}"
            if found is not None:
                raise SemanticsError(
                    f"'{_named(stage)}' changes what the program takes or gives: {found}",
                    stage.location or stage.module.location, number, None,
                )  # fmt: skip

    def inputs(self, mode: Mode, kind: str) -> Inputs:
        """The inputs of one run."""
        if self.given is not None:
            return self.given.inputs
        first = self.stages[0][1].module
        arithmetic = arithmetic_for(mode, first)
        special = kind.endswith("(special inputs)")
        return random_inputs(Interface.of(first), self.sizes[kind], arithmetic, special=special)

    def _results(self, index: int, mode: Mode, kind: str) -> dict[str, Value]:
        key = (index, mode, kind)
        if key not in self.results:
            number, stage = self.stages[index]
            arithmetic = arithmetic_for(mode, stage.module)
            inputs, sizes = self.inputs(mode, kind), self.sizes[kind]
            try:
                self.results[key] = run_module(stage.module, inputs, sizes, arithmetic)
            except ExecutionError as error:
                if index == 0:
                    raise
                raise SemanticsError(
                    f"'{_named(stage)}' breaks the program: {error.message}, with "
                    f"{_shown(sizes)}", stage.location or error.location, number,
                    Given(mode, sizes, inputs), True,
                ) from error  # fmt: skip
        return self.results[key]

    def _compare(self, index: int, mode: Mode, kind: str) -> Mode:
        """Compare a stage with the one before; gives the mode that decided."""
        number, stage = self.stages[index]
        before = self._results(index - 1, mode, kind)
        after = self._results(index, mode, kind)
        arithmetic = arithmetic_for(mode, stage.module)
        for name, wanted in before.items():
            found = _difference(arithmetic, name, wanted, after.get(name))
            if found is None:
                known = self.decided.setdefault((index, name), [0, 0])
                unknown = int(np.sum(arithmetic.undecided(wanted, after[name])))
                known[0] += unknown
                known[1] += int(np.size(wanted.value))
                continue
            rewritten = self._rewritten(index)
            if mode is Mode.EXACT and rewritten:
                line = f"{_named(stage)} rewrites {rewritten}: compared within error bounds"
                if line not in self.report.notes:
                    self.report.notes.append(line)
                return self._compare(index, Mode.BOUNDED, kind)
            way = "in exact arithmetic" if mode is Mode.EXACT else "beyond the error bounds"
            sizes = self.sizes[kind]
            raise SemanticsError(
                f"'{_named(stage)}' changes what is computed: {found}, {way}, with "
                f"{_shown(sizes)}", stage.location or self._place(name), number,
                Given(mode, sizes, self.inputs(mode, kind)),
            )  # fmt: skip
        return mode

    def _check_decided(self, index: int) -> None:
        """Check that comparing a stage with the one before has decided something of each result.

        Raises:
            SemanticsError: naming the result of which nothing was decided.
        """
        number, stage = self.stages[index]
        for (at, name), (unknown, count) in self.decided.items():
            if at != index:
                continue
            self.report.elements += count
            self.report.undecided += unknown
            if count and unknown == count:
                raise UndecidedError(
                    f"nothing is known of what '{_named(stage)}' makes of '{name}': all "
                    f"{count} elements are undecided", stage.location or self._place(name),
                    number, None,
                )  # fmt: skip

    def _rewritten(self, index: int) -> str:
        """The functions that a stage has more or less often than the one before, in words.

        Inputs that are given belong to one arithmetic, so that there is nothing to fall back to.
        """
        before, after = (
            Counter(symbol_uses(stage.module)) for _, stage in self.stages[index - 1 : index + 1]
        )
        changed = (before - after) + (after - before)
        return "" if self.given is not None else ", ".join(sorted(changed))

    def _place(self, output: str) -> Attribute:
        return self.places.get(output, UnknownLoc())

    def _emitted(self) -> None:
        from dt_mlir.verification.emitted import NotRunError, run_emitted

        last = self.stages[-1][1]
        mode = Mode.BOUNDED
        if self.given is not None and self.mode is Mode.EXACT:
            return
        for kind, sizes in self.sizes.items():
            inputs = self.inputs(mode, kind)
            try:
                results = run_emitted(last.module, inputs, sizes)
            except NotRunError as error:
                self.report.kernel = f"was not run: {error}" if str(error) else ""
                return
            wanted = self._results(0, mode, kind)
            arithmetic = arithmetic_for(mode, self.stages[0][1].module)
            for name, value in wanted.items():
                found = _difference(arithmetic, name, value, results.get(name))
                if found is not None:
                    # What exact arithmetic does not see (a rounding) may be a pass's doing.
                    for index in range(1, len(self.stages)):
                        self._compare(index, mode, kind)
                    raise SemanticsError(
                        f"the emitted kernel computes something else: {found}, with "
                        f"{_shown(sizes)}", self._place(name), self.count,
                        Given(mode, sizes, inputs),
                    )  # fmt: skip
        self.report.kernel = "agrees, on Triton's interpreter"


def _named(stage: Stage) -> str:
    if stage.location is not None and isinstance(stage.item, Directive):
        return stage.item.text().rstrip(";")
    return "the input" if stage.item is None else stage.item.name


def _shown(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{label} = {size}" for label, size in sizes.items())


def _difference(
    arithmetic: Arithmetic, name: str, before: Value, after: Value | None
) -> str | None:
    """The first element in which two results differ, in words."""
    if after is None:
        return f"'{name}' is gone"
    if shape_of(before) != shape_of(after):
        extents = [" x ".join(map(str, shape_of(value))) or "a scalar" for value in (before, after)]
        return f"'{name}' is {extents[1]}, and was {extents[0]}"
    differ = arithmetic.differ(before, after)
    if not np.any(differ):
        return None
    place = tuple(int(i) for i in np.argwhere(differ)[0])
    where = f"[{', '.join(map(str, place))}]"
    count = int(np.sum(differ))
    return (
        f"'{name}'{where} is {arithmetic.show(after, place)}, and was "
        f"{arithmetic.show(before, place)} before ({count} of {np.size(differ)} elements differ)"
    )
