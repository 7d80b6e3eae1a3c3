"""Gives functions that are read in a window labels of their own.

A function is defined wherever it is read. Where one is read at `g[x + 1]` by another of the same
label, it is needed for more indices than the label has; its own axis gets another label then, whose
size follows from what the function reads. So do the axes of the functions that it reads along that
label. If it is an output, whose labels are its sizes, a function with such a label is computed and
read in its place, and the output is copied from that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.dialects.sched import OUTER, Argument
from dt_mlir.frontend.symbols import REDUCTIONS, Symbols, split_reduction
from dt_mlir.frontend.syntax import (
    Call,
    Definition,
    DirectiveCall,
    Expr,
    Name,
    Read,
    parts_of,
    with_parts,
)


def halo_of(output: str) -> str:
    """Returns the name of the function that computes an output with its halo, if that is free."""
    return f"{output}_halo"


def own_label(function: str, label: str) -> str:
    """Returns the name of a function's own label for one of the program, if that is free."""
    return f"{function}_{label}"


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
    pending = list(windows.items())
    halos: dict[str, str] = {}
    while pending:
        name, axes = pending.pop(0)
        # An output that has its halo already is read there.
        name = halos.get(name, name)
        definition = symbols.definitions[name]
        others = {
            label
            for other in symbols.definitions.values() if other is not definition
            for label in (*other.labels, *_labels(other.expression, symbols))
        }  # fmt: skip
        shared = [definition.labels[axis] for axis in sorted(axes)]
        renamed = {
            label: _fresh(own_label(name, label), symbols) for label in shared if label in others
        }
        if not renamed:
            continue
        if name in outputs:
            # The copy shares all of its labels.
            renamed = {label: _fresh(own_label(name, label), symbols) for label in shared}
            definition = _with_halo(symbols, definition)
            halos[name] = definition.name
        _rename(symbols, definition, renamed)
        pending += _read_along(symbols, definition.name, renamed)


def _read_along(
    symbols: Symbols, name: str, renamed: Mapping[str, str]
) -> Iterator[tuple[str, set[int]]]:
    """Yields the functions that a function reads along its own new labels, and their axes.

    They are needed wherever the function is, which is beyond the old label. A label whose size the
    program declares keeps it.
    """
    for read in _open_reads(symbols.definitions[name].expression):
        if read.name not in symbols.definitions or read.name == name:
            continue
        labels = symbols.definitions[read.name].labels
        axes = {
            axis
            for axis, index in enumerate(read.indices)
            if isinstance(index, Name) and index.name in renamed.values()
            and renamed.get(labels[axis]) == index.name
            and symbols.declarations[labels[axis]].size is None
        }  # fmt: skip
        if axes:
            yield read.name, axes


_OF_BOTH = ("fuse", "split", "block", "reorder", "tensorize", "map", "num_warps")
"""The directives of an output that the copy of it takes too."""


def _with_halo(symbols: Symbols, output: Definition) -> Definition:
    """Computes an output under another name, which others read, and copies it from there.

    Returns:
        The definition under the other name.
    """
    name = _fresh(halo_of(output.name), symbols)
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

    if name in _named_by_directives(symbols):
        # What the schedule says of the output is meant of the copy.
        return whole
    joined = _joined_labels(symbols, output)

    def copied(item: DirectiveCall) -> DirectiveCall | None:
        """Returns a directive of the output as one of the copy, if it has a meaning there."""
        known = {*output.labels, *joined}
        known |= {label + OUTER for label in known}
        of_labels = [a for a in item.arguments if (a.key or a.value) in known]
        if item.name in ("num_warps", "map"):
            # A map names the parts that it cuts labels into, too.
            of_labels = item.arguments
        elif item.name == "fuse" and len(of_labels) < len(item.arguments):
            return None
        if item.name not in _OF_BOTH or not of_labels:
            return None
        return replace(item, arguments=tuple(_argument(a, joined) for a in of_labels))

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
            if (of_copy := copied(item)) is not None:
                yield of_copy

    symbols.schedule[:] = directives(symbols.schedule)
    symbols.program.alternatives[:] = [
        replace(item, branches=tuple(tuple(directives(b)) for b in item.branches))
        for item in symbols.program.alternatives
    ]
    return whole


def _named_by_directives(symbols: Symbols) -> set[str]:
    """Returns the functions that directives are about, or name."""
    return {
        str(name) for item in _directives(symbols)
        for name in (item.function, *(a.value for a in item.arguments))
    }  # fmt: skip


def _directives(symbols: Symbols) -> Iterator[DirectiveCall]:
    """Yields the directives of a program, those of alternatives too."""
    branches = (b for item in symbols.program.alternatives for b in item.branches)
    return itertools.chain(symbols.schedule, *branches)


