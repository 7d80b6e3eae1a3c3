"""Hovers: what a word of a program is, and what the compiler knows about it."""

from __future__ import annotations

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position

from dt_mlir.editor.deep_check import Costs
from dt_mlir.editor.names import Occurrence, Role
from dt_mlir.editor.program import Program
from dt_mlir.editor.reference import (
    KINDS,
    OPERATORS,
    constants,
    directive_entry,
    function_entry,
    type_entry,
)
from dt_mlir.editor.tokens import COMMENT, WORDS, Token
from dt_mlir.frontend.printer import (
    print_alternatives,
    print_definition,
    print_directive,
    print_expression,
    print_knob,
)
from dt_mlir.frontend.syntax import Declaration, DirectiveCall


def hover(program: Program, position: Position) -> Hover | None:
    """Returns the documentation of the word at a place; None if there is nothing to say."""
    index = program.text.index(position)
    item = program.name_at(index)
    if item is not None and item.token.type == "NONE" and program.names.origin(item) is None:
        item = None
    if item is not None:
        text, token = _about(program, item), item.token
    else:
        token = program.token_at(index)
        text = None if token is None else _word(token)
    if text is None or token is None:
        return None
    shown = MarkupContent(MarkupKind.Markdown, text)
    return Hover(shown, program.text.range(token.start, token.end))


def _word(token: Token) -> str | None:
    if token.type not in WORDS:
        return None
    entry = KINDS.get(token.text) or OPERATORS.get(token.text)
    return None if entry is None else entry.markdown


def _about(program: Program, item: Occurrence) -> str | None:
    match item.role:
        case Role.DIRECTIVE:
            return _directive(program, item)
        case Role.CALL:
            entry = function_entry(item.name)
            return None if entry is None else entry.markdown
        case Role.TYPE:
            entry = type_entry(item.name)
            return None if entry is None else entry.markdown
        case Role.SETTING:
            return _setting(item)
        case _:
            return _name(program, item)


def _directive(program: Program, item: Occurrence) -> str | None:
    entry = directive_entry(item.name)
    if entry is None:
        return None
    lines = [entry.markdown]
    call = _call_at(program, item.token)
    costs = program.costs
    if call is not None and costs is not None:
        step = costs.directives.get(print_directive(call))
        if step is not None:
            lines.append(f"**Predicted cost** on {costs.circumstances}, of all kernels: {step}")
    return "\n\n".join(lines)


def _call_at(program: Program, token: Token) -> DirectiveCall | None:
    """Returns the directive whose name a token is."""
    calls = program.statements.tree.all_directives()
    return next((c for c in calls if program.index_of(c.name_at) == token.start), None)


def _setting(item: Occurrence) -> str | None:
    entry = directive_entry(item.directive or "")
    return None if entry is None else f"`{item.name}` of the directive\n\n{entry.markdown}"


def _name(program: Program, item: Occurrence) -> str | None:
    declared = program.declaration(item.name)
    if declared is not None:
        return _label(program, declared) if declared.kind in ("Var", "RVar") else _tensor(
            program, declared
        )
    tree = program.statements.tree
    for knob in tree.knobs:
        if knob.name == item.name:
            return f"```dt\n{print_knob(knob)}\n```\n\nA parameter of a space of schedules."
    for choice in tree.alternatives:
        if choice.name == item.name:
            return f"```dt\n{print_alternatives(choice)}\n```\n\nA choice of a space of schedules."
    origin = program.names.origin(item)
    if origin is not None and origin.directive is not None:
        return _given(program, item, origin)
    source = program.names.source_of(item.name)
    if source is not None and item.directive is not None:
        return f"`{item.name}` is derived from `{source}`."
    return next((entry.markdown for name, entry in constants() if name == item.name), None)


def _given(program: Program, item: Occurrence, origin: Occurrence) -> str | None:
    statement = program.statements.at(origin.token.start)
    calls = [] if statement is None else statement.tree.all_directives()
    named = [call for call in calls if call.name == origin.directive]
    if not named:
        return None
    return f"```dt\n{print_directive(named[0])}\n```\n\n`{item.name}` is named by this directive."


