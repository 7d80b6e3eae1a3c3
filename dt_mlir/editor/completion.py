"""Completion: what may stand at a place of a program, from what stands in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    InsertTextFormat,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    TextEdit,
)

from dt_mlir.editor.context import Bracket, Context, context_at
from dt_mlir.editor.names import settings_of, values_of, words_of
from dt_mlir.editor.program import Program
from dt_mlir.editor.reference import (
    KINDS,
    OPERATORS,
    Entry,
    constants,
    directive_entry,
    directives,
    function_entry,
    functions,
    types,
)
from dt_mlir.frontend.syntax import Definition, Expr, Name, parts_of
from dt_mlir.registry import find_directive
from dt_mlir.scheduling.directive import Directive
from dt_mlir.scheduling.parameters import Integer, NamedChoice, PartsOf, Setting, Sizes
from dt_mlir.scheduling.parameters import Name as NameKind

TRIGGERS = (".", ":", "[", "(", ",", "/")
"""The characters behind which clients ask for completions."""


@dataclass(frozen=True)
class _Choice:
    """Something that may stand at the place."""

    label: str
    kind: CompletionItemKind
    detail: str = ""
    text: str | None = None
    """The text that is inserted; None for the label. `$0` is where the cursor goes."""
    documentation: str | None = None
    resolve: str | None = None
    """The registry that has its documentation."""


def completion(program: Program, position: Position, snippets: bool) -> list[CompletionItem]:
    """Returns what may stand at a place, the most likely first.

    Args:
        program: the program.
        position: the place.
        snippets: whether the client takes texts that say where the cursor goes.
    """
    index = program.text.index(position)
    context = context_at(program, index)
    if context is None:
        return []
    found: dict[str, _Choice] = {}
    for choice in _choices(program, context):
        found.setdefault(choice.label, choice)
    edited = program.text.range(context.start, index)
    return [
        _item(choice, number, snippets, edited) for number, choice in enumerate(found.values())
    ]


def _item(choice: _Choice, number: int, snippets: bool, edited: Range) -> CompletionItem:
    text = choice.label if choice.text is None else choice.text
    is_snippet = "$0" in text and snippets
    if not is_snippet:
        text = text.replace("$0", "")
    documentation = choice.documentation
    return CompletionItem(
        choice.label, kind=choice.kind, detail=choice.detail or None,
        documentation=None if documentation is None
        else MarkupContent(MarkupKind.Markdown, documentation),
        sort_text=f"{number:04}", filter_text=choice.label, text_edit=TextEdit(edited, text),
        insert_text_format=InsertTextFormat.Snippet if is_snippet else InsertTextFormat.PlainText,
        data=choice.resolve,
    )  # fmt: skip


def resolve(item: CompletionItem) -> CompletionItem:
    """Returns an item with its documentation."""
    entry = None
    if item.data == "directive":
        entry = directive_entry(item.label)
    elif item.data == "function":
        entry = function_entry(item.label)
    if entry is not None:
        item.documentation = MarkupContent(MarkupKind.Markdown, entry.markdown)
    return item


def _choices(program: Program, context: Context) -> Iterator[_Choice]:
    before, bracket = context.before, context.bracket
    last = before[-1].type if before else ""
    if last == "DOT":
        yield from _directives()
    elif bracket is not None and bracket.directive is not None:
        yield from _arguments(program, bracket, context)
    elif context.first == "KIND":
        yield from _declaration(program, context)
    elif not before or (bracket is not None and bracket.is_group and last in ("LPAR", "SEMICOLON")):
        yield from _statement(program, is_whole=bracket is None)
    elif bracket is not None and bracket.type == "LSQB" and not context.has_equal:
        yield from _labels(program)
    elif context.has_equal and last in ("EQUAL", "BAR") and not context.defines:
        yield from _functions_to_schedule(program)
        yield from _words(("none",))
    elif context.has_equal:
        yield from _expression(program, context)


def _statement(program: Program, is_whole: bool) -> Iterator[_Choice]:
    """Yields what a statement may begin with."""
    yield from _functions_to_schedule(program)
    if is_whole:
        for name, entry in KINDS.items():
            text = f"{name} $0"
            yield _entry(name, entry, CompletionItemKind.Keyword, text)
    else:
        yield from _words(("none",))


def _words(names: Iterable[str]) -> Iterator[_Choice]:
    for name in names:
        yield _entry(name, OPERATORS[name], CompletionItemKind.Keyword, None)


def _entry(
    name: str, entry: Entry, kind: CompletionItemKind, text: str | None, resolve: str | None = None
) -> _Choice:
    documentation = None if resolve else entry.markdown
    return _Choice(name, kind, entry.signature, text, documentation, resolve)


def _directives() -> Iterator[_Choice]:
    for name, entry in directives():
        takes_none = entry.signature.endswith("()") or name == "compile"
        text = f"{name}()" if takes_none else f"{name}($0)"
        yield _entry(name, entry, CompletionItemKind.Method, text, "directive")


def _declaration(program: Program, context: Context) -> Iterator[_Choice]:
    last = context.before[-1].type
    if last == "COLON" and not context.in_size:
        yield from _types()
    elif context.in_size:
        for name in ("size", "len"):
            entry = function_entry(name)
            assert entry is not None
            yield _entry(name, entry, CompletionItemKind.Function, f"{name}($0)")
        yield from _tensors(program)
        yield from _labels(program)


def _types() -> Iterator[_Choice]:
    for name, entry in types():
        yield _Choice(name, CompletionItemKind.TypeParameter, entry.summary)


def _labels(program: Program, first: Sequence[str] = (), colon: str = "") -> Iterator[_Choice]:
    """Yields the labels, some of them first."""
    declared = [d.name for d in program.statements.tree.declarations if d.kind in ("Var", "RVar")]
    sizes = program.known_facts.sizes
    for name in dict.fromkeys([*(n for n in first if n in declared), *declared]):
        size = sizes.get(name)
        detail = "label" if size is None else f"label of size {size.text}"
        text = f"{name}{colon}" if colon else None
        yield _Choice(name, CompletionItemKind.Variable, detail, text)


def _tensors(program: Program, indexed: bool = False) -> Iterator[_Choice]:
    """Yields functions and inputs."""
    for item in program.statements.tree.declarations:
        if item.kind in ("Func", "In"):
            shape = program.known_facts.shape(item.name) or ""
            kind = CompletionItemKind.Function if item.kind == "Func" else CompletionItemKind.Field
            text = f"{item.name}[$0]" if indexed else None
            yield _Choice(item.name, kind, f"{item.kind} {item.name} : {shape}".rstrip(" :"), text)


def _functions_to_schedule(program: Program) -> Iterator[_Choice]:
    for item in program.statements.tree.declarations:
        if item.kind == "Func":
            shape = program.known_facts.shape(item.name)
            detail = f"Func {item.name}" + ("" if shape is None else f" : {shape}")
            yield _Choice(item.name, CompletionItemKind.Function, detail)


def _expression(program: Program, context: Context) -> Iterator[_Choice]:
    """Yields what may stand in an expression."""
    bracket, last = context.bracket, context.before[-1].type
    if last in ("NAME", "INT", "FLOAT", "RPAR", "RSQB"):
        yield from _words(("and", "or"))
        return
    if bracket is not None and bracket.name == "cast" and bracket.position == 1:
        yield from _types()
        return
    if bracket is not None and bracket.name == "len":
        yield from _labels(program)
        return
    if bracket is not None and bracket.name == "size":
        yield from _tensors(program)
        return
    reduces = bracket is not None and (bracket.name or "").startswith("r") and bracket.position > 0
    in_index = bracket is not None and bracket.type == "LSQB"
    own = _labels_of(program, program.definition(context.first_text))
    if reduces or in_index:
        yield from _labels(program, own)
    yield from _tensors(program, indexed=True)
    for item in program.statements.tree.declarations:
        if item.kind == "SIn":
            type = program.known_facts.types.get(item.name, item.type or "f32")
            yield _Choice(item.name, CompletionItemKind.Constant, f"SIn {item.name} : {type}")
    if not (reduces or in_index):
        yield from _labels(program, own)
    for name, entry in functions():
        yield _entry(name, entry, CompletionItemKind.Function, f"{name}($0)", "function")
    for name, entry in constants():
        yield _entry(name, entry, CompletionItemKind.Constant, None)
    yield from _words(("not",))


def _labels_of(program: Program, definition: Definition | None) -> list[str]:
    """Returns the labels of a function's loops: its own, and those of its reductions."""
    if definition is None:
        return []
    declared = {d.name for d in program.statements.tree.declarations if d.kind in ("Var", "RVar")}
    found = dict.fromkeys(definition.labels)
    pending: list[Expr] = [definition.expression]
    while pending:
        expr = pending.pop(0)
        if isinstance(expr, Name) and expr.name in declared:
            found.setdefault(expr.name)
        pending += parts_of(expr)
    return list(found)


