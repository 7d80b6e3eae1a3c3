"""Finds the pass that changes what a program computes.

The module is kept after every pass. Then each is run on the same small inputs and compared with
the one before it: in exact arithmetic, where reassociation changes nothing, or, at a pass that
rewrites functions which exact arithmetic takes for symbols, with exponentials that turn sums into
products, or within bounds of the error that a legal computation may have. The input is compared
with the last stage at more sizes: those near which steps, tiles and masks end. The last comparison
is the emitted kernel on Triton's interpreter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, host, sched, tile
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Arithmetic, Character, Value, shape_of
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.exact import ExactArithmetic, parts_of, running_symbol_uses, symbol_uses
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.run import Inputs, random_inputs, run_module
from dt_mlir.printing import module_text
from dt_mlir.scheduling.directive import Directive
from dt_mlir.verification.masks import MaskReport, check_masks
from dt_mlir.verification.sizes import Case, cases_near_steps, choose_cases
from dt_mlir.verifier import verify_module

EXPONENTIALS = frozenset({"math.exp", "math.exp2"})
"""The functions that have a meaning where exponentials turn sums into products."""


class Mode(StrEnum):
    """The arithmetic that modules are compared in."""

    EXACT = "exact"
    """A finite field, where that decides; functions are symbols."""
    EXPONENTIAL = "exponential"
    """The field with exponentials that turn sums into products, where that decides."""
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
    character: Character = Character.ANY
    """The character of the inputs."""


@dataclass
class Report:
    """The result of a verification."""

    passes: int = 0
    """The number of passes that ran."""
    changes: int = 0
    """The number of passes that changed the module."""
    modes: Counter[Mode] = field(default_factory=Counter[Mode])
    """The number of these that were decided in each arithmetic."""
    cases: list[Case] = field(default_factory=list[Case])
    """The cases in which they were compared."""
    near_steps: int = 0
    """The number of further cases, in which the input was compared with the last stage."""
    elements: int = 0
    """The number of elements of results that were compared."""
    undecided: int = 0
    """The number of them that can be any value, so that comparing them decides nothing."""
    notes: list[str] = field(default_factory=list[str])
    """Remarks on passes that were decided in another way, with the reason."""
    masks: MaskReport | None = None
    """The findings on the last stage's masks, if it has kernels of the `tile` level."""
    kernel: str = ""
    """The outcome of running the emitted kernel."""

    def __str__(self) -> str:
        shown = "; ".join(
            f"{case.kind} {_shown(case.sizes)}"
            for case in self.cases
            if case.character is Character.ANY
        )
        ways = {
            Mode.EXACT: "exactly",
            Mode.EXPONENTIAL: "with exp(a + b) = exp(a) exp(b)",
            Mode.BOUNDED: "within error bounds",
        }
        parts = [f"{self.modes[mode]} {way}" for mode, way in ways.items() if self.modes[mode]]
        head = f"{self.passes} passes ran, {self.changes} changed the module"
        head += f"; of these agree {', '.join(parts)}" if parts else ""
        lines = [
            f"semantics verified: {head}",
            f"  sizes: {shown}",
        ]
        if self.near_steps:
            lines.append(
                f"  {self.near_steps} more sizes and inputs: near 1/2, 1, 3/2 and 2 of each step, "
                "from the input to the last pass"
            )
        lines += [f"  {note}" for note in self.notes]
        if self.undecided:
            lines.append(f"  {self.undecided} of {self.elements} elements are undecided")
        if self.masks is not None:
            lines.append(f"  {self.masks}")
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
        """Keeps what a pass has made."""
        self.stages.append(Stage(module.clone(), item))

    def applied(
        self, directive: Directive, location: Attribute | None, module: ModuleOp
    ) -> None:
        """Keeps what a directive of a schedule has made; see `OBSERVER`."""
        self.stages.append(Stage(without_schedule(module), directive, location))


def without_schedule(module: ModuleOp) -> ModuleOp:
    """A copy of a module without the directives that are yet to be applied."""
    copy = module.clone()
    for op in list(copy.ops):
        if isinstance(op, sched.ScheduleOp):
            Rewriter.erase_op(op)
    return copy


def arithmetic_for(mode: Mode, module: ModuleOp) -> Arithmetic:
    """Returns the arithmetic of a mode for a module."""
    if mode is Mode.BOUNDED:
        return BoundedArithmetic(Accuracy.of(module))
    return ExactArithmetic(exponentials=mode is Mode.EXPONENTIAL)


