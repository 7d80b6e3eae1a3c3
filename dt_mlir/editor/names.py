"""The names in a program's text: what each stands for, and where else it stands.

Names are found in tokens, so that they are found in statements too that cannot be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from dt_mlir.editor.statements import Statements
from dt_mlir.editor.tokens import Token
from dt_mlir.registry import find_directive
from dt_mlir.scheduling.directive import Directive
from dt_mlir.scheduling.parameters import DESCENDING, Choice, Name, NamedChoice, Setting
from dt_mlir.scheduling.parameters import Names as NameList


class Role(Enum):
    """The role of a name at a place."""

    DECLARATION = auto()
    """A name that is declared: of a function, an input, a label, a knob."""
    DEFINITION = auto()
    """A function on the left of its definition."""
    PART = auto()
    """A name that a directive gives: to a part of a split, or to a function of parts."""
    USE = auto()
    """Any other use of one of these."""
    DIRECTIVE = auto()
    """A directive."""
    CALL = auto()
    """A function of the language, called in an expression."""
    TYPE = auto()
    """An element type."""
    SETTING = auto()
    """The name of a directive's parameter, or a word that it takes."""


PROGRAMS_OWN = (Role.DECLARATION, Role.DEFINITION, Role.PART, Role.USE)
"""The roles of names that a program gives."""


@dataclass(frozen=True)
class Occurrence:
    """A name at a place of the text."""

    role: Role
    token: Token
    function: str | None = None
    """The function of the directive that it is an argument of."""
    directive: str | None = None
    """The directive that it is an argument of."""

    @property
    def name(self) -> str:
        """The name."""
        return self.token.text


class Names:
    """The names of a program.

    Args:
        statements: the program.
    """

    def __init__(self, statements: Statements) -> None:
        self.occurrences: list[Occurrence] = []
        """All of them, in the order of the text."""
        self.kinds = {d.name: d.kind for d in statements.tree.declarations}
        """The kinds of declared names: `Func`, `In`, `SIn`, `Var` or `RVar`."""
        for item in statements.statements:
            tokens = [token for token in item.tokens if token.type != "SEMICOLON"]
            self.occurrences += sorted(_occurrences(tokens), key=lambda o: o.token.start)

    def at(self, place: int) -> Occurrence | None:
        """Returns the name that a place lies in, or ends."""
        touching = [o for o in self.occurrences if o.token.start <= place <= o.token.end]
        return touching[-1] if touching else None

    @cached_property
    def declared(self) -> dict[str, Occurrence]:
        """The first declaration of each name."""
        found: dict[str, Occurrence] = {}
        for item in self.occurrences:
            if item.role is Role.DECLARATION:
                found.setdefault(item.name, item)
        return found

    @cached_property
    def parts(self) -> dict[tuple[str | None, str], Occurrence]:
        """The places at which directives give names, by the function that has them, if one has."""
        found: dict[tuple[str | None, str], Occurrence] = {}
        for item in self.occurrences:
            if item.role is Role.PART and item.name not in self.declared:
                is_function = _names_a_function(item)
                found.setdefault((None if is_function else item.function, item.name), item)
        for item in self.occurrences:
            # A directive that joins loops names the new one among the others.
            is_argument = item.role is Role.USE and item.directive is not None
            known = item.name in self.declared or (item.function, item.name) in found
            if is_argument and not known and self.source_of(item.name) is None:
                found.setdefault((None, item.name), item)
        return found

    def source_of(self, name: str) -> str | None:
        """Returns the declared name that a name is derived from: `x` of `x_outer`, `k` of `k_part`.

        None if it is not derived from any.
        """
        heads = (name[:at] for at in range(len(name) - 1, 0, -1) if name[at] == "_")
        return next((head for head in heads if head in self.declared), None)

    def origin(self, item: Occurrence) -> Occurrence | None:
        """Returns the place that gives a name: its declaration, or the directive that makes it."""
        if item.role not in PROGRAMS_OWN:
            return None
        key = self._key(item)
        if key[0] is None and key[1] in self.declared:
            return self.declared[key[1]]
        return self.parts.get(key)

    def definition(self, item: Occurrence) -> Occurrence | None:
        """Returns the place where a function is defined, or else that which gives a name."""
        if item.role in PROGRAMS_OWN:
            for other in self.occurrences:
                if other.role is Role.DEFINITION and other.name == item.name:
                    return other
        return self.origin(item)

    def same(self, item: Occurrence) -> list[Occurrence]:
        """Returns all places of what a name stands for, in the order of the text."""
        own = item.role in PROGRAMS_OWN
        return [
            other for other in self.occurrences
            if other.name == item.name and (
                other.role in PROGRAMS_OWN and self._key(other) == self._key(item)
                if own else other.role is item.role
            )
        ]  # fmt: skip

    def _key(self, item: Occurrence) -> tuple[str | None, str]:
        """Returns what a name stands for: a name of the program, or one that a function has."""
        own = (item.function, item.name)
        if item.name not in self.declared and item.function is not None and own in self.parts:
            return own
        return None, item.name


def _names_a_function(item: Occurrence) -> bool:
    """Returns whether a name that a directive gives is one of a function."""
    cls = find_directive(item.directive or "")
    return cls is not None and any(_gives_function(kind) for _, kind, _ in cls.parameters())


def _gives_function(kind: object) -> bool:
    return isinstance(kind, Name) and kind.what == "name"


