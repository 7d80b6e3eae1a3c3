"""Mutants of IR: text of every level with a few faults in it, most of them malformed."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from io import StringIO
from pathlib import Path
from random import Random

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import STAGES, parse_pipeline
from dt_mlir.verifier import verify_module

ROOT = Path(__file__).resolve().parents[2]

# The script of mutants uses this file, too.
sys.path.append(str(ROOT / "tests" / "language"))
import forms  # noqa: E402

PIPELINE = STAGES["tile"]

HOSTILE = (
    "", "x", "x y", "x-y", "x.y", "_1", "__class__", "1x", "lambda", "None", "tl", "triton",
    "torch", "print", "INDEX", "out", "f_kernel", "é", "x\\0A", "\\00", "\\22\\22\\22\\0Aimport os",
    "a: pass\\0Adef g", "__import__('os')", "';import os;'", "#", "\\5C", "\\22", "%s{}", "x" * 300,
    "f(a=__import__('os').system('id')): pass\\0Adef f", "whole", "outer", "inner", "x outer 8",
)  # fmt: skip
"""Strings that no name is, or that mean something to Python or to emitted modules."""

NUMBERS = (
    "0", "1", "2", "3", "-1", "7", "16", "1024", "1048577", "2147483647", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9" * 40, "0.0", "-0.0",
    "1e400", "0x7F800000", "0x7FC00000", "0xFF800000", "1e-320", "true", "false",
)  # fmt: skip

TYPES = (
    "f32", "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i1", "i8", "i16", "i32", "i64", "ui8", "si32",
    "index", "i7", "f80", "none", "memref<?xf32>", "memref<*xf32>", "memref<4xf32>", "memref<f32>",
    "tensor<?xf32>", "tensor<4xf32>", "tensor<*xf32>", "vector<4xf32>", "()", "tuple<>",
    "!tile.of<x: 8, f32>", "!tile.of<x, f32>", "complex<f32>",
    "!tile.of<x: 8, y: 8, f32>", "!tile.of<x: 0, f32>",
)  # fmt: skip

TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|%[\w$.]+(?:#\d+)?|@[\w$.]+|#[\w.]+|![\w.]+|\d+\.\d+(?:e[-+]?\d+)?|-?\d+'
    r"|[A-Za-z_][\w.$]*|->|\n|[ \t]+|."
)


def _programs() -> list[str]:
    found = list(forms.programs().values())
    for folder in ("examples", "tests/regressions"):
        found += [path.read_text() for path in sorted((ROOT / folder).glob("*.dt"))]
    return found


@lru_cache
def programs() -> list[str]:
    """The programs that mutants are made of."""
    return _programs()


@lru_cache(maxsize=256)
def stage(program: int, passes: int) -> str:
    """The IR of a program behind so many passes, as text."""
    module, _ = compile_text(programs()[program], "program.dt")
    for item in parse_pipeline(PIPELINE[:passes]):
        item.apply(Context(), module)
        verify_module(module, item)
    return shown(module)


def shown(module: ModuleOp, generic: bool = False) -> str:
    """A module as text."""
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def mutate(text: str, random: Random, generic: bool) -> str:
    """A text with one to three faults.

    Args:
        text: a module in its pretty form.
        random: what decides.
        generic: whether the module is changed as IR and printed in its generic form.
    """
    if generic:
        from dt_mlir.tools.parsing import parse_mlir

        module = parse_mlir(context(), text, "stage.mlir")
        for _ in range(random.randint(1, 3)):
            _change(module, random)
        text = shown(module, generic=True)
        return text if random.random() < 0.85 else _edit(text, random)
    for _ in range(random.randint(1, 3)):
        text = _edit(text, random)
    return text


@lru_cache
def context() -> Context:
    """A context with every dialect."""
    from xdsl.dialects import get_all_dialects

    from dt_mlir.registry import DIALECTS

    found = Context()
    for name, factory in {**get_all_dialects(), **DIALECTS}.items():
        found.register_dialect(name, factory)
    return found


def _edit(text: str, random: Random) -> str:
    """A text with one token or line changed."""
    if random.random() < 0.2:
        lines = text.split("\n")
        i, j = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(4):
            case 0:
                del lines[i]
            case 1:
                lines.insert(j, lines[i])
            case 2:
                lines[i], lines[j] = lines[j], lines[i]
            case _:
                lines.insert(j, lines.pop(i))
        return "\n".join(lines)
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if token.strip()]
    i = random.choice(places)
    token = tokens[i]
    alike = [tokens[j] for j in places if tokens[j][:1] == token[:1] and tokens[j] != token]
    roll = random.random()
    if token.startswith('"'):
        tokens[i] = f'"{random.choice(HOSTILE)}"' if roll < 0.8 else token[:-1]
    elif token[0] in "@%" and roll < 0.3:
        tokens[i] = f'{token[0]}"{random.choice(HOSTILE)}"' if token[0] == "@" else "%none"
    elif re.fullmatch(r"-?\d.*", token) and roll < 0.8:
        tokens[i] = random.choice(NUMBERS)
    elif token in TYPES and roll < 0.8:
        tokens[i] = random.choice(TYPES)
    elif alike and roll < 0.8:
        tokens[i] = random.choice(alike)
    elif roll < 0.9:
        del tokens[i]
    else:
        tokens.insert(i, tokens[random.choice(places)])
    return "".join(tokens)


def _change(module: ModuleOp, random: Random) -> None:
    """Change a module in one place, whether or not it verifies then."""
    ops = [op for op in module.walk() if op is not module]
    op = random.choice(ops)
    values = [value for other in ops for value in other.results]
    values += [arg for o in ops for r in o.regions for b in r.blocks for arg in b.args]
    alike = [o for o in ops if o.name == op.name and o is not op]
    match random.choices(range(10), (30, 4, 4, 10, 6, 6, 20, 6, 6, 8))[0]:
        case 0 if op.operands:
            i = random.randrange(len(op.operands))
            same = [value for value in values if value.type == op.operands[i].type]
            op.operands[i] = random.choice(same)
        case 1 if op.operands:
            op.operands[random.randrange(len(op.operands))] = random.choice(values)
        case 2 if op.operands:
            op.operands = op.operands[:-1]
        case 3 if op.parent is not None:
            _move(op, random.choice(ops), random)
        case 4 if op.parent is not None and not any(r.uses for r in op.results):
            op.detach()
            op.erase(safe_erase=False)
        case 5 if op.parent is not None:
            op.parent.insert_op_before(op.clone(), op)
        case 6 if op.properties or op.attributes:
            where = op.properties if op.properties else op.attributes
            name = random.choice(list(where))
            attr = _other(where[name], module, random)
            if attr is None:
                del where[name]
            else:
                where[name] = attr
        case 7 if alike:
            donor = random.choice(alike)
            for name, attr in donor.properties.items():
                if name in op.properties and random.random() < 0.5:
                    op.properties[name] = attr
        case 8 if alike:
            # The same operation on other operands, or in the other order.
            donor = random.choice(alike)
            if len(donor.operands) == len(op.operands):
                op.operands, donor.operands = tuple(donor.operands), tuple(op.operands)
        case _:
            if op.results and values:
                result = random.choice(op.results)
                Rewriter.replace_value_with_new_type(result, random.choice(values).type)


def _other(attr: Attribute, module: ModuleOp, random: Random) -> Attribute | None:
    """Another attribute of a kind; None for none."""
    match attr:
        case IntegerAttr():
            numbers = [0, 1, -1, 2, 3, 4, 8, 16, 64, 2**20, 2**31 - 1, 2**31, 2**62, -(2**63)]
            return IntegerAttr(random.choice(numbers), attr.type, truncate_bits=True)
        case FloatAttr():
            numbers = [0.0, -0.0, 1.0, 1e30, float("inf"), float("-inf"), float("nan")]
            return FloatAttr(random.choice(numbers), attr.type)
        case StringAttr() if random.random() < 0.3:
            return StringAttr(random.choice(HOSTILE))
        case StringAttr():
            found = [a for op in module.walk() for a in op.properties.values()]
            strings = [a for a in found if isinstance(a, StringAttr)]
            arrays = [a for a in found if isinstance(a, ArrayAttr)]
            strings += [a for array in arrays for a in array if isinstance(a, StringAttr)]
            return random.choice(strings)
        case SymbolRefAttr() if random.random() < 0.3:
            return SymbolRefAttr(random.choice(HOSTILE))
        case SymbolRefAttr():
            found = [a for op in module.walk() for a in op.properties.values()]
            return random.choice([a for a in found if isinstance(a, SymbolRefAttr)])
        case DictionaryAttr() if attr.data:
            name = random.choice(list(attr.data))
            item = _other(attr.data[name], module, random)
            rest = {n: a for n, a in attr.data.items() if n != name}
            return DictionaryAttr(rest if item is None else {**rest, name: item})
        case ArrayAttr() if attr.data:
            items = list(attr.data)
            i, j = random.randrange(len(items)), random.randrange(len(items))
            match random.randrange(4):
                case 0:
                    del items[i]
                case 1:
                    items.insert(i, items[j])
                case 2:
                    items[i], items[j] = items[j], items[i]
                case _:
                    item = _other(items[i], module, random)
                    items[i : i + 1] = [] if item is None else [item]
            return ArrayAttr(items)
        case _:
            return None


def _move(op: Operation, place: Operation, random: Random) -> None:
    if place is op or place.parent is None or op.is_ancestor(place):
        return
    op.detach()
    if random.random() < 0.5:
        place.parent.insert_op_before(op, place)
    else:
        place.parent.insert_op_after(op, place)
