"""The language server: documents, and the features that are registered with the protocol."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.workspace.position_codec import PositionCodec

import dt_mlir
from dt_mlir.compiling import DEEPEST
from dt_mlir.diagnostics import CompileError
from dt_mlir.editor import completion, signature_help
from dt_mlir.editor.checking import DeepChecks
from dt_mlir.editor.code_actions import code_actions
from dt_mlir.editor.deep_check import Costs
from dt_mlir.editor.diagnostics import diagnostics
from dt_mlir.editor.folding import folding_ranges
from dt_mlir.editor.formatting import formatting
from dt_mlir.editor.hover import hover
from dt_mlir.editor.inlay_hints import inlay_hints
from dt_mlir.editor.markup import in_format
from dt_mlir.editor.navigation import (
    RenameError,
    declaration,
    definition,
    highlights,
    prepare_rename,
    references,
    rename,
)
from dt_mlir.editor.operations import hover_in_module, known_names, learn
from dt_mlir.editor.outline import outline
from dt_mlir.editor.problems import Problem
from dt_mlir.editor.program import Program, forget_refusals
from dt_mlir.editor.reference import directives, functions
from dt_mlir.editor.selection import selection_ranges
from dt_mlir.editor.semantic_tokens import LEGEND, semantic_tokens
from dt_mlir.editor.settings import SECTION, Settings
from dt_mlir.editor.texts import Text
from dt_mlir.loading import load_file

PAUSE = 0.08
"""The seconds without a change after which a program is checked."""
LONG_PAUSE = 0.3
"""The seconds after that, after which it is compiled to its end."""
REQUEST_FAILED = -32803
"""The protocol's code of a request that is right but cannot be carried out."""


class DtServer(LanguageServer):
    """The server.

    Args:
        pause: the seconds without a change after which a program is checked.
        long_pause: the seconds after which it is compiled to its end.
    """

    def __init__(self, pause: float = PAUSE, long_pause: float = LONG_PAUSE) -> None:
        # Whole texts: the places of changes would count lines as the protocol's library does.
        super().__init__(
            "dt-lsp", dt_mlir.__version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
        )  # fmt: skip
        self.pause, self.long_pause = pause, long_pause
        self.programs: dict[str, Program] = {}
        self.modules: dict[str, Text] = {}
        self.settings = Settings()
        self.options: Any = None
        self._checks: DeepChecks | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        sys.setrecursionlimit(DEEPEST)

    # Documents

    def take(self, uri: str, source: str, version: int | None, language: str | None) -> None:
        """Takes a document's text, as it is opened or changed."""
        text = Text(source, self.workspace.position_codec)
        if uri in self.modules or language == "mlir" or uri.endswith(".mlir"):
            self.modules[uri] = text
            return
        self.programs[uri] = Program(uri, text, version, self.programs.get(uri))
        if self._checks is not None:
            self._checks.cancel(uri)
        self._after(uri, self.pause, self._check)

    def drop(self, uri: str) -> None:
        """Forgets a document that is closed, and its diagnostics."""
        self.modules.pop(uri, None)
        if self.programs.pop(uri, None) is not None:
            self._after(uri, 0, lambda _: None)
            if self._checks is not None:
                self._checks.cancel(uri)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _after(self, uri: str, seconds: float, action: Callable[[Program], None]) -> None:
        """Calls a function with a program after a pause, unless something else is to come first."""
        earlier = self._timers.pop(uri, None)
        if earlier is not None:
            earlier.cancel()

        def act() -> None:
            program = self.programs.get(uri)
            if program is not None:
                action(program)

        self._timers[uri] = asyncio.get_running_loop().call_later(seconds, act)

    def _check(self, program: Program) -> None:
        """Checks a program in steps; between them other requests are answered."""
        steps = (lambda: program.checked, lambda: program.facts, lambda: program.problems)

        def take(number: int) -> None:
            steps[number]()
            following = number + 1
            if following < len(steps):
                self._after(program.uri, 0, lambda _: take(following))
            else:
                self._after(program.uri, 0, self._show)

        take(0)

    def _show(self, program: Program) -> None:
        """Shows what is wrong with a program, and lets it be compiled to its end."""
        self._publish(program)
        broken = any(not item.is_warning for item in program.problems)
        action = _collect if broken else self._compile
        self._after(program.uri, self.long_pause, action)

    def _publish(self, program: Program) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(program.uri, diagnostics(program), program.version)
        )
        self._refresh_hints()

    def _refresh_hints(self) -> None:
        workspace = self.client_capabilities.workspace
        supported = None if workspace is None else workspace.inlay_hint
        if supported is not None and supported.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _compile(self, program: Program) -> None:
        """Compiles a program in the process for that, while nobody types."""
        # The collector would stop answers; `dt-lsp` keeps it from running by itself.
        gc.collect()
        if self._checks is None:
            self._checks = DeepChecks(self.settings)
        checks, text = self._checks, program.text.text

        def priced(costs: Costs | None) -> None:
            program.costs = costs or program.costs

        def compiled(problems: list[Problem]) -> None:
            program.keep(problems)
            self._publish(program)
            if not any(not item.is_warning for item in problems):
                checks.predict(program.uri, text, priced)

        checks.compile(program.uri, text, compiled)

    # Settings

    def configure(self, options: Any) -> None:
        """Takes the client's settings; says what is wrong with them."""
        settings, wrong = Settings.of(options)
        root = self.workspace.root_path
        load = tuple(str(Path(root or ".") / file) for file in settings.load)
        for path in load:
            try:
                learn(load_file(path)[1])
            except CompileError as error:
                wrong.append(str(error))
        for message in wrong:
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"dt-lsp: {message}")
            )
        forget_refusals()
        self.settings = Settings(settings.sizes, settings.device, load)
        self.close()
        for program in self.programs.values():
            self._after(program.uri, self.pause, self._check)

    def close(self) -> None:
        """Ends the process that compiles programs."""
        if self._checks is not None:
            self._checks.close()
            self._checks = None


