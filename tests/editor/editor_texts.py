"""The programs of the repository, and texts made of them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.syntax import Position

ROOT = Path(__file__).parents[2]


def all_texts() -> dict[str, str]:
    """Returns the texts of all programs, those that are refused too, by their paths."""
    folders = ("benchmarks", "examples", "tests")
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.dt"))
    found: dict[str, str] = {}
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace")
        found[str(path.relative_to(ROOT))] = text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(found) > 600
    return found


def all_programs() -> dict[str, str]:
    """Returns the texts that can be parsed, by their paths."""
    found: dict[str, str] = {}
    for name, text in all_texts().items():
        try:
            parse_program(text, name)
        except CompileError:
            continue
        found[name] = text
    return found


def said(value: Any) -> Any:
    """Returns what a tree says: the tree without its places."""
    if isinstance(value, Position):
        return None
    if dataclasses.is_dataclass(value):
        fields = (getattr(value, item.name) for item in dataclasses.fields(value))
        return (type(value).__name__, *map(said, fields))
    if isinstance(value, list | tuple):
        return tuple(map(said, value))
    return type(value).__name__, value


PIECES = ["", "", "(", ")", "[", "]", "{", "}", ";", "\n", "x", ".", "=", "$", " Func ", "|", "#", ","]


def broken(text: str, rng: random.Random) -> str:
    """Returns a text with a piece left out, or another one put in."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice([0, 1, 1, 2, 5, 20]))
    return text[:start] + rng.choice(PIECES) + text[end:]


def broken_texts(seed: int, each: int) -> Iterator[tuple[str, str]]:
    """Yields paths of programs, each with texts that are made of it."""
    rng = random.Random(seed)
    for name, text in all_texts().items():
        if len(text) < 3000:
            for _ in range(each):
                yield name, broken(text, rng)


def long_program(lines: int = 200) -> str:
    """Returns a program of a number of lines, or one more: a chain of functions, each scheduled."""
    count = (lines - 7) // 4
    names = ", ".join(f"f{i}" for i in range(count))
    text = [f"Func {names};", "In A : f16, B : f16;", "SIn alpha;", "Var x, y;", "RVar k;"]
    text.append("f0[x, y] = rdot(A[x, k], B[k, y], k);")
    text += [
        f"f{i}[x, y] = exp(f{i - 1}[x, y] * 0.5) + relu(f{max(0, i - 2)}[x, y] - alpha) / "
        "sqrt(len(k));"
        for i in range(1, count)
    ]
    for i in range(count):
        depth = ", k:32" if i == 0 else ""
        text += [
            f"f{i}.block(x:64, y:64);", f"f{i}.tensorize(x:64, y:64{depth});",
            f"f{i}.num_warps(4);",
        ]  # fmt: skip
    text.append(f"f{count - 1}.compile();")
    text += ["# the end"] * (lines - len(text))
    return "\n".join(text) + "\n"
