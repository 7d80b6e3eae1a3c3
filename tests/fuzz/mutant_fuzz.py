"""Makes mutants of IR and passes them through the compiler, on all cores.

    python tests/fuzz/mutant_fuzz.py --cases 20000

What verifies must go through every pass or be refused at a place, what is emitted must be made of
what emitted modules are made of, and nothing may take longer than LIMIT.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

LIMIT = 20.0
"""The seconds that a mutant may take."""
BATCH = 50
"""The mutants that are drawn from one seed, at least."""
CHECKED = 5
"""The mutants of one seed that are well-formed, at least: more are drawn where there are fewer."""
MOST = 5 * BATCH
"""The most mutants that are drawn from one seed."""


class _SlowError(BaseException):
    """Raised where time is up, past whatever catches exceptions."""


class FaultError(Exception):
    """A fault that a mutant showed."""


def _stop(*_: object) -> None:
    raise _SlowError


def check(text: str, random: Random, passes: int) -> str:
    """Pass a mutant through the compiler.

    Args:
        text: the mutant.
        random: what decides which passes are run.
        passes: the number of passes that its origin has behind it.

    Returns:
        What became of it: `unread`, `malformed`, `refused` or `emitted`.

    Raises:
        FaultError: if it is not refused at a place, or comes out as what it should not.
    """
    from emitted_code import UnexpectedCodeError, check_emitted
    from mutants import PIPELINE, context
    from xdsl.context import Context

    from dt_mlir.backend.python_module import emit_module
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.pipeline import parse_pipeline
    from dt_mlir.tools.parsing import parse_mlir
    from dt_mlir.verifier import verify_module

    try:
        module = parse_mlir(context(), text, "mutant.mlir")
    except CompileError as error:
        _check_place(error, "parsing")
        return "unread"
    try:
        verify_module(module)
    except CompileError as error:
        _check_place(error, "verifying")
        return "malformed"
    rest = list(PIPELINE[passes:])
    if random.random() < 0.3:
        rest = random.choices(sorted(set(PIPELINE)), k=3) + rest
    for item in parse_pipeline(rest):
        try:
            item.apply(Context(), module)
        except CompileError as error:
            _check_place(error, item.name)
            return "refused"
        try:
            verify_module(module, item)
        except CompileError as error:
            raise FaultError(f"{item.name} made a malformed module: {error}") from error
    try:
        source = emit_module(module, wrapped=True)
    except CompileError as error:
        _check_place(error, "emission")
        return "refused"
    try:
        check_emitted(source)
    except (UnexpectedCodeError, SyntaxError) as error:
        raise FaultError(f"emitted: {error}") from error
    return "emitted"


def _check_place(error: Exception, where: str) -> None:
    if getattr(error, "location", None) is None:
        raise FaultError(f"{where}: a message without a place: {error}")


def one(seed: int, number: int) -> tuple[str, str, int]:
    """The text of a mutant, what its name is, and how many passes its origin has behind it."""
    from mutants import PIPELINE, mutate, programs, stage

    random = Random(f"{seed} {number}")
    # Mutants of one seed have one origin: making that takes longer than a mutant.
    origin = Random(f"{seed} {number // 10}")
    program, passes = origin.randrange(len(programs())), origin.randrange(len(PIPELINE) + 1)
    text = mutate(stage(program, passes), random, generic=random.random() < 0.75)
    return text, f"{seed}.{number}", passes


def run_batch(seed: int) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    """Checks the mutants of one seed; returns a tally, and for each fault its name, kind and text."""
    from dt_mlir.diagnostics import CompileError

    tally: Counter[str] = Counter()
    faults: list[tuple[str, str, str]] = []
    signal.signal(signal.SIGALRM, _stop)
    sys.setrecursionlimit(20000)
    for number in range(MOST):
        checked = tally["emitted"] + tally["refused"] + tally["fault"]
        if number >= BATCH and checked >= CHECKED:
            break
        try:
            text, name, passes = one(seed, number)
        except CompileError:
            tally["no origin"] += 1
            continue
        except Exception as error:
            tally["no mutant"] += 1
            tally[f"no mutant: {type(error).__name__}"] += 1
            continue
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            tally[check(text, Random(name), passes)] += 1
        except _SlowError:
            tally["fault"] += 1
            faults.append((name, "slow", text))
        except FaultError as error:
            tally["fault"] += 1
            faults.append((name, str(error), text))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
            tally["fault"] += 1
            ours = [
                f"{Path(f.filename).name}:{f.lineno}"
                for f in traceback.extract_tb(error.__traceback__) if "dt_mlir" in f.filename
            ][-2:]  # fmt: skip
            kind = f"{type(error).__name__} in {place} ({' '.join(ours)}): {str(error)[:80]}"
            faults.append((name, kind, text))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return tally, faults


def main() -> int:
    """Runs the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000, help="stop after so many mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--save", type=Path, help="where the texts of faults go")
    args = parser.parse_args()
    start = time.monotonic()
    total: Counter[str] = Counter()
    kinds: dict[str, list[str]] = {}
    seeds = range(args.seed, args.seed + -(-args.cases // BATCH))
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=20) as pool:
        for tally, faults in pool.imap_unordered(run_batch, seeds):
            total.update(tally)
            for name, kind, text in faults:
                if kind not in kinds:
                    print(f"\n{name}: {kind}", flush=True)
                kinds.setdefault(kind, []).append(name)
                if args.save is not None:
                    args.save.mkdir(parents=True, exist_ok=True)
                    (args.save / f"{name}.mlir").write_text(text, encoding="utf-8")
            count = sum(n for kind, n in total.items() if ":" not in kind)
            shown = ", ".join(f"{n} {kind}" for kind, n in total.most_common())
            print(f"\r{count} mutants: {shown}", end="", flush=True)
    print(f"\n{time.monotonic() - start:.0f} s on {args.jobs} processes")
    for kind, names in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names)} {kind}, as in {names[0]}")
    return 1 if total["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