def _occurrences(tokens: Sequence[Token]) -> Iterator[Occurrence]:
    """Yields the names of a statement."""
    if not tokens:
        return
    first = tokens[0]
    if first.type == "KIND":
        yield from _declaration(tokens[1:])
        return
    start = 0
    following = tokens[1].type if len(tokens) > 1 else ""
    if first.is_name and following == "EQUAL":
        yield Occurrence(Role.DECLARATION, first)
        start = 2
    elif first.is_name and following == "LSQB":
        yield Occurrence(Role.DEFINITION, first)
        start = 1
    yield from _values(tokens[start:])


def _declaration(tokens: Sequence[Token]) -> Iterator[Occurrence]:
    """Yields the names of a declaration, whose kind is left out."""
    depth, at = 0, 0
    while at < len(tokens):
        token = tokens[at]
        before = tokens[at - 1].type if at else "COMMA"
        if token.type == "EQUAL":
            end = _end_of_item(tokens, at)
            yield from _values(tokens[at + 1 : end])
            at = end
            continue
        depth += (token.type in ("LPAR", "LSQB")) - (token.type in ("RPAR", "RSQB"))
        if token.is_name and not depth:
            yield Occurrence(Role.TYPE if before == "COLON" else Role.DECLARATION, token)
        at += 1


def _end_of_item(tokens: Sequence[Token], at: int) -> int:
    """Returns the place of the comma behind an item of a declaration, or the end."""
    depth = 0
    for place in range(at, len(tokens)):
        token = tokens[place]
        depth += (token.type in ("LPAR", "LSQB")) - (token.type in ("RPAR", "RSQB"))
        if token.type == "COMMA" and depth <= 0:
            return place
    return len(tokens)


def _values(tokens: Sequence[Token]) -> Iterator[Occurrence]:
    """Yields the names of an expression, or of directives."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        following = tokens[at + 1].type if at + 1 < len(tokens) else ""
        if not token.is_name:
            at += 1
        elif following == "DOT":
            yield Occurrence(Role.USE, token)
            at += 2
            if at == len(tokens) or not tokens[at].is_name:
                continue
            name = tokens[at]
            yield Occurrence(Role.DIRECTIVE, name, token.text)
            at += 1
            if at < len(tokens) and tokens[at].type == "LPAR":
                end = _closed(tokens, at)
                yield from _arguments(tokens[at + 1 : end], token.text, name.text)
                at = end
        elif following == "LPAR":
            yield Occurrence(Role.CALL, token)
            if token.text == "cast":
                end = _closed(tokens, at + 1)
                yield from _cast(tokens[at + 2 : end])
                at = end
            else:
                at += 1
        else:
            yield Occurrence(Role.USE, token)
            at += 1


def _cast(tokens: Sequence[Token]) -> Iterator[Occurrence]:
    """Yields the names of the operands of a cast, of which the last is a type."""
    last = len(tokens) - 1
    if last > 0 and tokens[last].is_name and tokens[last - 1].type == "COMMA":
        yield from _values(tokens[:last])
        yield Occurrence(Role.TYPE, tokens[last])
    else:
        yield from _values(tokens)


def _closed(tokens: Sequence[Token], at: int) -> int:
    """Returns the place of the parenthesis that closes the one at a place, or the end."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].type == "LPAR") - (tokens[place].type == "RPAR")
        if not depth:
            return place
    return len(tokens)


def _arguments(
    tokens: Sequence[Token], function: str, directive: str
) -> Iterator[Occurrence]:
    """Yields the names in the arguments of a directive."""
    cls = find_directive(directive)
    words = words_of(cls)
    given = _given_names(tokens, cls)
    for at, token in enumerate(tokens):
        if not token.is_name:
            continue
        before = tokens[at - 1].type if at else "COMMA"
        following = tokens[at + 1].type if at + 1 < len(tokens) else ""
        if at in given or (before == "COLON" and following == "SLASH"):
            role = Role.PART
        elif token.text in (settings_of(cls) if following == "COLON" else words):
            role = Role.SETTING
        else:
            role = Role.USE
        yield Occurrence(role, token, function, directive)


def _given_names(tokens: Sequence[Token], cls: type[Directive] | None) -> set[int]:
    """Returns the places of bare arguments that give a function its name."""
    if cls is None:
        return set()
    kinds = [kind for _, kind, _ in cls.parameters() if not kind.has_key and not kind.is_named]
    bare = [
        at for at, token in enumerate(tokens)
        if token.is_name and (not at or tokens[at - 1].type == "COMMA")
        and (at + 1 == len(tokens) or tokens[at + 1].type == "COMMA")
    ]  # fmt: skip
    return {at for at, kind in zip(bare, kinds) if _gives_function(kind)}


def words_of(cls: type[Directive] | None) -> list[str]:
    """Returns the words that a directive takes as arguments."""
    if cls is None:
        return []
    kinds = [kind for _, kind, _ in cls.parameters()]
    found = [word for kind in kinds if isinstance(kind, Choice) for word in kind.words]
    return found + values_of(cls)


def values_of(cls: type[Directive]) -> list[str]:
    """Returns the words that stand behind a colon in the arguments of a directive."""
    kinds = [kind for _, kind, _ in cls.parameters()]
    found = [word for kind in kinds if isinstance(kind, NamedChoice) for word in kind.words]
    if any(isinstance(kind, NameList) and kind.splits for kind in kinds):
        found.append(DESCENDING)
    return found


def settings_of(cls: type[Directive] | None) -> list[str]:
    """Returns the names that stand in front of the settings of a directive."""
    if cls is None:
        return []
    return [kind.name for _, kind, _ in cls.parameters() if isinstance(kind, Setting | NamedChoice)]
