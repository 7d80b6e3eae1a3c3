"""Tests of what is not proved: the program is run at sizes near those at which tiles end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Kind, Obligation, Verdict
from dt_mlir.diagnostics import CompileError

if TYPE_CHECKING:
    from dt_mlir.verification.semantics import SemanticsError, Stage

_USUAL = (3, 1, 2, 4, 8, 16, 32, 64, 128, 1024)
"""The sizes of labels of which a counterexample says nothing, the first that the wrapper accepts.
"""


class Tests:
    """Runs a compiled program against its algorithm.

    Args:
        algorithm: the program at the `dt` level.
        module: the compiled program.
    """

    __test__ = False

    def __init__(self, algorithm: ModuleOp, module: ModuleOp) -> None:
        self.algorithm, self.module = algorithm, module
        self._tried: dict[str, tuple[Verdict, str]] = {}

    def run(self, obligations: list[Obligation]) -> None:
        """Tests the obligations that nothing proves or that are assumed, and counterexamples.

        The outcome is noted with each. A counterexample is none where the wrapper refuses its
        sizes, or the program is right when it is run: the solver does not know all that is checked.
        """
        general: tuple[Verdict, str] | None = None
        for number, item in enumerate(obligations):
            if item.verdict is Verdict.PROVED or self._is_confirmed(item):
                continue
            verdict, reason = Verdict.TESTED, ""
            if item.kind is Kind.PROTOCOL:
                verdict, reason = self._explored
            else:
                if item.verdict is Verdict.TESTED and item.sizes:
                    # What the solver doubts it says sizes of.
                    verdict, reason = self._at(item.sizes)
                general = general or self._outcome({})
                if verdict is Verdict.TESTED or general[0] is Verdict.REFUTED:
                    verdict, reason = general
            if item.verdict is Verdict.ASSUMED and verdict is not Verdict.REFUTED:
                continue
            known = "" if item.verdict is Verdict.REFUTED else item.reason
            why = f"{known}; {reason}" if known and known != reason else reason
            obligations[number] = replace(item, verdict=verdict, reason=why)

    @cached_property
    def _explored(self) -> tuple[Verdict, str]:
        """The outcome of all orders in which groups may act, up to some numbers of trips."""
        from dt_mlir.interpreters.warp_interleavings import TooManyStatesError
        from dt_mlir.passes.verify_warp import VerifyWarpPass

        try:
            VerifyWarpPass().apply(Context(), self.module)
        except TooManyStatesError as error:
            return Verdict.ASSUMED, f"it cannot be explored here: {error.message}"
        except CompileError as error:
            return Verdict.REFUTED, error.message
        return Verdict.TESTED, (
            "all interleavings were explored, up to so many trips of each loop that its rings wrap "
            "twice"
        )

    def _is_confirmed(self, item: Obligation) -> bool:
        """Returns whether an obligation is refuted, as far as can be tried here."""
        if item.verdict is not Verdict.REFUTED or not item.sizes:
            return item.verdict is Verdict.REFUTED
        return self._at(item.sizes)[0] is not Verdict.TESTED

    def _at(self, given: dict[str, int]) -> tuple[Verdict, str]:
        """Returns what a run at the sizes of a counterexample says: nothing where the wrapper
        refuses them."""
        key = str(given)
        if key not in self._tried:
            sizes = self._completed(given)
            self._tried[key] = (Verdict.TESTED, "") if sizes is None else self._outcome(sizes)
        return self._tried[key]

    def _completed(self, sizes: dict[str, int]) -> dict[str, int] | None:
        """Returns the sizes that a caller gives; None where the wrapper refuses them."""
        from dt_mlir.analysis.interface import Interface

        interface = Interface.of(self.module)
        bound = {a for item in interface.inputs for a in item.axes or () if isinstance(a, str)}
        labels = dict.fromkeys([*interface.free_labels(), *sorted(bound)])
        for usual in _USUAL:
            given = {label: sizes.get(label, usual) for label in labels}
            try:
                interface.check_sizes(interface.completed(interface.sizes(given)))
            except CompileError:
                continue
            return given
        return None

    def _outcome(self, sizes: dict[str, int]) -> tuple[Verdict, str]:
        """Returns what a run at some sizes says, or at several that are chosen."""
        from dt_mlir.certificates.allowances import Allowances
        from dt_mlir.interpreters.arithmetic import Character
        from dt_mlir.interpreters.memory import UnknownOperationError
        from dt_mlir.verification.semantics import (
            Mode,
            SemanticsError,
            Stage,
            UndecidedError,
            verify_semantics,
            without_schedule,
        )

        source = without_schedule(self.algorithm)
        stages = [Stage(source, None), Stage(self.module, None)]
        allowances = Allowances(self.algorithm, self.module)
        try:
            report = verify_semantics(
                stages, sizes=sizes, kernel=False, masks=None, allowed=allowances.allows
            )
            # A multiple of the field's prime is 0 there, and its order ends somewhere.
            with suppress(UndecidedError):
                verify_semantics(
                    stages, Mode.BOUNDED, sizes=report.cases[0].sizes, kernel=False, masks=None,
                    characters=[Character.ANY], allowed=allowances.allows,
                )  # fmt: skip
        except UndecidedError as error:
            return Verdict.ASSUMED, f"it cannot be run here: {error.message}"
        except SemanticsError as error:
            unknown = error.__cause__
            if isinstance(unknown, UnknownOperationError):
                return Verdict.ASSUMED, f"it cannot be run here: {unknown.message}"
            shown = self._in_numbers(stages, error) or error
            return Verdict.REFUTED, shown.message.removeprefix("'the input' ")
        except CompileError as error:
            return Verdict.ASSUMED, f"it cannot be run here: {error.message}"
        shown = "; ".join(
            dict.fromkeys(
                ", ".join(f"{label} = {size}" for label, size in case.sizes.items())
                for case in report.cases
            )
        )
        found = f"it holds with {shown}, and {report.near_steps} more sizes"
        if allowances.reasons:
            found = f"{found}, but for {allowances.reasons[0]}"
        if report.undecided:
            # Exact arithmetic has no order of what is computed, and no infinities.
            share = 100 * report.undecided // report.elements
            found += f"; {max(1, share)} % of the elements are undecided"
        return Verdict.TESTED, found

    def _in_numbers(
        self, stages: list[Stage], error: SemanticsError
    ) -> SemanticsError | None:
        """Returns what a run in floating point says where one in a finite field differs.

        None if it says nothing.
        """
        from dt_mlir.verification.semantics import Mode, SemanticsError, verify_semantics

        given = error.given
        if given is None or given.mode is Mode.BOUNDED or error.breaks:
            return None
        try:
            verify_semantics(
                stages, Mode.BOUNDED, sizes=given.sizes, kernel=False, masks=None,
                characters=[given.character],
            )  # fmt: skip
        except SemanticsError as found:
            return found
        except CompileError:
            return None
        return None
