"""Tests of what is not proved: the program is run at sizes near those at which tiles end."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Obligation, Verdict
from dt_mlir.diagnostics import CompileError


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
        """Tests the obligations that nothing proves, and notes the outcome with each."""
        if all(item.verdict is not Verdict.TESTED for item in obligations):
            return
        outcome = self._outcome()
        for number, item in enumerate(obligations):
            if item.verdict is Verdict.TESTED:
                verdict, reason = outcome
                why = f"{item.reason}; {reason}" if item.reason else reason
                obligations[number] = replace(item, verdict=verdict, reason=why)

    def _outcome(self) -> tuple[Verdict, str]:
        from dt_mlir.verification.semantics import (
            SemanticsError,
            Stage,
            verify_semantics,
            without_schedule,
        )

        stages = [Stage(without_schedule(self.algorithm), None), Stage(self.module, None)]
        try:
            report = verify_semantics(stages, kernel=False)
        except SemanticsError as error:
            return Verdict.REFUTED, error.message
        except CompileError as error:
            return Verdict.ASSUMED, f"it cannot be run here: {error.message}"
        sizes = "; ".join(
            dict.fromkeys(
                ", ".join(f"{label} = {size}" for label, size in case.sizes.items())
                for case in report.cases
            )
        )
        return Verdict.TESTED, f"it holds with {sizes}, and {report.near_steps} more sizes"
