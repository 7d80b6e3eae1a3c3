"""Counts which seeded faults that change a result certificates refute.

    python tests/mutation/certified.py                # all faults of the loop, tile and warp levels
    python tests/mutation/certified.py --only loop-end-not-clipped

Each fault is seeded into a copy of the compiler, which lowers every program of the tests: to block
programs, or, where the fault is one of specialized warps, the programs that specialize them to the
`warp` level. Where the kernels differ from those of the right compiler, and compute something else
by `--verify-semantics`, or use barriers wrongly by `verify-warp`, they are certified: the fault is
*missed* if all obligations of a program are proved, *refuted* if a certificate is, *refused* if
there is none, and *tested* if some obligations of each are not proved.
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
sys.path += [str(ROOT / "tests" / name) for name in ("mutation", "semantics", "warp")]
VERIFIED = 60.0
"""The seconds for which changed programs of a fault are verified."""
WRONG = 4
"""The most programs of a fault that are certified."""
PROGRAM = 15
"""The seconds that a program may take to be lowered or verified."""
CERTIFIED = 60
"""The seconds that a certificate may take."""
HEAD = 16
"""The size of attention's heads here, with which a certificate runs a program."""
FAULT = 600
"""The seconds that a fault may take."""


class _SlowError(BaseException):
    """Raised where time is up, past whatever catches exceptions."""


def _late(*_: object) -> None:
    raise _SlowError


def lowered(texts: dict[str, str], level: str) -> dict[str, tuple[object, object, str]]:
    """Returns the algorithm and the kernels of each program, and these as text.

    A program that is refused, or takes too long, has none.

    Args:
        texts: the programs by name.
        level: that of the kernels, `tile` or `warp`.
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
            run_pipeline(module, default_pipeline(level, choices=point))
            found[name] = algorithm, module, module_text(module)
        except (CompileError, _SlowError):
            continue
        except Exception as error:  # a fault may break anything
            print(f"{name}: {error!r}", file=sys.stderr)
        finally:
            signal.alarm(0)
    return found


def judge(texts: dict[str, str], right: dict[str, str], level: str) -> dict[str, str]:
    """Says of programs that a seeded fault makes wrong what their certificates say.

    Args:
        texts: all programs.
        right: the kernels that the right compiler makes of them.
        level: that of the kernels, `tile` or `warp`.
    """
    from dt_mlir.certificates.certify import certify
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.verification.semantics import SemanticsError, Stage, verify_semantics

    programs = lowered(texts, level)
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
            if level == "warp":
                _keeps_order(module)
            verify_semantics([Stage(algorithm, None), Stage(module, None)], kernel=False)  # type: ignore
        except _SlowError:
            continue
        except SemanticsError:
            wrong.append(name)
        except CompileError:  # too large to be run
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
            left = {item.kind.value for item in certificate.obligations if item.verdict != "proved"}
            found[name] = "tested: " + ", ".join(sorted(left)) if left else "missed"
            if certificate.refuted:
                found[name] = f"refuted: {certificate.refuted[0].statement}"
        except CompileError as error:
            found[name] = f"refused: {error.message}"
        except _SlowError:
            found[name] = "tested: it takes too long"
        finally:
            signal.alarm(0)
    return found


def _keeps_order(module: object) -> None:
    """Raises an error if the groups of warps of a module use barriers or memory wrongly."""
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.pipeline import run_pipeline

    try:
        run_pipeline(module.clone(), ["verify-warp"])  # type: ignore
    except CompileError as error:
        raise AssertionError(error.message) from None


def verdict(found: dict[str, str]) -> str:
    """Returns what is known of a fault by the certificates of programs that it makes wrong.

    One program that is proved although it is wrong counts more than others that are refuted.
    """
    if not found:
        return "changes no result of these programs"
    for word in ("missed", "refuted", "refused", "tested"):
        for name, said in found.items():
            if said.startswith(word):
                return f"{said} ({name})"
    raise AssertionError(found)


def programs_of(level: str) -> dict[str, str]:
    """Returns the texts of the programs that a level's faults are looked for in, by name."""
    import corpus

    if level == "tile":
        return dict(sorted(corpus.programs().items()))
    import test_attention
    import test_products
    import test_windows

    paths = sorted((ROOT / "tests" / "filecheck").glob("*/*.dt"))
    texts = {path.stem: path.read_text() for path in paths}
    texts = {name: text for name, text in texts.items() if "warp_specialize" in text}
    texts |= {f"product {name}": test_products.text(x) for name, x in test_products.FORMS.items()}
    texts |= {f"product {name}": form.text for name, form in test_windows.FORMS.items()}
    for name, schedule in test_attention.SCHEDULES.items():
        for form in test_attention.FORMS:
            texts[f"attention {form}, {name}"] = test_attention.text(form, schedule, HEAD)
    return texts


def _child(folder: Path) -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _late)
    level = folder.name
    texts = json.loads((folder / "texts.json").read_text())
    right = folder / "right.json"
    if not right.exists():
        kernels = {name: item[2] for name, item in lowered(texts, level).items()}
        right.write_text(json.dumps(kernels))
        return
    print(json.dumps(judge(texts, json.loads(right.read_text()), level)))


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
    from faults import LOOPS, TILES, WARPS, Fault

    levels = {"tile": (*LOOPS, *TILES), "warp": tuple(WARPS)}
    faults = [
        (fault, level)
        for level, of_level in levels.items()
        for fault in of_level if not args.only or fault.name in args.only
    ]  # fmt: skip
    with TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        folder = Path(name)

        def prepare(level: str) -> None:
            (folder / level).mkdir()
            (folder / level / "texts.json").write_text(json.dumps(programs_of(level)))
            _run(ROOT, folder / level)

        list(pool.map(prepare, {level for _, level in faults}))

        def seeded(item: tuple[Fault, str]) -> str:
            fault, level = item
            copy = folder / fault.name
            shutil.copytree(
                ROOT / "dt_mlir", copy / "dt_mlir", ignore=shutil.ignore_patterns("__pycache__")
            )
            path = copy / fault.file
            path.write_text(path.read_text().replace(fault.old, fault.new))
            try:
                found = verdict(json.loads(_run(copy, folder / level).splitlines()[-1]))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                found = f"not looked at: {str(error)[-200:]}"
            shutil.rmtree(copy)
            print(f"{fault.name}: {found}", flush=True)
            return found.partition(":")[0].partition(" (")[0]

        counts = Counter(pool.map(seeded, faults))
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
