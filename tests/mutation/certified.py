"""Counts which seeded faults that change a result certificates refute.

    python tests/mutation/certified.py                      # all faults of the loop and tile levels
    python tests/mutation/certified.py --only loop-end-not-clipped

Each fault is seeded into a copy of the compiler, which lowers every program of the tests. Where the
block programs differ from those of the right compiler, and compute something else by
`--verify-semantics`, they are certified: the fault is *refuted* if a certificate is, *tested* if
what is wrong is among the obligations that no proof covers, and *missed* if all are proved.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "mutation"), str(ROOT / "tests" / "semantics")]
VERIFIED = 60.0
"""The seconds for which changed programs of a fault are verified."""
WRONG = 4
"""The most programs of a fault that are certified."""
PROGRAM = 15
"""The seconds that a program may take to be lowered or verified."""
CERTIFIED = 60
"""The seconds that a certificate may take."""
FAULT = 600
"""The seconds that a fault may take."""


class _SlowError(BaseException):
    """Raised where time is up, past whatever catches exceptions."""


def _late(*_: object) -> None:
    raise _SlowError


def lowered(texts: dict[str, str]) -> dict[str, tuple[object, object, str]]:
    """Returns the algorithm and the block programs of each program, and these as text.

    A program that is refused, or takes too long, has none.
    """
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.frontend.emit import compile_text
    from dt_mlir.pipeline import default_pipeline, run_pipeline
    from dt_mlir.printing import module_text
    from dt_mlir.scheduling.space import Space

    found: dict[str, tuple[object, object, str]] = {}
    for name, text in texts.items():
        signal.alarm(PROGRAM)
        try:
            module, _ = compile_text(text, name)
            space = Space(module)
            point = dict(next(iter(space.points()))) if len(space) > 1 else {}
            algorithm = module.clone()
            run_pipeline(algorithm, default_pipeline("dt"))
            run_pipeline(module, default_pipeline("tile", choices=point))
            found[name] = algorithm, module, module_text(module)
        except (CompileError, _SlowError):
            continue
        except Exception as error:  # a fault may break anything
            print(f"{name}: {error!r}", file=sys.stderr)
        finally:
            signal.alarm(0)
    return found


def judge(texts: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Says of programs that a seeded fault makes wrong what their certificates say.

    Args:
        texts: all programs.
        right: the block programs that the right compiler makes of them.
    """
    from dt_mlir.certificates.certify import certify
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.verification.semantics import Stage, verify_semantics

    programs = lowered(texts)
    changed = [name for name, item in programs.items() if right.get(name, item[2]) != item[2]]
    changed.sort(key=lambda name: len(programs[name][2]))
    wrong: list[str] = []
    started = time.monotonic()
    for name in changed:
        if len(wrong) == WRONG or time.monotonic() - started > VERIFIED:
            break
        algorithm, module, _ = programs[name]
        signal.alarm(PROGRAM)
        try:
            verify_semantics([Stage(algorithm, None), Stage(module, None)], kernel=False)  # type: ignore
        except _SlowError:
            continue
        except Exception:  # whatever the interpreter stumbles over is wrong
            wrong.append(name)
        finally:
            signal.alarm(0)
    found: dict[str, str] = {}
    for name in wrong:
        signal.alarm(CERTIFIED)
        try:
            certificate = certify(programs[name][1], whole=8.0)  # type: ignore
            open = {item.kind.value for item in certificate.obligations if item.verdict != "proved"}
            found[name] = "tested: " + ", ".join(sorted(open)) if open else "missed"
            if certificate.refuted:
                found[name] = f"refuted: {certificate.refuted[0].statement}"
        except CompileError as error:
            found[name] = f"refuted: {error.message}"
        except _SlowError:
            found[name] = "tested: it takes too long"
        finally:
            signal.alarm(0)
        if found[name].startswith("refuted"):
            break
    return found


def verdict(found: dict[str, str]) -> str:
    """Returns what is known of a fault by the certificates of programs that it makes wrong."""
    if not found:
        return "changes no result of these programs"
    for word in ("refuted", "missed", "tested"):
        for name, said in found.items():
            if said.startswith(word):
                return f"{said} ({name})"
    raise AssertionError(found)


def _child(folder: Path) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _late)
    texts = json.loads((folder / "texts.json").read_text())
    right = folder / "right.json"
    if not right.exists():
        right.write_text(json.dumps({name: item[2] for name, item in lowered(texts).items()}))
        return
    print(json.dumps(judge(texts, json.loads(right.read_text()))))


def _run(copy: Path, folder: Path) -> str:
    paths = [str(copy), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "ignore", __file__, "--child", str(folder)]
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=FAULT
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts which seeded faults certificates refute.")
    parser.add_argument("--only", nargs="*", default=[], help="the faults to seed, by name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="copies at once")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child is not None:
        _child(args.child)
        return
    import corpus
    from faults import LOOPS, TILES, Fault

    faults = [f for f in (*LOOPS, *TILES) if not args.only or f.name in args.only]
    with TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        folder = Path(name)
        (folder / "texts.json").write_text(json.dumps(dict(sorted(corpus.programs().items()))))
        _run(ROOT, folder)

        def seeded(fault: Fault) -> str:
            copy = folder / fault.name
            shutil.copytree(
                ROOT / "dt_mlir", copy / "dt_mlir", ignore=shutil.ignore_patterns("__pycache__")
            )
            path = copy / fault.file
            path.write_text(path.read_text().replace(fault.old, fault.new))
            try:
                found = verdict(json.loads(_run(copy, folder).splitlines()[-1]))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                found = f"not looked at: {str(error)[-200:]}"
            shutil.rmtree(copy)
            print(f"{fault.name}: {found}", flush=True)
            return found.partition(":")[0].partition(" (")[0]

        counts = Counter(pool.map(seeded, faults))
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
