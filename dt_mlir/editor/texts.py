"""Places in a document: the compiler's lines and columns, the protocol's, and indices."""

from __future__ import annotations

import bisect

from lsprotocol.types import Position, Range
from pygls.workspace.position_codec import PositionCodec

from dt_mlir.editor.tokens import Token

BYTE_ORDER_MARK = "\ufeff"


class Text:
    """A document's text.

    The compiler counts characters; clients count code units of UTF-16, unless they agree with the
    server on others. Both end lines at a line feed, a carriage return, or both.

    Args:
        source: the document.
        codec: the code units in which the client counts.
    """

    def __init__(self, source: str, codec: PositionCodec) -> None:
        self.newline = "\r\n" if "\r\n" in source else "\n"
        """The end of the document's lines."""
        text = source.replace("\r\n", "\n").replace("\r", "\n")
        if text.startswith(BYTE_ORDER_MARK):
            text = " " + text[1:]
        self.text = text
        """The text as the compiler reads it: lines end in a line feed."""
        self._codec = codec
        self._counted: dict[int, bool] = {}
        self._starts = [0]
        for number, character in enumerate(text):
            if character == "\n":
                self._starts.append(number + 1)

    def line(self, number: int) -> str:
        """Returns a line, counted from 0, without its end; the empty text beyond the last."""
        if not 0 <= number < len(self._starts):
            return ""
        following = number + 1
        end = self._starts[following] - 1 if following < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end]

    def line_at(self, index: int) -> int:
        """Returns the number of the line, from 0, that an index lies in."""
        return bisect.bisect_right(self._starts, index) - 1

    def index_of(self, line: int, column: int) -> int:
        """Returns the index of a place of the compiler's, whose line and column count from 1."""
        number = min(max(line, 1), len(self._starts)) - 1
        return min(self._starts[number] + max(column, 1) - 1, len(self.text))

    def position(self, index: int) -> Position:
        """Returns an index as a place of the protocol."""
        index = min(max(index, 0), len(self.text))
        line = self.line_at(index)
        column = index - self._starts[line]
        if not self._counts_characters(line):
            column = self._codec.client_num_units(self.text[self._starts[line] : index])
        return Position(line, column)

    def _counts_characters(self, number: int) -> bool:
        """Returns whether each character of a line is one code unit."""
        if number not in self._counted:
            line = self.line(number)
            one_each = line.isascii() or self._codec.client_num_units(line) == len(line)
            self._counted[number] = one_each
        return self._counted[number]

    def units(self, token: Token) -> int:
        """Returns the number of code units of a token, which lies in one line."""
        length = len(token.text)
        return length if token.text.isascii() else self._codec.client_num_units(token.text)

    def range(self, start: int, end: int) -> Range:
        """Returns the characters from an index to the one in front of another as a range."""
        return Range(self.position(start), self.position(end))

    def index(self, position: Position) -> int:
        """Returns a place of the protocol as an index; one beyond a line's end is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line)
        if self._counts_characters(position.line):
            return self._starts[position.line] + min(position.character, len(line))
        units = 0
        for number, character in enumerate(line):
            width = self._codec.client_num_units(character)
            if units + width > position.character:
                return self._starts[position.line] + number
            units += width
        return self._starts[position.line] + len(line)

    def in_document(self, text: str) -> str:
        """Returns a text for the document, whose lines end as its own do."""
        return text.replace("\n", self.newline)