def _joined_labels(symbols: Symbols, output: Definition) -> dict[str, str]:
    """Declares labels for the copy of an output; returns them by those that stand for them.

    A joined label belongs to one function, and a label that joins reduced ones is not the copy's.
    """
    joined: dict[str, str] = {}
    for item in _directives(symbols):
        if item.function != output.name or item.name != "fuse" or not item.arguments:
            continue
        *labels, last = (a.value for a in item.arguments)
        if {*labels} <= {*output.labels, *joined} and isinstance(last, str):
            joined[last] = _fresh(f"{output.name}_{last}", symbols)
            # A program need not declare it.
            if last in symbols.declarations:
                declared = symbols.declarations[last]
                symbols.declarations[joined[last]] = replace(declared, name=joined[last])
    return joined


def _reading(expr: Expr, old: str, new: str) -> Expr:
    """Returns an expression that reads a function under another name."""
    parts = (_reading(part, old, new) for part in parts_of(expr))
    expr = with_parts(expr, parts)
    return replace(expr, name=new) if isinstance(expr, Read) and expr.name == old else expr


def _rename(symbols: Symbols, definition: Definition, renamed: Mapping[str, str]) -> None:
    for old, new in renamed.items():
        declared = symbols.declarations[old]
        symbols.declarations[new] = replace(declared, name=new, size=None)
    symbols.definitions[definition.name] = replace(
        definition,
        labels=tuple(renamed.get(label, label) for label in definition.labels),
        expression=_renamed(definition.expression, renamed),
    )

    shared = _shared_loops(symbols, definition)
    about = [item for item in _directives(symbols) if item.function == definition.name]
    # What a directive calls so, others mean by it; where one names the own label, the other name
    # stands for what is reduced.
    given = {a.value for item in about if item.name == "rename" for a in item.arguments}
    named = {name for item in about for a in item.arguments for name in (a.key, a.value)}
    called = {old: new for old, new in renamed.items() if not {new, new + OUTER} & named}
    meant = {old: new for old, new in called.items() if old not in given}

    def directive(item: DirectiveCall) -> DirectiveCall:
        names = meant
        if item.name == "fuse_at" and item.arguments:
            # The label is that of a loop of the consumer, which is named first.
            owner = item.arguments[0].value
            names = {old: new for old, new in meant.items() if old not in shared}
        else:
            owner = item.function
        if owner != definition.name:
            return item
        if item.name == "rename":
            arguments = [_argument(a, called)._replace(value=a.value) for a in item.arguments]
        else:
            arguments = [_argument(a, names) for a in item.arguments]
        return replace(item, arguments=tuple(arguments))

    symbols.schedule[:] = map(directive, symbols.schedule)
    symbols.program.alternatives[:] = [
        replace(item, branches=tuple(tuple(map(directive, b)) for b in item.branches))
        for item in symbols.program.alternatives
    ]


def _shared_loops(symbols: Symbols, definition: Definition) -> set[str]:
    """Returns the labels of a function whose loops are those of the function that it is fused into.
    """
    found: set[str] = set()
    for item in _directives(symbols):
        if item.function != definition.name or item.name != "fuse_at":
            continue
        for label in (a.value for a in item.arguments[1:]):
            if label in definition.labels:
                found.update(definition.labels[: definition.labels.index(label) + 1])
    return found


def _argument(argument: Argument, renamed: Mapping[str, str]) -> Argument:
    def of(name: str) -> str:
        label = name.removesuffix(OUTER)
        if name not in renamed and label in renamed:
            return renamed[label] + name[len(label) :]
        return renamed.get(name, name)

    key, value = argument.key, argument.value
    return argument._replace(
        key=of(key) if key is not None else None,
        value=of(value) if isinstance(value, str) else value,
    )


def _fresh(name: str, symbols: Symbols) -> str:
    while name in symbols.declarations:
        name += "_"
    return name


def _open_reads(expr: Expr) -> Iterator[Read]:
    """Yields the reads that no boundary condition guards."""
    if isinstance(expr, Read):
        yield expr
    guarded = isinstance(expr, Call) and expr.name in BOUNDARIES
    for i, part in enumerate(parts_of(expr)):
        if guarded and i == 0 and isinstance(part, Read):
            for index in part.indices:
                yield from _open_reads(index)
        else:
            yield from _open_reads(part)


def _labels(expr: Expr, symbols: Symbols) -> set[str]:
    """Returns the labels that an expression walks, reduced ones too, and not those it asks the size
    of."""
    found: set[str] = set()
    pending = [expr]
    while pending:
        part = pending.pop()
        if isinstance(part, Call) and part.name == "len":
            continue
        if isinstance(part, Name) and symbols.is_label(part.name):
            found.add(part.name)
        pending += parts_of(part)
    return found


def _renamed(expr: Expr, renamed: Mapping[str, str]) -> Expr:
    """Returns an expression with other labels, but for those that a reduction in it binds anew."""
    match expr:
        case Name():
            return replace(expr, name=renamed.get(expr.name, expr.name))
        case Call("len" | "size"):
            # The size of a label is that of the program's.
            return expr
        case Call("cast", (value, *rest)):
            return replace(expr, arguments=(_renamed(value, renamed), *rest))
        case Call() if expr.name in REDUCTIONS:
            bound = {label.name for label in split_reduction(expr)[1]}
            renamed = {old: new for old, new in renamed.items() if old not in bound}
        case _:
            pass
    return with_parts(expr, (_renamed(part, renamed) for part in parts_of(expr)))
