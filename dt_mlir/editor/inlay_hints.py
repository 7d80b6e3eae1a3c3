"""Inlay hints: types and sizes that a program does not write, as the compiler infers them."""

from __future__ import annotations

from lsprotocol.types import InlayHint, InlayHintKind, Range

from dt_mlir.editor.names import Occurrence, Role
from dt_mlir.editor.program import Program
from dt_mlir.frontend.syntax import Declaration


def inlay_hints(program: Program, shown: Range) -> list[InlayHint]:
    """Returns the hints behind the names that are declared in a range."""
    first, last = program.text.index(shown.start), program.text.index(shown.end)
    found: list[InlayHint] = []
    for item in program.names.declared.values():
        if first <= item.token.start and item.token.end <= last:
            declared = program.declaration(item.name)
            hint = None if declared is None else _hint(program, item, declared)
            if hint is not None:
                found.append(hint)
    return found


def _hint(program: Program, item: Occurrence, declared: Declaration) -> InlayHint | None:
    facts, name = program.known_facts, declared.name
    kind = InlayHintKind.Type
    end = item.token.end
    if declared.kind in ("Var", "RVar"):
        if declared.size is not None or not facts.sized:
            return None
        size = facts.sizes.get(name)
        text = "the caller's" if size is None else size.text
        tip = f"The caller gives the size, by the keyword '{name}'."
        if size is not None:
            tip = f"The size {size.origin}."
        return InlayHint(program.text.position(end), f" = {text}", kind, tooltip=tip)
    axes = facts.axes.get(name)
    shown = "" if not axes else f"[{', '.join(label or '_' for label in axes)}]"
    if declared.type is None:
        type = facts.types.get(name)
        if type is None:
            return None
        tip = f"The element type{' and the labels of the axes' if shown else ''}, as inferred."
        return InlayHint(program.text.position(end), f" : {type}{shown}", kind, tooltip=tip)
    if not shown:
        return None
    types = [o for o in program.names.occurrences if o.role is Role.TYPE and o.token.start > end]
    place = types[0].token.end if types else end
    return InlayHint(program.text.position(place), shown, kind, tooltip="The labels of the axes.")
