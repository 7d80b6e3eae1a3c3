"""Code actions: the remedies that the compiler's hints name, as changes of the text.

A hint is a sentence for people. Those that say a change in full follow a few forms, each of which
is read here in one place; a hint of another form has no action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsprotocol.types import CodeAction, CodeActionKind, Range, TextEdit, WorkspaceEdit

from dt_mlir.editor.diagnostics import diagnostic_of
from dt_mlir.editor.problems import Problem
from dt_mlir.editor.program import Program
from dt_mlir.editor.statements import Statement
from dt_mlir.editor.tokens import Token

_OPERATOR_CHARACTERS = frozenset("!&|=<>@?")


class _Change(NamedTuple):
    """A change of the text between two indices."""

    title: str
    start: int
    end: int
    text: str


def code_actions(program: Program, wanted: Range) -> list[CodeAction]:
    """Returns the remedies of the problems in a range."""
    found: list[CodeAction] = []
    for problem in program.known_problems:
        diagnostic = diagnostic_of(program, problem)
        if not _overlap(diagnostic.range, wanted):
            continue
        changes = list(_Remedies(program, problem).changes())
        for change in changes:
            edit = TextEdit(
                program.text.range(change.start, change.end), program.text.in_document(change.text)
            )
            found.append(
                CodeAction(
                    change.title, CodeActionKind.QuickFix, [diagnostic],
                    is_preferred=len(changes) == 1,
                    edit=WorkspaceEdit({program.uri: [edit]}),
                )
            )  # fmt: skip
    return found


def _overlap(a: Range, b: Range) -> bool:
    return not (
        (a.end.line, a.end.character) < (b.start.line, b.start.character)
        or (b.end.line, b.end.character) < (a.start.line, a.start.character)
    )


def _without(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int] | None:
    """Returns the extent of an item of a list with its comma; None if it is the only one."""
    if last + 1 < len(tokens) and tokens[last + 1].type == "COMMA" and last + 2 < len(tokens):
        return tokens[first].start, tokens[last + 2].start
    if first and tokens[first - 1].type == "COMMA":
        return tokens[first - 1].start, tokens[last].end
    return None


class _Remedies:
    """The remedies of one problem."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.problem = problem
        self.hint = problem.hint or ""
        place = problem.place or (1, 1)
        self.index = program.index_of(place)
        self.token = program.token_at(self.index)
        self.statement = program.statements.at(self.index)

    def changes(self) -> Iterator[_Change]:
        """Yields the changes that the hint says in full."""
        yield from self._added()
        yield from self._replaced()
        yield from self._written()
        yield from self._dropped()

    # did you mean 'x'?   use one of x, y   it has loops over x, y   there are f64, f32

    def _replaced(self) -> Iterator[_Change]:
        meant = re.search(r"did you mean '(\w+)'\?", self.hint)
        others = re.search(
            r"(?:use one of|has loops over|there are(?: loops over)?|has the labels|'\w+' has) "
            r"(\w+(?:, \w+)*)$",
            self.hint,
        )
        names = [meant[1]] if meant else others[1].split(", ") if others else []
        wrong = self._named()
        for name in names if wrong is not None else ():
            assert wrong is not None
            title = f"Replace '{wrong.text}' by '{name}'"
            yield _Change(title, wrong.start, wrong.end, name)

    def _named(self) -> Token | None:
        """Returns the token that the message quotes: at its place, or else in its statement."""
        quoted = re.findall(r"'(\w+)'", self.problem.message)
        if self.token is not None and self.token.text in quoted:
            return self.token
        tokens = self._tokens()
        # The first words of a message about a directive are the directive itself.
        found = [t for text in quoted for t in tokens if t.text == text and t.start > self.index]
        return found[0] if found else None

    def _tokens(self) -> Sequence[Token]:
        return () if self.statement is None else self.statement.tokens

    # add 'Var x;'   end the program with '….compile();'

    def _added(self) -> Iterator[_Change]:
        for text in re.findall(r"add '([^'…]+;)'", self.hint):
            at = self._behind_declarations()
            line = f"\n{text}" if at else f"{text}\n"
            yield _Change(f"Add '{text}'", at, at, line)
        for call in re.findall(r"with '…(\.\w+\(\);)'", self.hint):
            if self.token is not None and self.token.is_name:
                source = self.program.text.text
                end = len(source.rstrip())
                text = f"{self.token.text}{call}"
                yield _Change(f"Add '{text}'", end, len(source), f"\n{text}\n")

    def _behind_declarations(self) -> int:
        """Returns the end of the line of the last declaration; 0 if there is none."""
        items = self.program.statements.statements
        declared = [item for item in items if item.tokens[0].type == "KIND"]
        if not declared:
            return 0
        source = self.program.text.text
        end = source.find("\n", declared[-1].end)
        return len(source) if end < 0 else end

    # write 'and'   write 'f[x, y]'   write 'f.block(…)'   write 'x:…'   write 2 or 4   write inf

    def _written(self) -> Iterator[_Change]:
        token = self.token
        for text in re.findall(r"\bwrite '([^']+)'", self.hint):
            call = re.fullmatch(r"(\w+)\.(\w+)\(…\)", text)
            if token is None:
                return
            if call is not None:
                yield from self._call(call[1], call[2])
            elif re.fullmatch(r"\w+:…", text) and token.type == "EQUAL":
                yield _Change("Replace '=' by ':'", token.start, token.end, ":")
            elif "…" in text:
                continue
            elif text.startswith(f"{token.text}["):
                end = self._behind_brackets(token)
                yield _Change(f"Write '{text}'", token.start, end, text)
            elif token.text[0] in _OPERATOR_CHARACTERS:
                yield self._operator(text)
        numbers = re.search(r"\bwrite (\d+(?: or \d+)*|inf)(?:$|[;,])", self.hint)
        if numbers is not None:
            yield from self._numbers(numbers[1].split(" or "))

    def _call(self, function: str, directive: str) -> Iterator[_Change]:
        """Yields the change that applies a directive to another function."""
        tokens = self._tokens()
        for first, dot, name in zip(tokens, tokens[1:], tokens[2:]):
            if dot.type == "DOT" and name.text == directive and self.index in (
                first.start, name.start
            ):
                title = f"Write '{function}.{directive}'"
                yield _Change(title, first.start, first.end, function)

    def _behind_brackets(self, token: Token) -> int:
        """Returns the end of the indices that follow a name, or of the name."""
        tokens = [t for t in self._tokens() if t.start >= token.end]
        if not tokens or tokens[0].type != "LSQB":
            return token.end
        depth = 0
        for other in tokens:
            depth += (other.type == "LSQB") - (other.type == "RSQB")
            if not depth:
                return other.end
        return token.end

    def _operator(self, text: str) -> _Change:
        """Returns the change that puts an operator in the place of the characters of another."""
        source, start, end = self.program.text.text, self.index, self.index
        while start and source[start - 1] in _OPERATOR_CHARACTERS:
            start -= 1
        while end < len(source) and source[end] in _OPERATOR_CHARACTERS:
            end += 1
        shown, found = text, source[start:end]
        if text.isalpha():
            before = "" if start and source[start - 1].isspace() else " "
            behind = "" if end < len(source) and source[end].isspace() else " "
            shown = f"{before}{text}{behind}"
        return _Change(f"Replace '{found}' by '{text}'", start, end, shown)

    def _numbers(self, numbers: Sequence[str]) -> Iterator[_Change]:
        wrong = re.search(r"(?:^|: )(\d+) is", self.problem.message)
        tokens = [t for t in self._tokens() if t.type == "INT" and wrong and t.text == wrong[1]]
        if self.token is not None and self.token.type in ("INT", "FLOAT"):
            tokens = [self.token]
        for number in numbers if len(tokens) == 1 else ():
            title = f"Replace '{tokens[0].text}' by '{number}'"
            yield _Change(title, tokens[0].start, tokens[0].end, number)

    # … or drop the declaration   leave one of them out   leave out f.online(k)   leave out x:16

    def _dropped(self) -> Iterator[_Change]:
        item, hint = self.statement, self.hint
        if item is None:
            return
        named = re.search(r"^'(\w+)\.(\w+)' [^:]*: leave it out", hint)
        named = named or re.search(r"leave out '?(\w+)\.(\w+)", hint)
        own = re.match(r"(\w+)\.(\w+): ", self.problem.message)
        argument = re.search(r"leave out (?:(\w+:\d+)|'(\w+)'(?!\.))", hint)
        if named is not None:
            yield from self._removed(named[1], named[2])
        elif argument is not None:
            yield from self._argument_removed(item, argument[1] or argument[2])
        elif re.search(r"leave it out", hint):
            quoted = re.findall(r"'(\w+)'", self.problem.message)
            words = [t.text for t in item.tokens if t.text in quoted and t.start > self.index]
            if words:
                yield from self._argument_removed(item, words[0])
            elif own is not None:
                yield from self._removed(own[1], own[2])
        elif own is not None and re.search(rf"leave {own[2]} out", hint):
            yield from self._removed(own[1], own[2])
        elif item.tokens[0].type == "KIND" and "drop the declaration" in hint:
            yield from self._name_removed(item)
        elif re.search(r"leave one of them out|leave out one of the two|drop it", hint):
            yield self._statement_removed(item)

    def _removed(self, function: str, directive: str) -> Iterator[_Change]:
        """Yields the changes that remove the directives of a name from a function."""
        for item in self.program.statements.statements:
            calls = item.tree.all_directives()
            if len(calls) == 1 and (calls[0].function, calls[0].name) == (function, directive):
                yield self._statement_removed(item)

    def _statement_removed(self, item: Statement) -> _Change:
        return _Change(f"Remove '{self.program.shown(item)}'", *self._lines(item), "")

    def _argument_removed(self, item: Statement, argument: str) -> Iterator[_Change]:
        """Yields the change that removes an argument of a directive: `atomic`, `x:16`."""
        tokens = [t for t in item.tokens if t.start > self.index]
        words = re.findall(r"\w+|:", argument)
        for at in range(len(tokens) - len(words)):
            found = tokens[at : at + len(words)]
            if [t.text for t in found] == words and tokens[at + len(words)].text in (",", ")"):
                extent = _without(tokens, at, at + len(words) - 1)
                if extent is not None:
                    yield _Change(f"Leave out '{argument}'", *extent, "")

    def _name_removed(self, item: Statement) -> Iterator[_Change]:
        """Yields the change that takes a name out of its declaration."""
        tokens = [t for t in item.tokens if t.type != "SEMICOLON"]
        if self.token is None or self.token not in tokens:
            return
        at = tokens.index(self.token)
        commas = [i for i, t in enumerate(tokens) if t.type == "COMMA" and i > at]
        last = commas[0] - 1 if commas else len(tokens) - 1
        extent = _without(tokens, at, last) or self._lines(item)
        yield _Change(f"Drop the declaration of '{self.token.text}'", *extent, "")

    def _lines(self, item: Statement) -> tuple[int, int]:
        """Returns the extent of a statement, with its whole lines if nothing else is on them."""
        source = self.program.text.text
        start = source.rfind("\n", 0, item.start) + 1
        end = source.find("\n", item.end)
        end = len(source) if end < 0 else end + 1
        alone = not source[start : item.start].strip() and not source[item.end : end].strip()
        return (start, end) if alone else (item.start, item.end)