def _arguments(program: Program, bracket: Bracket, context: Context) -> Iterator[_Choice]:
    """Yields the arguments that a directive may take at the place."""
    assert bracket.directive is not None
    cls, last = find_directive(bracket.directive), context.before[-1].type
    knobs = [knob.name for knob in program.statements.tree.knobs]
    numbers = [_Choice(name, CompletionItemKind.Constant, "knob") for name in knobs]
    if cls is None:
        if bracket.directive == "compile":
            yield _Choice("dynamic", CompletionItemKind.Keyword, text="dynamic:1")
        return
    words = [_Choice(word, CompletionItemKind.EnumMember) for word in words_of(cls)]
    values = values_of(cls)
    if last in ("COLON", "SLASH"):
        yield from numbers
        if last == "COLON":
            yield from (word for word in words if word.label in values)
        return
    own = _labels_of(program, program.definition(bracket.function or ""))
    keyed = any(isinstance(kind, Sizes | PartsOf) for kind in _kinds(cls))
    given = [t.text for t in bracket.tokens if t.is_name]
    for kind in _kinds(cls):
        if isinstance(kind, NameKind) and kind.what == "function":
            yield from (
                c for c in _functions_to_schedule(program) if c.label != bracket.function
            )
    yield from (word for word in words if word.label not in values)
    for name in settings_of(cls):
        yield _Choice(name, CompletionItemKind.Property, _doc_of(cls, name), f"{name}:")
    if any(not isinstance(kind, Integer | Setting | NamedChoice) for kind in _kinds(cls)):
        labels = _labels(program, own, ":" if keyed else "")
        yield from (choice for choice in labels if choice.label not in given)
    yield from numbers


def _kinds(cls: type[Directive]) -> list[object]:
    return [kind for _, kind, _ in cls.parameters()]


def _doc_of(cls: type[Directive], setting: str) -> str:
    return next(
        doc for _, kind, doc in cls.parameters()
        if isinstance(kind, Setting | NamedChoice) and kind.name == setting
    )  # fmt: skip
