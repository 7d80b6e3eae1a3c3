"""Runs a corpus through the compiler, and says which pass first changes what is computed.

    python tests/semantics/named_pass.py [--drawn 300]
    python tests/semantics/named_pass.py --record FILE
    python tests/semantics/named_pass.py --differing-from FILE

Prints `named PASS: message` and fails at the first difference. It is how the mutation check asks
whether `--verify-semantics` finds the pass in which a fault was seeded. What a program becomes is
written to a file by `--record`, and a program that becomes the same in the end is not run with
`--differing-from`: most programs do not meet the code that has a fault, and a fault whose
consequences later passes undo changes no result.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from corpus import FIXED, ILLEGAL, kernels, programs
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tools.parsing import read_module
from dt_mlir.verification.semantics import (
    Recorder,
    SemanticsError,
    UndecidedError,
    verify_semantics,
)
from dt_mlir.verifier import verify_module

Named = tuple[str, str]
"""A pass, and what it did."""


class Outcomes:
    """Digests of what the programs of the corpus become.

    Args:
        known: the digests of programs that need not be run if they are the same.
        runs: whether programs are run at all.
    """

    def __init__(self, known: Mapping[str, str], runs: bool) -> None:
        self.known = known
        self.runs = runs
        self.found: dict[str, str] = {}

    def is_run(self, name: str, module: ModuleOp, refusal: Named | None) -> bool:
        """Notes what a program has become, and returns whether it is to be run."""
        text = f"{module}{refusal}"
        self.found[name] = hashlib.sha256(text.encode()).hexdigest()
        return self.runs and self.known.get(name) != self.found[name]


def guilty(
    module: ModuleOp, name: str, passes: Sequence[str], legal: bool, outcomes: Outcomes
) -> Named | None:
    """The pass that changes what a module computes and what was found; None if none does.

    Args:
        module: the module.
        name: what messages call it.
        passes: the passes to run.
        legal: whether no pass may refuse it.
        outcomes: what programs become, and whether this one is run.
    """
    recorder = Recorder(module)
    refusal: Named | None = None
    try:
        run_pipeline(module, passes, recorder.after)
    except Exception as error:
        # What breaks a pass may show in what was made before.
        if legal or not isinstance(error, CompileError):
            message = str(error).partition("\n")[0]
            refusal = passes[len(recorder.stages) - 1], f"{name}: refused: {message}"
    if not outcomes.is_run(name, module, refusal):
        return None if outcomes.runs else refusal
    try:
        verify_semantics(recorder.stages, kernel=False)
    except UndecidedError:
        # A sum that wraps has no bounds: that decides nothing, and accuses no pass.
        return refusal
    except SemanticsError as error:
        item = recorder.stages[error.stage].item
        assert item is not None
        return item.name, f"{name}: {error.message}"
    except CompileError as error:
        if "too much to run" in error.message or "cannot divide" in error.message:
            return None
        return "the input", f"{name}: {error.message}"
    return refusal


def guilty_of_program(
    text: str, name: str, legal: bool, sizes: Mapping[str, int] | None, outcomes: Outcomes
) -> Named | None:
    """The pass of the whole pipeline that changes what a program computes; see `guilty`."""
    try:
        module, _ = compile_text(text, name)
        verify_module(module)
    except CompileError as error:
        return ("the input", f"{name}: refused: {error.message}") if legal else None
    return guilty(module, name, default_pipeline("tile", sizes=sizes), legal, outcomes)


def guilty_of_kernel(path: Path, passes: Sequence[str], outcomes: Outcomes) -> Named | None:
    """The pass of a few that changes what kernels compute; see `guilty`."""
    module = read_module(str(path), SourceTexts(), [])
    return guilty(module, path.stem, passes, True, outcomes)


def drawn(count: int) -> Iterator[tuple[str, str]]:
    """Programs that the fuzzer draws from fixed seeds."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
    from cases import Case
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from programs import cases

    found: list[Case] = []

    @seed(1)
    @settings(
        max_examples=count, database=None, deadline=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    @given(cases(True))
    def one(case: Case) -> None:
        found.append(case)

    one()
    yield from ((f"drawn {i}", case.text) for i, case in enumerate(found))


def main() -> int:
    """Runs the corpus; 1 if a pass is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--drawn", type=int, default=0, help="so many drawn programs too")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what programs become")
    parser.add_argument(
        "--differing-from", type=Path, metavar="FILE", help="run what becomes something else"
    )
    args = parser.parse_args()
    known = {} if args.differing_from is None else json.loads(args.differing_from.read_text())
    outcomes = Outcomes(known, args.record is None)
    warnings.simplefilter("ignore")
    others = [*ILLEGAL.items(), *(drawn(args.drawn) if args.drawn else ())]
    cases = [
        *((f"{name}, fixed", text, True, sizes) for name, (text, sizes) in FIXED.items()),
        *((name, text, True, None) for name, text in programs().items()),
        *((name, text, False, None) for name, text in others),
    ]
    for path, passes in kernels().items():
        found = guilty_of_kernel(path, passes, outcomes)
        if found is not None:
            print(f"named {found[0]}: {found[1]}")
            return 1
    for name, text, legal, sizes in cases:
        found = guilty_of_program(text, name, legal, sizes, outcomes)
        if found is not None:
            print(f"named {found[0]}: {found[1]}")
            return 1
    if args.record is not None:
        args.record.write_text(json.dumps(outcomes.found))
        return 0
    print("no pass changes what a program computes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
