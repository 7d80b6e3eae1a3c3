"""The baselines of candidates: functions of the same tensors."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.measuring import Measured, prepared, rotation, timed


@dataclass(frozen=True)
class Baseline:
    """A function in a Python file that takes what the program's wrapper takes."""

    name: str
    """The name in the table and the plot."""
    file: str
    """The file."""
    function: str
    """The function's name."""
    checked: bool = True
    """True if it must compute what the program does, to a hundredth; a copy need not."""

    @staticmethod
    def parse(text: str) -> Baseline:
        """Reads `name=file.py:function`.

        Raises:
            CompileError: if the text is not of that form, there is no such file, it is no Python,
                or it defines nothing of that name.
        """
        name, equals, rest = text.partition("=")
        file, colon, function = rest.rpartition(":")
        if not equals or not colon or not name or not function:
            raise CompileError(f"--baseline: '{text}' is not of the form name=file.py:function")
        if not Path(file).is_file():
            raise CompileError(f"--baseline: there is no file {file}")
        if not _may_define(file, function):
            raise CompileError(f"--baseline: {file} has no function '{function}'")
        return Baseline(name, file, function)


def _may_define(file: str, name: str) -> bool:
    """Returns whether a file may define a name, without running it.

    Raises:
        CompileError: if it is no Python.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
        compile(text, file, "exec")
    except (SyntaxError, ValueError) as error:
        raise CompileError(f"--baseline: {file} is no Python file: {error}") from None
    except (MemoryError, RecursionError):
        # Running it says more.
        return True
    words = set(re.findall(r"\w+", text))
    return name in words or "__getattr__" in words or "import *" in text


@lru_cache
def _function(file: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise CompileError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if found is None:
        raise CompileError(f"{file} has no function '{name}'")
    return found


def measure_baseline(
    baseline: Baseline, algorithm: str, sizes: Mapping[str, int], method: str
) -> Measured:
    """Runs a baseline, checks its result, and times it; see `measuring.measure`."""
    try:
        function = _function(baseline.file, baseline.function)
        inputs = prepared(algorithm, tuple(sizes.items()), method)

        given = rotation(algorithm, tuple(sizes.items())) if method == "cold" else None
        sets = given or [tuple(inputs.arguments)]
        results = function(*sets[0])
        if baseline.checked:
            inputs.check_roughly(results)
        return Measured("ok", "", timed([partial(function, *given) for given in sets], method))
    except CompileError as error:
        return Measured("wrong", error.message)
    except (Exception, SystemExit) as error:
        return Measured("failed", f"{type(error).__name__}: {error}")
