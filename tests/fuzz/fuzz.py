"""Draws programs, runs them and compares them with their algorithms, on all cores.

    python tests/fuzz/fuzz.py --cases 5000
    python tests/fuzz/fuzz.py --seconds 600 --jobs 16 --gpu
    python tests/fuzz/fuzz.py --cases 20000 --certify
    python tests/fuzz/fuzz.py --cases 5000 --auto

What fails is shrunk and written to `tests/regressions/`, where the tests pick it up.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import re
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pebble import ProcessExpired, ProcessFuture, ProcessPool

REGRESSIONS = Path(__file__).resolve().parents[1] / "regressions"
BATCH = 100
"""The cases that are drawn from one seed."""
GRACE = 120.0
"""The seconds for which a batch that runs at the end may go on."""


@dataclass
class Tally:
    """The outcomes of many cases."""

    kinds: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    obligations: Counter[str] = field(default_factory=Counter[str])
    """The obligations of certificates, by their verdict."""
    decided: float = 0.0
    failures: list[str] = field(default_factory=list[str])

    def add(self, other: Tally) -> None:
        """Adds what came of other cases."""
        self.kinds.update(other.kinds)
        self.refusals.update(other.refusals)
        self.obligations.update(other.obligations)
        self.decided += other.decided
        self.failures += other.failures


def run_batch(
    seed: int,
    gpu: bool,
    cases: int = BATCH,
    running: Path | None = None,
    way: str = "check",
) -> tuple[Tally, str | None]:
    """Checks the cases of one seed.

    Args:
        seed: the seed that the cases are drawn from.
        gpu: whether kernels run on the GPU.
        cases: how many cases are drawn.
        running: a file that holds the case that runs, for when the process dies of it.
        way: how cases are checked: as they are (`check`), by `certify`, or under the schedules of
            `auto`.

    Returns:
        The tally, and the smallest failing case as the text of a file, if one fails.
    """
    from automatic import check_automatic
    from cases import Case
    from check import Outcome, check, check_certificate
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from programs import cases as drawn

    ways = {"check": check, "certify": check_certificate, "auto": check_automatic}
    tally = Tally()
    failing: list[tuple[Case, str]] = []

    @seeded(seed)
    @settings(
        max_examples=cases, database=None, deadline=None, print_blob=False,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )
    @given(drawn(gpu))
    def one(case: Case) -> None:
        if running is not None:
            running.write_text(case.to_file(f"seed {seed}"), encoding="utf-8")
        try:
            outcome: Outcome = ways[way](case)
        except Exception as error:
            failing.append((case, f"{type(error).__name__}: {error}"))
            raise
        if not failing:
            tally.kinds[outcome.kind] += 1
            tally.obligations.update(outcome.obligations)
            tally.decided += outcome.decided if outcome.kind == "right" else 0.0
            if outcome.kind == "refused":
                tally.refusals[re.sub(r"'[^']*'", "'…'", outcome.reason)] += 1

    try:
        one()
    except Exception:
        if not failing:
            raise
        case, message = failing[-1]
        tally.kinds["wrong"] += 1
        tally.failures.append(f"seed {seed}: {message}\n{case}")
        return tally, case.to_file(f"found by the fuzzer: {message.splitlines()[0]}")
    return tally, None


def _prepare(gpu: bool) -> None:
    """Prepares a process: the device is chosen before Triton is imported."""
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    if not gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    elif os.environ.get("FUZZ_GPUS"):
        number = multiprocessing.current_process()._identity[0]
        os.environ["CUDA_VISIBLE_DEVICES"] = str(number % int(os.environ["FUZZ_GPUS"]))
    sys.path.insert(0, str(Path(__file__).parent))
    import numpy

    from dt_mlir.runtime.execute import prepare_triton

    prepare_triton()
    numpy.seterr(all="ignore")
    import torch
    import triton.language  # noqa: F401  (what is interrupted while it is imported stays broken)

    torch.set_num_threads(1)


def _keep(future: ProcessFuture, seed: int, total: Tally, folder: Path, running: Path) -> None:
    """Adds what came of a batch, and writes the case that failed, if one did."""
    try:
        tally, found = future.result()
    except ProcessExpired as error:
        total.kinds["crashed"] += 1
        total.failures.append(f"seed {seed}: exit status {error.exitcode}")
        found = running.read_text(encoding="utf-8") if running.exists() else None
    else:
        total.add(tally)
        if found is None:
            return
    print(total.failures[-1], flush=True)
    if found is not None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(found.encode()).hexdigest()[:8]
        (folder / f"fuzz_{name}.dt").write_text(found, encoding="utf-8")


def main() -> int:
    """Runs the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10**9, help="stop after so many cases")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--boundaries", type=int, default=4, metavar="N",
        help="run each N-th case at every pass boundary too, which costs as much as running it",
    )  # fmt: skip
    parser.add_argument(
        "--certify", action="store_true",
        help="certify each case and run only what is not proved: none may be refuted",
    )  # fmt: skip
    parser.add_argument(
        "--auto", action="store_true",
        help="run each case under the schedule that auto chooses for it, in place of its own",
    )  # fmt: skip
    parser.add_argument("--gpu", action="store_true", help="run kernels on the GPU")
    parser.add_argument("--save", type=Path, default=REGRESSIONS, help="where failures go")
    parser.add_argument("--report", type=Path, help="where to write the tally as JSON")
    args = parser.parse_args()
    if args.certify and args.auto:
        parser.error("give one of --certify and --auto")
    way = "certify" if args.certify else "auto" if args.auto else "check"
    os.environ["FUZZ_BOUNDARIES"] = str(args.boundaries)
    if args.cases == 10**9 and args.seconds == 1e9:
        args.cases = 2000
    total = Tally()
    start = time.monotonic()
    context = multiprocessing.get_context("spawn")
    seeds = iter(range(args.seed, args.seed + -(-args.cases // BATCH)))
    # Processes are renewed, since an interpreter's modules stay in memory.
    with (
        ProcessPool(args.jobs, 20, _prepare, (args.gpu,), context) as pool,
        TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
    ):
        pending: dict[ProcessFuture, int] = {}

        def draw(count: int) -> None:
            for seed in itertools.islice(seeds, count):
                task = (seed, args.gpu, BATCH, Path(scratch, str(seed)), way)
                pending[pool.schedule(run_batch, task)] = seed

        draw(2 * args.jobs)
        while pending:
            done, _ = wait(pending, 0.5, FIRST_COMPLETED)
            late = time.monotonic() - start - args.seconds
            if late > 0:
                # What runs may have found a failure, and be shrinking it.
                for future in set(pending) - done:
                    if not future.running():
                        future.cancel()
                        del pending[future]
                    elif late > GRACE:
                        future.cancel()
                        total.kinds["unfinished"] += BATCH
                        del pending[future]
            for future in done & set(pending):
                seed = pending.pop(future)
                _keep(future, seed, total, args.save, Path(scratch, str(seed)))
                draw(1 if late <= 0 else 0)
            count = sum(total.kinds.values())
            shown = ", ".join(f"{n} {kind}" for kind, n in total.kinds.most_common())
            print(f"\r{count} cases: {shown}", end="", flush=True)
    right = max(1, total.kinds["right"])
    print(f"\n{time.monotonic() - start:.0f} s on {args.jobs} processes; of the results "
          f"{total.decided / right:.2%} were decided")
    if args.certify:
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in total.obligations.most_common())
        print(f"  obligations: {verdicts}")
    for reason, count in total.refusals.most_common(20):
        print(f"  {count} refused: {reason}")
    if args.report is not None:
        args.report.write_text(json.dumps({**vars(total)}, indent=1), encoding="utf-8")
    return 1 if total.kinds["wrong"] or total.kinds["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
