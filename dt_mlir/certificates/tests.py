"""Tests of what is not proved: the program is run at sizes near those at which tiles end."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Obligation, Verdict
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile
from dt_mlir.traversal import operations_of

UNDECIDED = (
    "exact arithmetic does not decide between the program and its algorithm; "
    "--verify-semantics compares them pass by pass"
)
"""The assumption on programs whose ends only rounding relates."""
_USUAL = 3
"""The size of a label of which a counterexample says nothing."""


class Tests:
    """Runs a compiled program against its algorithm.

    Args:
        algorithm: the program at the `dt` level.
        module: the compiled program.
    """

    __test__ = False

    def __init__(self, algorithm: ModuleOp, module: ModuleOp) -> None:
        self.algorithm, self.module = algorithm, module

    def run(self, obligations: list[Obligation]) -> None:
        """Tests the obligations that nothing proves, and confirms counterexamples.

        The outcome is noted with each. A counterexample that does not fail when the program is run
        is none: the solver did not know all that the wrapper checks.
        """
        general: tuple[Verdict, str] | None = None
        tried: dict[str, tuple[Verdict, str]] = {}
        for number, item in enumerate(obligations):
            if item.verdict is Verdict.REFUTED and item.sizes:
                key = str(item.sizes)
                if key not in tried:
                    tried[key] = self._outcome(item.sizes)
                if tried[key][0] is Verdict.REFUTED:
                    continue
            elif item.verdict is not Verdict.TESTED:
                continue
            general = general or self._outcome({})
            verdict, reason = general
            known = item.reason if item.verdict is Verdict.TESTED else ""
            why = f"{known}; {reason}" if known else reason
            obligations[number] = replace(item, verdict=verdict, reason=why)

    def _rounds_more(self) -> bool:
        """Returns whether a kernel rounds more than the algorithm, as its schedule asks for."""
        kernels = operations_of(self.module, tile.KernelOp)
        return any(kernel.precision is not None for kernel in kernels)

    def _outcome(self, sizes: dict[str, int]) -> tuple[Verdict, str]:
        """Returns what a run at some sizes says, or at several that are chosen."""
        from dt_mlir.analysis.interface import Interface
        from dt_mlir.verification.semantics import (
            Mode,
            SemanticsError,
            Stage,
            verify_semantics,
            without_schedule,
        )

        source = without_schedule(self.algorithm)
        stages = [Stage(source, None), Stage(self.module, None)]
        given = {}
        if sizes:
            given = {x: sizes.get(x, _USUAL) for x in Interface.of(source).free_labels()}
        try:
            report = verify_semantics(stages, sizes=given, kernel=False)
        except SemanticsError as error:
            bounded = error.given is not None and error.given.mode is Mode.BOUNDED
            if bounded and self._rounds_more():
                # What rounds more than the algorithm does, as `precision` asks for, differs.
                return Verdict.ASSUMED, UNDECIDED
            return Verdict.REFUTED, error.message.removeprefix("'the input' ")
        except CompileError as error:
            return Verdict.ASSUMED, f"it cannot be run here: {error.message}"
        shown = "; ".join(
            dict.fromkeys(
                ", ".join(f"{label} = {size}" for label, size in case.sizes.items())
                for case in report.cases
            )
        )
        return Verdict.TESTED, f"it holds with {shown}, and {report.near_steps} more sizes"
