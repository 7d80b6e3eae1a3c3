"""A client of the language server, which talks to it through the protocol."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

COMMAND = ("-c", "from dt_mlir.tools.entry import dt_lsp; dt_lsp()")
"""What Python runs for `dt-lsp`."""


class Client:
    """A client and the server that it has started, on standard input and output.

    Args:
        options: the initialization options.
        snippets: whether the client takes snippets.
        encodings: the encodings of positions that it offers.
        command: the arguments of Python that start the server.
        formats: the formats of documentation that it takes, the one that it prefers first.
    """

    def __init__(
        self, options: Any = None, snippets: bool = True,
        encodings: Sequence[str] | None = None, command: Sequence[str] = COMMAND,
        formats: Sequence[types.MarkupKind] | None = None,
    ) -> None:
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.refreshed = 0
        self._changed = threading.Condition()
        self._changes = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = LanguageClient("test", "1")
        self._listen()
        self._run(self.client.start_io(sys.executable, *command))
        capabilities = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                completion=types.CompletionClientCapabilities(
                    completion_item=types.ClientCompletionItemOptions(
                        snippet_support=snippets, documentation_format=formats
                    )
                ),
                hover=types.HoverClientCapabilities(content_format=formats),
                signature_help=types.SignatureHelpClientCapabilities(
                    signature_information=types.ClientSignatureInformationOptions(
                        documentation_format=formats
                    )
                ),
                rename=types.RenameClientCapabilities(prepare_support=True),
            ),
            workspace=types.WorkspaceClientCapabilities(
                inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
            ),
            general=types.GeneralClientCapabilities(
                position_encodings=[types.PositionEncodingKind(e) for e in encodings]
            ) if encodings else None,
        )
        self.initialized = self.request(
            "initialize",
            types.InitializeParams(
                capabilities=capabilities, process_id=None, initialization_options=options
            ),
        )
        self.client.protocol.notify("initialized", types.InitializedParams())
        self.version = 0

    def _listen(self) -> None:
        @self.client.feature("textDocument/publishDiagnostics")
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.setdefault(params.uri, []).append(params)
            self._tell()

        @self.client.feature("window/showMessage")
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._tell()

        @self.client.feature("workspace/inlayHint/refresh")
        def refreshed(params: None) -> None:
            self.refreshed += 1

    def _tell(self) -> None:
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def _run(self, coroutine: Any, timeout: float = 60) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)

    def request(self, method: str, params: Any, timeout: float = 60) -> Any:
        """Returns the server's answer to a request."""

        async def ask() -> Any:
            return await self.client.protocol.send_request_async(method, params)

        return self._run(ask(), timeout)

    def notify(self, method: str, params: Any) -> None:
        """Tells the server something."""
        self._loop.call_soon_threadsafe(self.client.protocol.notify, method, params)

    def open(self, text: str, name: str = "p.dt", language: str = "dt") -> Document:
        """Opens a document."""
        document = Document(self, f"file:///{name}", text)
        item = types.TextDocumentItem(document.uri, language, self._next(), text)
        self.notify("textDocument/didOpen", types.DidOpenTextDocumentParams(item))
        document.version = self.version
        return document

    def _next(self) -> int:
        self.version += 1
        return self.version

    def wait(self, ready: Any, seconds: float = 60) -> Any:
        """Returns what a function returns, once that is true.

        The function may ask the server: nothing is locked while it runs, so that the thread that
        takes answers can take notifications before them.
        """
        end = time.monotonic() + seconds
        seen = self._changes
        while not (found := ready()):
            left = end - time.monotonic()
            assert left > 0, "the server has said nothing"
            with self._changed:
                if self._changes == seen:
                    self._changed.wait(min(left, 1))
                seen = self._changes
        return found

    def close(self) -> int:
        """Ends the server, and returns its exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        server = self.client._server
        status = self._run(server.wait(), 20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        return status


class Document:
    """A document that the client has opened."""

    def __init__(self, client: Client, uri: str, text: str) -> None:
        self.client, self.uri, self.text = client, uri, text
        self.version = 0

    @property
    def id(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def change(self, text: str) -> None:
        """Gives the document another text."""
        self.text = text
        self.version = self.client._next()
        self.client.notify(
            "textDocument/didChange",
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            ),
        )

    def close(self) -> None:
        """Closes the document."""
        self.client.notify("textDocument/didClose", types.DidCloseTextDocumentParams(self.id))

    def diagnostics(self, ready: Any = None) -> list[types.Diagnostic]:
        """Returns the diagnostics of the present version: the first, or those that are `ready`."""

        def found() -> Any:
            for item in reversed(self.client.published.get(self.uri, [])):
                if item.version == self.version and (ready is None or ready(item.diagnostics)):
                    return [item.diagnostics]
            return None

        return self.client.wait(found)[0]

    def position(self, mark: str, offset: int = 0, at: int = 0) -> types.Position:
        """Returns the place of the `at`th occurrence of a text, in UTF-16, moved by an offset."""
        index = -1
        for _ in range(at + 1):
            index = self.text.index(mark, index + 1)
        return self.place(index + offset)

    def place(self, index: int) -> types.Position:
        before = self.text[:index].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n")
        column = before[before.rfind("\n") + 1 :]
        return types.Position(line, len(column.encode("utf-16-le")) // 2)

    def ask(
        self, feature: str, mark: str | None = None, offset: int = 0, at: int = 0, **rest: Any
    ) -> Any:
        """Returns the answer to a request about the document, at the place of a text."""
        method = f"textDocument/{feature}"
        cls = types.METHOD_TO_TYPES[method][0].__annotations__["params"]
        cls = getattr(types, cls) if isinstance(cls, str) else cls
        place = {} if mark is None else {"position": self.position(mark, offset, at)}
        return self.client.request(method, cls(text_document=self.id, **place, **rest))

    def hover(self, mark: str, offset: int = 0, at: int = 0) -> str | None:
        """Returns the text of a hover."""
        found = self.ask("hover", mark, offset, at)
        return None if found is None else found.contents.value

    def labels(self, mark: str, offset: int | None = None, at: int = 0) -> list[str]:
        """Returns the labels of the completions behind a text."""
        offset = len(mark) if offset is None else offset
        return [item.label for item in self.ask("completion", mark, offset, at)]

    def actions(self, diagnostic: types.Diagnostic) -> dict[str, str]:
        """Returns the texts that the remedies of a diagnostic make, by their titles."""
        context = types.CodeActionContext([diagnostic])
        found = self.ask("codeAction", range=diagnostic.range, context=context)
        mine = [a for a in found if a.diagnostics[0].range == diagnostic.range]
        return {a.title: self.applied(a.edit.changes[self.uri]) for a in mine}

    def slice(self, range: types.Range) -> str:
        """Returns the part of the text in a range."""
        return self.text[self.index(range.start) : self.index(range.end)]

    def index(self, position: types.Position) -> int:
        """Returns a place as an index of the text."""
        lines = self.text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
        start = sum(len(line) + 1 for line in lines[: position.line])
        line = lines[position.line] if position.line < len(lines) else ""
        units = line.encode("utf-16-le")[: position.character * 2]
        return start + len(units.decode("utf-16-le", "replace"))

    def applied(self, edits: Sequence[types.TextEdit]) -> str:
        """Returns the text with changes."""
        text = self.text
        for edit in sorted(edits, key=lambda e: self.index(e.range.start), reverse=True):
            start, end = self.index(edit.range.start), self.index(edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
        return text
