"""The documentation of the language's words as Markdown, from the registries that define them.

What a loaded file or another package defines is in the registries too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.callables import find_function, load_others
from dt_mlir.diagnostics import CompileError
from dt_mlir.element_types import ELEMENT_TYPES, TORCH_TYPES
from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.symbols import CONSTANTS, REDUCTIONS
from dt_mlir.registry import directive_names, find_directive
from dt_mlir.scheduling.directive import Directive


class Entry(NamedTuple):
    """A word of the language."""

    signature: str
    """The form in programs: `block(label:number, …)`."""
    summary: str
    """A sentence or a phrase."""
    details: str = ""
    """More about it, as Markdown."""

    @property
    def markdown(self) -> str:
        """The entry as a hover shows it."""
        shown = [f"```dt\n{self.signature}\n```", self.summary, self.details]
        return "\n\n".join(filter(None, shown))


KINDS = {
    "Func": Entry("Func f, g : f16;", "Declares functions: tensors that the program defines."),
    "In": Entry("In A, B : bf16;", "Declares input tensors; without a type they are `f32`."),
    "SIn": Entry(
        "SIn alpha;",
        "Declares input scalars. One without a type is like a number: an `f32`, or an `f64` where "
        "it meets one.",
    ),
    "Var": Entry("Var x, p = size(X, 2) - 2;", "Declares dimension labels, or also their sizes."),
    "RVar": Entry(
        "RVar k, r = 3;", "Declares dimension labels that are meant for reductions."
    ),
}
"""The words that begin declarations."""

SPECIAL = {
    "len": Entry("len(label)", "the size of a label, an `i32`"),
    "size": Entry("size(tensor, axis)", "the size of an axis of a tensor, an `i32`"),
    "cast": Entry("cast(e, type)", "a value as one of an element type"),
    "where": Entry("where(condition, a, b)", "`a` where the condition holds, `b` elsewhere"),
    "reshape": Entry("reshape(e, label, 1)", "the value; its labels are stated and checked"),
}
"""The parts of the language that are called, and are neither functions nor reductions."""

OPERATORS = {
    "and": Entry("a and b", "true where both hold"),
    "or": Entry("a or b", "true where one holds"),
    "not": Entry("not a", "true where the operand does not hold"),
    "none": Entry("none", "the branch of a choice that has no directives"),
}
"""The operators and other words that the grammar reserves."""

_VALUES = {
    "inf": "infinity", "nan": "not a number",
    "pi": "the ratio of a circle's circumference to its diameter",
}  # fmt: skip

_OUTPUTS = {
    "compile": Entry(
        "compile([dynamic:1])",
        "Compiles the function: kernels, and a wrapper that checks its tensors and launches them.",
        "Sizes and strides are constants of a kernel, or with `dynamic:1` arguments at run time.",
    ),
    "compile_to_kernel": Entry("compile_to_kernel()", "Compiles the function to kernels alone."),
}


def directive_entry(name: str) -> Entry | None:
    """Returns the documentation of a directive; None if there is none of the name."""
    if name in OUTPUT_DIRECTIVES:
        return _OUTPUTS[name]
    cls = find_directive(name)
    return None if cls is None else _class_entry(cls)


@cache
def _class_entry(cls: type[Directive]) -> Entry:
    first, _, rest = (inspect.getdoc(cls) or "").partition("\n")
    optional = cls.defaults()
    rows = [
        f"- `{kind.form}`" + (f" (`{optional[item]}` if left out)" if item in optional else "")
        + f": {doc}"
        for item, kind, doc in cls.parameters()
    ]
    # The rewrite in the documentation has two columns, and is no language's.
    text = re.sub(r"^```\n", "```text\n", rest.strip(), count=1, flags=re.MULTILINE)
    parts = [text, "\n".join(rows), f"Phase: {cls.phase.name.lower()}."]
    return Entry(f"f.{cls.signature()}", first, "\n\n".join(filter(None, parts)))


def directives() -> Iterator[tuple[str, Entry]]:
    """Yields all directives that there are, those of other packages among them."""
    for name in (*directive_names(), *OUTPUT_DIRECTIVES):
        entry = directive_entry(name)
        if entry is not None:
            yield name, entry


def function_entry(name: str) -> Entry | None:
    """Returns the documentation of what an expression calls; None if there is none of the name."""
    if name in SPECIAL:
        return SPECIAL[name]
    if name in REDUCTIONS:
        values = "a, b" if name == "rdot" else "e"
        return Entry(
            f"{name}({values}, label, …, condition, …)", REDUCTIONS[name],
            "Conditions behind the labels restrict it; the value is not evaluated where one is "
            "false.",
        )  # fmt: skip
    try:
        function = find_function(name)
    except CompileError:
        function = FUNCTIONS.get(name)
    if name in BOUNDARIES:
        outside = ", value" if name == CONSTANT else ""
        return Entry(
            f"{name}(A[…]{outside})",
            f"a read that has a value out of bounds: {BOUNDARIES[name].summary}",
        )
    if function is None:
        return None
    operands = ("x", "low", "high") if name == "clamp" else tuple("xyz"[: function.arity])
    return Entry(f"{name}({', '.join(operands)})", function.summary)


def functions() -> Iterator[tuple[str, Entry]]:
    """Yields all that expressions may call, what other packages define among it."""
    with suppress(CompileError):
        load_others()
    for name in (*FUNCTIONS, *REDUCTIONS, *BOUNDARIES, *SPECIAL):
        entry = function_entry(name)
        if entry is not None:
            yield name, entry


def type_entry(name: str) -> Entry | None:
    """Returns the documentation of an element type; None if there is none of the name."""
    if name not in ELEMENT_TYPES:
        return None
    return Entry(name, f"The element type `torch.{TORCH_TYPES[name]}`.")


def types() -> Iterator[tuple[str, Entry]]:
    """Yields the element types."""
    for name in ELEMENT_TYPES:
        entry = type_entry(name)
        assert entry is not None
        yield name, entry


def constants() -> Iterator[tuple[str, Entry]]:
    """Yields the names that stand for numbers unless a program declares them."""
    for name in CONSTANTS:
        yield name, Entry(name, f"The number: {_VALUES.get(name, name)}.")
