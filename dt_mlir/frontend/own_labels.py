"""Gives functions that are read in a window labels of their own.

A function is defined wherever it is read. Where one is read at `g[x + 1]` by another of the same
label, it is needed for more indices than the label has; its own axis gets another label then, whose
size follows from what the function reads. If it is an output, whose labels are its sizes, a
function with such a label is computed and read in its place, and the output is copied from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.dialects.sched import Argument
from dt_mlir.frontend.symbols import REDUCTIONS, Symbols, split_reduction
from dt_mlir.frontend.syntax import (
    Call,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    Name,
    Prefix,
    Read,
)


def separate_labels(symbols: Symbols) -> None:
    """Renames the labels of functions that others read in a window, where they share the label.

    Args:
        symbols: a checked program; its definitions, declarations and schedule change.
    """
    outputs = {item.function for item in symbols.outputs}
    windows: dict[str, set[int]] = {}
    for definition in symbols.definitions.values():
        for read in _open_reads(definition.expression):
            if read.name not in symbols.definitions:
                continue
            for axis, index in enumerate(read.indices):
                form = symbols.index_form(index)
                if form is not None and form.dims and form.label is None:
                    windows.setdefault(read.name, set()).add(axis)
    for name, axes in windows.items():
        definition = symbols.definitions[name]
        others = {
            label
            for other in symbols.definitions.values() if other is not definition
            for label in (*other.labels, *_labels(other.expression, symbols))
        }  # fmt: skip
        shared = [definition.labels[axis] for axis in sorted(axes)]
        renamed = {label: _fresh(f"{name}_{label}", symbols) for label in shared if label in others}
        if not renamed:
            continue
        if name in outputs:
            definition = _with_halo(symbols, definition)
        _rename(symbols, definition, renamed)


_OF_BOTH = ("block", "tensorize", "map", "num_warps")
"""The directives of an output that the copy of it takes too."""


def _with_halo(symbols: Symbols, output: Definition) -> Definition:
    """Computes an output under another name, which others read, and copies it from there.

    Returns:
        The definition under the other name.
    """
    name = _fresh(f"{output.name}_halo", symbols)
    declared = symbols.declarations[output.name]
    symbols.declarations[name] = replace(declared, name=name)
    whole = replace(output, name=name)
    indices = tuple(Name(label, output.at) for label in output.labels)
    copy = replace(output, expression=Read(name, indices, output.at))
    found: dict[str, Definition] = {}
    for definition in symbols.definitions.values():
        if definition is output:
            found |= {name: whole, output.name: copy}
        else:
            expression = _reading(definition.expression, output.name, name)
            found[definition.name] = replace(definition, expression=expression)
    symbols.definitions.clear()
    symbols.definitions.update(found)
    for used in symbols.used.values():
        if output.name in used:
            used.remove(output.name)
            used.add(name)
    symbols.used[name], symbols.used[output.name] = symbols.used[output.name], {name}
    symbols.order.insert(symbols.order.index(output.name), name)
    symbols.ranks[name] = len(output.labels)

    def directives(items: Iterable[DirectiveCall]) -> Iterator[DirectiveCall]:
        for item in items:
            consumers = [a._replace(value=name) if a.value == output.name else a
                         for a in item.arguments]  # fmt: skip
            if item.name == "fuse_at":
                item = replace(item, arguments=tuple(consumers))
            if item.function != output.name:
                yield item
                continue
            yield replace(item, function=name)
            of_labels = [a for a in item.arguments if (a.key or a.value) in output.labels]
            if item.name in _OF_BOTH and (of_labels or item.name == "num_warps"):
                kept = item.arguments if item.name == "num_warps" else of_labels
                yield replace(item, arguments=tuple(kept))

    symbols.schedule[:] = directives(symbols.schedule)
    symbols.program.alternatives[:] = [
        replace(item, branches=tuple(tuple(directives(b)) for b in item.branches))
        for item in symbols.program.alternatives
    ]
    return whole


def _reading(expr: Expr, old: str, new: str) -> Expr:
    """Returns an expression that reads a function under another name."""
    match expr:
        case Read(name, indices):
            parts = tuple(_reading(index, old, new) for index in indices)
            return replace(expr, name=new if name == old else name, indices=parts)
        case Prefix(_, operand):
            return replace(expr, operand=_reading(operand, old, new))
        case Infix(_, left, right):
            return replace(expr, left=_reading(left, old, new), right=_reading(right, old, new))
        case Call(_, arguments):
            return replace(expr, arguments=tuple(_reading(a, old, new) for a in arguments))
        case _:
            return expr


def _rename(symbols: Symbols, definition: Definition, renamed: Mapping[str, str]) -> None:
    for old, new in renamed.items():
        declared = symbols.declarations[old]
        symbols.declarations[new] = replace(declared, name=new, size=None)
    symbols.definitions[definition.name] = replace(
        definition,
        labels=tuple(renamed.get(label, label) for label in definition.labels),
        expression=_renamed(definition.expression, renamed),
    )

    def directive(item: DirectiveCall) -> DirectiveCall:
        if item.function != definition.name or item.name == "fuse_at":
            return item
        return replace(item, arguments=tuple(_argument(a, renamed) for a in item.arguments))

    symbols.schedule[:] = map(directive, symbols.schedule)
    symbols.program.alternatives[:] = [
        replace(item, branches=tuple(tuple(map(directive, b)) for b in item.branches))
        for item in symbols.program.alternatives
    ]


def _argument(argument: Argument, renamed: Mapping[str, str]) -> Argument:
    key, value = argument.key, argument.value
    return argument._replace(
        key=renamed.get(key, key) if key is not None else None,
        value=renamed.get(value, value) if isinstance(value, str) else value,
    )


def _fresh(name: str, symbols: Symbols) -> str:
    while name in symbols.declarations:
        name += "_"
    return name


def _parts(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Read():
            return expr.indices
        case Call():
            return expr.arguments
        case Prefix():
            return (expr.operand,)
        case Infix():
            return expr.left, expr.right
        case _:
            return ()


def _open_reads(expr: Expr) -> Iterator[Read]:
    """Yields the reads that no boundary condition guards."""
    if isinstance(expr, Read):
        yield expr
    guarded = isinstance(expr, Call) and expr.name in BOUNDARIES
    for part in _parts(expr):
        if guarded and isinstance(part, Read):
            for index in part.indices:
                yield from _open_reads(index)
        else:
            yield from _open_reads(part)


def _labels(expr: Expr, symbols: Symbols) -> set[str]:
    """Returns the labels that occur in an expression, reduced ones too."""
    found: set[str] = set()
    pending = [expr]
    while pending:
        part = pending.pop()
        if isinstance(part, Name) and symbols.is_label(part.name):
            found.add(part.name)
        pending += _parts(part)
    return found


def _renamed(expr: Expr, renamed: Mapping[str, str]) -> Expr:
    """Returns an expression with other labels, but for those that a reduction in it binds anew."""
    match expr:
        case Name():
            return replace(expr, name=renamed.get(expr.name, expr.name))
        case Read():
            return replace(expr, indices=tuple(_renamed(e, renamed) for e in expr.indices))
        case Prefix():
            return replace(expr, operand=_renamed(expr.operand, renamed))
        case Infix():
            left, right = _renamed(expr.left, renamed), _renamed(expr.right, renamed)
            return replace(expr, left=left, right=right)
        case Call("len" | "size" | "cast"):
            # The size of a label is that of the program's.
            first = expr.arguments[0]
            kept = (_renamed(first, renamed) if expr.name == "cast" else first, *expr.arguments[1:])
            return replace(expr, arguments=kept)
        case Call():
            if expr.name in REDUCTIONS:
                bound = {label.name for label in split_reduction(expr)[1]}
                renamed = {old: new for old, new in renamed.items() if old not in bound}
            return replace(expr, arguments=tuple(_renamed(e, renamed) for e in expr.arguments))
        case _:
            return expr
