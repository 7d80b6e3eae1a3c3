"""Facts that the compiler infers about the names of a program: element types, axes, sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.dialects.indices import print_index_text
from dt_mlir.element_types import type_name
from dt_mlir.frontend.emit import emit
from dt_mlir.frontend.symbols import Symbols


@dataclass(frozen=True)
class Size:
    """The size of a label."""

    text: str
    """The size as an expression of the language."""
    origin: str
    """The rule that gives it, as the end of a sentence: `the size is declared`."""


@dataclass(frozen=True)
class Facts:
    """The facts about a program's names."""

    types: Mapping[str, str] = field(default_factory=dict[str, str])
    """The element types of inputs and functions."""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    """The labels of the axes of inputs and functions, "" for one that is read at numbers only."""
    sizes: Mapping[str, Size] = field(default_factory=dict[str, Size])
    """The sizes of labels; of one that is not here the caller gives it."""
    sized: bool = False
    """True if sizes are known."""

    def behind(self, older: Facts) -> Facts:
        """Returns these facts, with older ones for what these do not know."""
        return replace(
            self,
            types={**older.types, **self.types},
            axes={**older.axes, **self.axes},
            sizes=self.sizes if self.sized else older.sizes,
            sized=self.sized or older.sized,
        )

    def shape(self, name: str) -> str | None:
        """Returns the type of an input or a function with its axes: `f16[x, k]`."""
        type, axes = self.types.get(name), self.axes.get(name)
        if type is None:
            return None
        if not axes:
            return type
        return f"{type}[{', '.join(label or '_' for label in axes)}]"


def facts_of(symbols: Symbols) -> tuple[Facts, CompileError | None]:
    """Returns what is known of a checked program, and the mistake in the types of its values."""
    axes = {name: item.labels for name, item in symbols.definitions.items()}
    inputs = {name: tuple(labels) for name, labels in symbols.sizes.axes.items()}
    known = Facts({}, {**axes, **inputs}, _sizes(symbols), True)
    declared = {d.name: d.type for d in symbols.declarations.values() if d.type is not None}
    try:
        module = emit(symbols)
    except CompileError as error:
        return replace(known, types=declared), error
    types: dict[str, str] = {}
    for op in module.ops:
        if isinstance(op, dt.FuncOp | dt.InputOp):
            element: Attribute = op.element
            types[op.sym_name.data] = type_name(element)
    return replace(known, types=types, sizes=_with_equal(known.sizes, module)), None


def _sizes(symbols: Symbols) -> dict[str, Size]:
    table = symbols.sizes
    found: dict[str, Size] = {}
    for tensor, labels in table.axes.items():
        for axis, label in enumerate(labels):
            if label:
                text = f"size({tensor}, {axis})"
                found.setdefault(label, Size(text, "is that of the axis that it indexes"))
    axis_of = {label: size.text for label, size in found.items() if label in table.implicit}

    def shown(expr: AffineExpr, labels: Sequence[str]) -> str:
        """Returns a size as programs write it: those of axes that no label names are `size`."""
        text = print_index_text(expr, [], labels)
        return re.sub(r"len\((\w+)\)", lambda found: axis_of.get(found[1], found[0]), text)

    for sizes, origin in (
        (table.inferred, "is the largest for which every read stays in bounds"),
        (table.declared, "is declared"),
    ):
        for label, (map, labels) in sizes.items():
            texts = [shown(expr, labels) for expr in map.results]
            text = texts[0] if len(texts) == 1 else f"min({', '.join(texts)})"
            found[label] = Size(text, origin)
    return found


def _with_equal(sizes: Mapping[str, Size], module: ModuleOp) -> dict[str, Size]:
    """Returns sizes with those of labels that are known to have the same ones."""
    found = dict(sizes)
    try:
        groups = Interface.of(module).groups
    except CompileError:
        return found
    for group in groups:
        known = [label for label in group if label in sizes]
        for label in group if known else ():
            same = Size(sizes[known[0]].text, f"is that of '{known[0]}'")
            found.setdefault(label, same)
    return found