def _label(program: Program, declared: Declaration) -> str:
    size = program.known_facts.sizes.get(declared.name)
    head = f"{declared.kind} {declared.name}"
    if declared.size is not None:
        head += f" = {print_expression(declared.size)}"
    lines = [f"```dt\n{head};\n```"]
    marked = " that is meant for reductions" if declared.kind == "RVar" else ""
    lines.append(f"A dimension label{marked}.")
    if size is not None:
        lines.append(f"Size: `{size.text}`. It {size.origin}.")
    elif declared.size is None and program.known_facts.sized:
        lines.append(f"The caller gives its size, by the keyword `{declared.name}`.")
    axes = [
        f"axis {axis} of `{tensor}`"
        for tensor, labels in program.known_facts.axes.items()
        for axis, label in enumerate(labels) if label == declared.name
    ]  # fmt: skip
    if axes:
        lines.append(f"It labels {', '.join(axes)}.")
    return "\n\n".join([*lines, *_comment(program, declared.name)])


def _tensor(program: Program, declared: Declaration) -> str:
    facts, name = program.known_facts, declared.name
    shape = facts.shape(name) or declared.type
    head = f"{declared.kind} {name}" + ("" if shape is None else f" : {shape}") + ";"
    lines = [head]
    definition = program.definition(name)
    if definition is not None:
        lines.append(print_definition(definition))
    parts = ["```dt\n" + "\n".join(lines) + "\n```"]
    what = {"Func": "A function", "In": "An input tensor", "SIn": "An input scalar"}
    type = facts.types.get(name, declared.type)
    typed = "" if type is None else f" of element type `{type}`"
    inferred = ", which is inferred" if typed and declared.type is None else ""
    parts.append(f"{what[declared.kind]}{typed}{inferred}.")
    parts += _comment(program, name)
    sizes = [
        f"- `{label}`: `{facts.sizes[label].text}`" if label in facts.sizes
        else f"- `{label}`: the caller gives it"
        for label in facts.axes.get(name, ()) if label
    ]  # fmt: skip
    if sizes and facts.sized:
        parts.append("Sizes:\n" + "\n".join(sizes))
    schedule = program.directives_of(name)
    if schedule:
        parts.append("```dt\n" + "\n".join(map(print_directive, schedule)) + "\n```")
    return "\n\n".join([*parts, *_cost(program.costs, name)])


def _cost(costs: Costs | None, name: str) -> list[str]:
    """Returns the cost of the kernel of a function, or of the one that it is computed in."""
    if costs is None:
        return []
    root = costs.homes.get(name, name)
    if root not in costs.kernels:
        return []
    kernel = "its kernel" if root == name else f"the kernel of `{root}`, which computes it,"
    return [f"**Predicted cost** of {kernel} on {costs.circumstances}: {costs.kernels[root]}"]


def _comment(program: Program, name: str) -> list[str]:
    """Returns the comments above the definition of a name, and behind it or its declaration."""
    places = [o for o in program.names.occurrences if o.name == name and o.directive is None]
    defining = [o for o in places if o.role is Role.DEFINITION]
    found: list[str] = []
    for item in defining or [o for o in places if o.role is Role.DECLARATION]:
        statement = program.statements.at(item.token.start)
        if statement is not None:
            above = _comments_above(program, statement.start) if defining else []
            found += [*above, *_comment_behind(program, statement.end)]
    return [" ".join(found)] if found else []


def _comments_above(program: Program, start: int) -> list[str]:
    """Returns the comments on lines of their own directly above a place."""
    text, found = program.text, list[str]()
    number = text.line_at(start) - 1
    while number >= 0 and text.line(number).lstrip().startswith("#"):
        found.insert(0, text.line(number).strip().lstrip("#").strip())
        number -= 1
    return found


def _comment_behind(program: Program, end: int) -> list[str]:
    """Returns the comment that follows on the line of a place."""
    for token in program.statements.tokens:
        if token.start >= end:
            on_line = program.text.line_at(token.start) == program.text.line_at(end - 1)
            is_comment = token.type == COMMENT and on_line
            return [token.text.lstrip("#").strip()] if is_comment else []
    return []