def verify_semantics(
    stages: Sequence[Stage],
    mode: Mode = Mode.EXACT,
    given: Given | None = None,
    sizes: Mapping[str, int] | None = None,
    kernel: bool = True,
    masks: bool | None = False,
    characters: Sequence[Character] = tuple(Character),
    allowed: Callable[[SemanticsError], bool] | None = None,
) -> Report:
    """Compares each stage of a pipeline with the one before it.

    Args:
        stages: the input and what each pass made of it.
        mode: how; each falls back to the next one where it cannot decide, `exact` to
            `exponential` and that to `bounded`.
        given: inputs that are used in place of random ones.
        sizes: sizes of labels that are used in place of chosen ones.
        kernel: whether to run the emitted kernel too, if the last stage can be emitted.
        masks: whether to change each element of each mask of the last stage, rather than the two
            at its bound, and to do so at given sizes; None to change none.
        characters: what inputs of given sizes are like.
        allowed: says whether results may differ so; the other cases are compared then, too.

    Raises:
        SemanticsError: at the first pass that changes what is computed.
        CompileError: if the program itself does what it must not, or is too large to run.
    """
    given_sizes = dict(sizes or {})
    return _Check(stages, mode, given, given_sizes, kernel, masks, characters, allowed).run()


class _Check:
    def __init__(
        self,
        stages: Sequence[Stage],
        mode: Mode,
        given: Given | None,
        sizes: dict[str, int],
        kernel: bool,
        masks: bool | None,
        characters: Sequence[Character],
        allowed: Callable[[SemanticsError], bool] | None,
    ) -> None:
        self.allowed = allowed
        self.mode = mode if given is None else given.mode
        self.given, self.kernel, self.masks = given, kernel, masks
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
        self._structure()
        self.symbols = [symbol_uses(module) for module in modules]
        self.running_symbols = [running_symbol_uses(module) for module in modules]
        self.parts = [parts_of(module) for module in modules]
        self._interfaces()
        self.near_steps: list[Case] = []
        if given is not None:
            self.cases = [Case("given", given.sizes)]
        else:
            self.cases = choose_cases(modules, sizes, characters)
            if not sizes:
                self.near_steps = cases_near_steps(modules)
        self.report.cases, self.report.near_steps = self.cases, len(self.near_steps)
        self.results: dict[tuple[int, Mode, int], dict[str, Value]] = {}
        self.decided: dict[tuple[int, str], list[int]] = {}
        """The number of undecided elements and of all elements, for each stage and result."""
        self.places: dict[str, Attribute] = {}
        for op in stages[0].module.walk():
            if isinstance(op, dt.FuncOp):
                self.places[op.sym_name.data] = op.location
            elif isinstance(op, host.AllocOp):
                self.places[op.tensor.data] = op.location

    def run(self) -> Report:
        for case in self.cases:
            self._results(0, self.mode, case)
        for index in range(1, len(self.stages)):
            decided = [self._compare(index, self.mode, case) for case in self.cases]
            self._check_decided(index)
            # The weakest of the arithmetics is what can be said of all cases.
            self.report.modes[max(decided, key=list(Mode).index)] += 1
        for case in self.near_steps:
            self._compare_ends(case)
        last = self.stages[-1][1].module
        has_kernels = any(isinstance(op, tile.KernelOp) for op in last.ops)
        # Sizes of the caller's may be large, and masks take many runs.
        wanted = self.masks or (self.masks is not None and self.near_steps)
        if self.given is None and wanted and has_kernels:
            self.report.masks = check_masks(last, self.cases[0].sizes, bool(self.masks))
        if self.kernel:
            self._emitted()
        return self.report

    def _compare_ends(self, case: Case) -> None:
        """Compares the first and the last stage, and all between where these differ.

        Where a pass rewrites functions that exact arithmetic takes for symbols, the stages before
        and after it are compared as always.
        """
        start = 0
        for index in range(1, len(self.stages)):
            if self._rewritten(index):
                self._compare_part(start, index - 1, case)
                self._compare(index, self.mode, case)
                start = index
        self._compare_part(start, len(self.stages) - 1, case)
        self._forget(case)

    def _compare_part(self, first: int, last: int, case: Case) -> None:
        try:
            before = self._results(first, self.mode, case)
            after = self._results(last, self.mode, case)
            arithmetic = arithmetic_for(self.mode, self.stages[last][1].module)
            same = not any(
                _difference(arithmetic, name, value, after.get(name))
                for name, value in before.items()
            )
        except SemanticsError:
            same = False
        for index in range(first + 1, last + 1) if not same else ():
            self._compare(index, self.mode, case)

    def _forget(self, case: Case) -> None:
        """Drops the results of a case, which nothing asks for again."""
        for key in [key for key in self.results if key[2] == id(case)]:
            del self.results[key]

    def _structure(self) -> None:
        """Verifies the IR of each stage, which a pipeline does at its end alone."""
        for number, stage in self.stages[1:]:
            try:
                verify_module(stage.module)
            except CompileError as error:
                raise SemanticsError(
                    f"'{_named(stage)}' makes malformed IR: {error.message}",
                    stage.location or error.location, number, None, True,
                ) from error  # fmt: skip

    def _interfaces(self) -> None:
        """Compares what the stages take."""
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

    def inputs(self, mode: Mode, case: Case) -> Inputs:
        """Returns the inputs of one run."""
        if self.given is not None:
            return self.given.inputs
        first = self.stages[0][1].module
        arithmetic = arithmetic_for(mode, first)
        return random_inputs(
            Interface.of(first), case.sizes, arithmetic, character=case.character
        )

    def _results(self, index: int, mode: Mode, case: Case) -> dict[str, Value]:
        key = (index, mode, id(case))
        if key not in self.results:
            number, stage = self.stages[index]
            arithmetic = arithmetic_for(mode, stage.module)
            inputs, sizes = self.inputs(mode, case), case.sizes
            try:
                self.results[key] = run_module(stage.module, inputs, sizes, arithmetic)
            except ExecutionError as error:
                if index == 0:
                    raise
                raise SemanticsError(
                    f"'{_named(stage)}' breaks the program: {error.message}, with "
                    f"{_shown(sizes)}", stage.location or error.location, number,
                    Given(mode, sizes, inputs, case.character), True,
                ) from error  # fmt: skip
            except CompileError:
                raise
            except Exception as error:
                if index == 0:
                    raise
                # What verifies but has no meaning is the pass' doing, not the interpreters'.
                missing = error.args[0] if isinstance(error, KeyError) and error.args else None
                why = (
                    f"nothing gives '{missing}' a value" if isinstance(missing, str)
                    else type(error).__name__
                )
                raise SemanticsError(
                    f"'{_named(stage)}' makes IR that cannot run ({why}), with "
                    f"{_shown(sizes)}", stage.location or stage.module.location, number,
                    Given(mode, sizes, inputs, case.character), True,
                ) from error  # fmt: skip
        return self.results[key]

    def _compare(self, index: int, mode: Mode, case: Case) -> Mode:
        """Compares a stage with the one before; returns the arithmetic that decided."""
        number, stage = self.stages[index]
        before = self._results(index - 1, mode, case)
        after = self._results(index, mode, case)
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
            if mode is not Mode.BOUNDED and rewritten:
                if mode is Mode.EXACT and rewritten <= EXPONENTIALS:
                    return self._compare(index, Mode.EXPONENTIAL, case)
                shown = ", ".join(sorted(rewritten))
                line = f"{_named(stage)} rewrites {shown}: compared within error bounds"
                if line not in self.report.notes:
                    self.report.notes.append(line)
                return self._compare(index, Mode.BOUNDED, case)
            way = "beyond the error bounds" if mode is Mode.BOUNDED else "in exact arithmetic"
            error = SemanticsError(
                f"'{_named(stage)}' changes what is computed: {found}, {way}, with "
                f"{_shown(case.sizes)}", stage.location or self._place(name), number,
                Given(mode, case.sizes, self.inputs(mode, case), case.character),
            )  # fmt: skip
            if self.allowed is None or not self.allowed(error):
                raise error
            return mode
        if mode is Mode.EXPONENTIAL and self.given is None:
            # The field knows no overflow, which is what rescaled exponentials avoid.
            self._compare(index, Mode.BOUNDED, case)
        return mode

    def _check_decided(self, index: int) -> None:
        """Checks that comparing a stage with the one before has decided something of each result.

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

    def _rewritten(self, index: int) -> set[str]:
        """Returns the functions that a stage has more or less often than the one before.

        So it does those of running values where the steps of their loops, or parts, are others.

        Inputs that are given belong to one arithmetic, so that there is nothing to fall back to.
        """
        if self.given is not None:
            return set()
        found: set[str] = set()
        for counts in (self.symbols, self.running_symbols):
            before, after = counts[index - 1], counts[index]
            found |= {*(before - after), *(after - before)}
        if self.parts[index - 1] != self.parts[index]:
            found |= {*self.running_symbols[index - 1], *self.running_symbols[index]}
        return found

    def _place(self, output: str) -> Attribute:
        return self.places.get(output, UnknownLoc())

    def _emitted(self) -> None:
        from dt_mlir.verification.emitted import NotRunError, run_emitted

        last = self.stages[-1][1]
        mode = Mode.BOUNDED
        if self.given is not None and self.mode is not Mode.BOUNDED:
            return
        for case in self.cases:
            sizes, inputs = case.sizes, self.inputs(mode, case)
            try:
                results = run_emitted(last.module, inputs, sizes)
            except NotRunError as error:
                self.report.kernel = f"was not run: {error}" if str(error) else ""
                return
            wanted = self._results(0, mode, case)
            arithmetic = arithmetic_for(mode, self.stages[0][1].module)
            for name, value in wanted.items():
                found = _difference(arithmetic, name, value, results.get(name))
                if found is not None:
                    # What exact arithmetic does not see (a rounding) may be a pass's doing.
                    for index in range(1, len(self.stages)):
                        self._compare(index, mode, case)
                    raise SemanticsError(
                        f"the emitted kernel computes something else: {found}, with "
                        f"{_shown(sizes)}", self._place(name), self.count,
                        Given(mode, sizes, inputs, case.character),
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