def warm_up() -> None:
    """Loads what the first answers need: the grammar's tables, directives, functions, dialects."""
    text = Text("Func f; In A; Var x; f[x] = exp(A[x]); f.compile();", PositionCodec())
    program = Program("", text, None)
    diagnostics(program)
    semantic_tokens(program)
    for entries in (directives(), functions()):
        list(entries)
    known_names()


def _collect(_: Program) -> None:
    gc.collect()


def make_server(pause: float = PAUSE, long_pause: float = LONG_PAUSE) -> DtServer:
    """Returns a server with all features; arguments as for `DtServer`."""
    server = DtServer(pause, long_pause)
    _add_documents(server)
    _add_queries(server)
    _add_names(server)
    _add_edits(server)
    return server


def _program(server: DtServer, document: types.TextDocumentIdentifier) -> Program | None:
    """Returns a program that is open; a module is none."""
    return server.programs.get(document.uri)


def _add_documents(server: DtServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.options = params.initialization_options

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        server.configure(server.options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        # Some clients tell all that they have, which may be nothing.
        if isinstance(params.settings, Mapping) and SECTION in params.settings:
            server.configure(params.settings)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        server.programs.pop(item.uri, None)
        server.take(item.uri, item.text, item.version, item.language_id)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        source = server.workspace.get_text_document(item.uri).source
        server.take(item.uri, source, item.version, None)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.drop(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def shut_down(params: None) -> None:
        server.close()


def _add_queries(server: DtServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        module = server.modules.get(params.text_document.uri)
        program = _program(server, params.text_document)
        if module is not None:
            found = hover_in_module(module, params.position)
        else:
            found = None if program is None else hover(program, params.position)
        if found is not None and isinstance(found.contents, types.MarkupContent):
            formats = _capability(server, "hover", "content_format")
            found.contents = in_format(found.contents, formats)
        return found

    options = types.CompletionOptions(list(completion.TRIGGERS), resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    def completed(params: types.CompletionParams) -> list[types.CompletionItem]:
        program = _program(server, params.text_document)
        if program is None:
            return []
        snippets = bool(_capability(server, "completion", "completion_item", "snippet_support"))
        found = completion.completion(program, params.position, snippets)
        return [_documented(server, item) for item in found]

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolved(item: types.CompletionItem) -> types.CompletionItem:
        return _documented(server, completion.resolve(item))

    signatures = types.SignatureHelpOptions(list(signature_help.TRIGGERS))

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, signatures)
    def signed(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        program = _program(server, params.text_document)
        if program is None:
            return None
        found = signature_help.signature_help(program, params.position)
        formats = _capability(
            server, "signature_help", "signature_information", "documentation_format"
        )
        for item in [] if found is None else found.signatures:
            if isinstance(item.documentation, types.MarkupContent):
                item.documentation = in_format(item.documentation, formats)
        return found

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: types.InlayHintParams) -> list[types.InlayHint]:
        program = _program(server, params.text_document)
        return [] if program is None else inlay_hints(program, params.range)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        program = _program(server, params.text_document)
        return [] if program is None else folding_ranges(program)

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    def selected(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        program = _program(server, params.text_document)
        return None if program is None else selection_ranges(program, list(params.positions))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens:
        program = _program(server, params.text_document)
        return types.SemanticTokens([]) if program is None else semantic_tokens(program)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        program = _program(server, params.text_document)
        return [] if program is None else outline(program)


def _capability(server: DtServer, *names: str) -> Any:
    """Returns a capability of the client for documents; None if it says nothing about it."""
    found: Any = server.client_capabilities.text_document
    for name in names:
        found = None if found is None else getattr(found, name)
    return found


def _documented(server: DtServer, item: types.CompletionItem) -> types.CompletionItem:
    """Returns a completion with its documentation in the client's format."""
    if isinstance(item.documentation, types.MarkupContent):
        formats = _capability(server, "completion", "completion_item", "documentation_format")
        item.documentation = in_format(item.documentation, formats)
    return item


def _add_names(server: DtServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(params: types.DefinitionParams) -> types.Location | None:
        program = _program(server, params.text_document)
        return None if program is None else definition(program, params.position)

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    def declared(params: types.DeclarationParams) -> types.Location | None:
        program = _program(server, params.text_document)
        return None if program is None else declaration(program, params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def referred(params: types.ReferenceParams) -> list[types.Location]:
        program = _program(server, params.text_document)
        if program is None:
            return []
        return references(program, params.position, params.context.include_declaration)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        program = _program(server, params.text_document)
        return [] if program is None else highlights(program, params.position)


def _add_edits(server: DtServer) -> None:
    renaming = types.RenameOptions(prepare_provider=True)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        program = _program(server, params.text_document)
        try:
            return None if program is None else prepare_rename(program, params.position)
        except RenameError as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None

    @server.feature(types.TEXT_DOCUMENT_RENAME, renaming)
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        program = _program(server, params.text_document)
        try:
            if program is None:
                return None
            return rename(program, params.position, params.new_name)
        except RenameError as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        program = _program(server, params.text_document)
        return None if program is None else formatting(program)

    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def acted(params: types.CodeActionParams) -> list[types.CodeAction]:
        program = _program(server, params.text_document)
        wanted = params.context.only
        if program is None or (wanted and not _includes_quick_fixes(wanted)):
            return []
        return code_actions(program, params.range)


def _includes_quick_fixes(wanted: Any) -> bool:
    return any(str(getattr(kind, "value", kind)) in ("", "quickfix") for kind in wanted)
