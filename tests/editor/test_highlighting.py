"""Colours: the lexer of Pygments, the grammar of TextMate, the extension of VS Code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

import onigurumacffi
import pytest
from editor_texts import ROOT, all_texts
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    Token,
    Whitespace,
)

from dt_mlir.editor.pygments_lexer import DtLexer
from dt_mlir.editor.textmate import grammar_text
from dt_mlir.editor.tokens import COMMENT, scan
from dt_mlir.elementwise import FUNCTIONS

EXTENSION = ROOT / "editors" / "vscode"
PROGRAM = "Func f : f16; In A;  # two\nVar x;\nf[x] = where(not A[x] >= 1.5, pi, mine(x))\nf.block(x:4); C = f.map(x) | none;\n"


def test_the_lexer() -> None:
    found = [item for item in DtLexer().get_tokens(PROGRAM) if item[0] not in (Whitespace, Token.Text)]
    assert found == [
        (Keyword.Declaration, "Func"), (Name, "f"), (Punctuation, ":"), (Keyword.Type, "f16"),
        (Punctuation, ";"), (Keyword.Declaration, "In"), (Name, "A"), (Punctuation, ";"),
        (Comment.Single, "# two"), (Keyword.Declaration, "Var"), (Name, "x"), (Punctuation, ";"),
        (Name.Function, "f"), (Punctuation, "["), (Name, "x"), (Punctuation, "]"), (Operator, "="),
        (Name.Builtin, "where"), (Punctuation, "("), (Operator.Word, "not"), (Name.Variable, "A"),
        (Punctuation, "["), (Name, "x"), (Punctuation, "]"), (Operator, ">="),
        (Number.Float, "1.5"), (Punctuation, ","), (Keyword.Constant, "pi"), (Punctuation, ","),
        (Name.Function, "mine"), (Punctuation, "("), (Name, "x"), (Punctuation, ")"),
        (Punctuation, ")"), (Name.Function, "f"), (Punctuation, "."), (Name.Decorator, "block"),
        (Punctuation, "("), (Name, "x"), (Punctuation, ":"), (Number.Integer, "4"),
        (Punctuation, ")"), (Punctuation, ";"), (Name, "C"), (Operator, "="), (Name.Function, "f"),
        (Punctuation, "."), (Name.Decorator, "map"), (Punctuation, "("), (Name, "x"),
        (Punctuation, ")"), (Operator, "|"), (Keyword.Constant, "none"), (Punctuation, ";"),
    ]  # fmt: skip


def test_the_lexer_on_all_programs() -> None:
    lexer = DtLexer()
    for text in all_texts().values():
        found = list(lexer.get_tokens_unprocessed(text))
        assert "".join(piece for _, _, piece in found) == text
        assert all(text.startswith(piece, start) for start, _, piece in found)
        unknown = [token.text for token in scan(text) if token.type == "UNKNOWN"]
        assert [piece for _, kind, piece in found if kind is Error] == unknown


def test_the_lexer_is_registered() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pygments.lexers"] == {
        "dt": "dt_mlir.editor.pygments_lexer:DtLexer"
    }


def test_pygments_finds_the_lexer(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pygments finds it by its name and by that of a file, where the package is installed."""
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename

    info = tmp_path / "dt_mlir_lexer-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dt-mlir-lexer\nVersion: 1\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["pygments.lexers"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[pygments.lexers]", *lines]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert isinstance(get_lexer_by_name("dt"), DtLexer)
    assert isinstance(get_lexer_for_filename("matmul.dt"), DtLexer)


# The grammar, with the engine of regular expressions that VS Code has


def coloured(text: str) -> Iterator[tuple[str, str]]:
    """Yields pieces of a text with the scopes that the grammar's patterns give them.

    The grammar is a list of patterns that each match within a line: the first one that matches
    earliest is taken, as TextMate does.
    """
    patterns = json.loads((EXTENSION / "syntaxes" / "dt.tmLanguage.json").read_text())["patterns"]
    compiled = [(onigurumacffi.compile(item["match"]), item) for item in patterns]
    for line in text.splitlines(keepends=True):
        at = 0
        while at < len(line):
            matches = [(m.start(), n) for n, (p, _) in enumerate(compiled) if (m := p.search(line, at))]
            if not matches:
                break
            start, number = min(matches)
            pattern, item = compiled[number]
            found = pattern.search(line, at)
            assert found.end() > found.start()
            if "name" in item:
                yield found.group(), item["name"]
            for group, capture in item.get("captures", {}).items():
                yield found.group(int(group)), capture["name"]
            at = found.end()


def test_the_grammar_is_written_from_the_definitions() -> None:
    written = (EXTENSION / "syntaxes" / "dt.tmLanguage.json").read_text(encoding="utf-8")
    assert written == grammar_text()
    assert all(name in written for name in FUNCTIONS)


def test_the_grammar() -> None:
    assert list(coloured(PROGRAM)) == [
        ("Func", "storage.type.dt"), ("f", "variable.parameter.dt"),
        (":", "punctuation.separator.type.dt"), ("f16", "support.type.dt"),
        (";", "punctuation.separator.dt"), ("In", "storage.type.dt"), ("A", "variable.other.dt"),
        (";", "punctuation.separator.dt"), ("# two", "comment.line.number-sign.dt"),
        ("Var", "storage.type.dt"), ("x", "variable.other.dt"), (";", "punctuation.separator.dt"),
        ("f", "entity.name.function.dt"), ("[", "punctuation.bracket.dt"),
        ("x", "variable.other.dt"), ("]", "punctuation.bracket.dt"),
        ("=", "keyword.operator.assignment.dt"), ("where", "support.function.builtin.dt"),
        ("(", "punctuation.bracket.dt"), ("not", "keyword.operator.word.dt"),
        ("A", "variable.other.tensor.dt"), ("[", "punctuation.bracket.dt"),
        ("x", "variable.other.dt"), ("]", "punctuation.bracket.dt"), (">=", "keyword.operator.dt"),
        ("1.5", "constant.numeric.dt"), (",", "punctuation.separator.dt"),
        ("pi", "constant.language.dt"), (",", "punctuation.separator.dt"),
        ("mine", "support.function.other.dt"), ("(", "punctuation.bracket.dt"),
        ("x", "variable.other.dt"), (")", "punctuation.bracket.dt"), (")", "punctuation.bracket.dt"),
        ("f", "entity.name.function.dt"), (".", "punctuation.accessor.dt"),
        ("block", "support.function.directive.dt"), ("(", "punctuation.bracket.dt"),
        ("x", "variable.parameter.dt"), (":", "punctuation.separator.dt"),
        ("4", "constant.numeric.dt"), (")", "punctuation.bracket.dt"),
        (";", "punctuation.separator.dt"), ("C", "variable.other.dt"),
        ("=", "keyword.operator.assignment.dt"), ("f", "entity.name.function.dt"),
        (".", "punctuation.accessor.dt"), ("map", "support.function.directive.dt"),
        ("(", "punctuation.bracket.dt"), ("x", "variable.other.dt"), (")", "punctuation.bracket.dt"),
        ("|", "keyword.operator.dt"), ("none", "constant.language.dt"),
        (";", "punctuation.separator.dt"),
    ]  # fmt: skip


def test_the_grammar_has_the_tokens_of_the_compiler() -> None:
    """Every token of every example is one piece, and of the kind that the compiler says."""
    scopes = {
        "KIND": "storage.type", "AND": "keyword.operator.word", "OR": "keyword.operator.word",
        "NOT": "keyword.operator.word", COMMENT: "comment", "INT": "constant.numeric",
        "FLOAT": "constant.numeric", "COMPARE": "keyword.operator", "EQUAL": "keyword.operator",
    }  # fmt: skip
    for name, text in all_texts().items():
        if name.startswith("examples") and "plugin" not in name:
            found = list(coloured(text))
            tokens = scan(text)
            assert [piece for piece, _ in found] == [token.text for token in tokens], name
            for (_, scope), token in zip(found, tokens):
                assert scope.startswith(scopes.get(token.type, "")), (name, token)


# The extension


def test_the_extension() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    contributed = package["contributes"]
    (language, _) = contributed["languages"]
    (grammar,) = contributed["grammars"]
    assert (language["id"], language["extensions"]) == ("dt", [".dt"])
    assert grammar["scopeName"] == json.loads(grammar_text())["scopeName"]
    for file in (package["main"], language["configuration"], grammar["path"], "README.md", "LICENSE"):
        assert (EXTENSION / file).is_file()
    configuration = json.loads((EXTENSION / language["configuration"]).read_text())
    assert configuration["comments"]["lineComment"] == "#"
    names = {key.partition(".")[2] for key in contributed["configuration"]["properties"]}
    assert names == {"server.command", "sizes", "device", "load"}
    source = (EXTENSION / package["main"]).read_text()
    assert set(re.findall(r"const \{ (.*) \} = vscode.workspace", source)) == {"sizes, device, load"}
    assert contributed["configuration"]["properties"]["dt.server.command"]["default"] == ["dt-lsp"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_the_extension_starts_the_server(tmp_path: Any) -> None:
    """Runs the extension in Node.js, with stand-ins for what VS Code gives it."""
    (tmp_path / "run.js").write_text(
        "const Module = require('module'); const said = [];\n"
        "const settings = { server: { command: ['dt-lsp', '--stdio'] }, sizes: { x: 8 },\n"
        "  device: null, load: [] };\n"
        "const commands = {}; let changed;\n"
        "class LanguageClient {\n"
        "  constructor(...given) { said.push(['made', ...given]); }\n"
        "  async start() { said.push(['started']); }\n"
        "  async stop() { said.push(['stopped']); }\n"
        "  async sendNotification(...given) { said.push(given); }\n"
        "}\n"
        "const vscode = {\n"
        "  workspace: { getConfiguration: () => settings,\n"
        "    onDidChangeConfiguration: (f) => { changed = f; } },\n"
        "  commands: { registerCommand: (name, f) => { commands[name] = f; } },\n"
        "};\n"
        "const known = { vscode, 'vscode-languageclient/node': { LanguageClient } };\n"
        "const load = Module._load;\n"
        "Module._load = (name, ...rest) => known[name] ?? load(name, ...rest);\n"
        f"const extension = require({json.dumps(str(EXTENSION / 'extension.js'))});\n"
        "(async () => {\n"
        "  await extension.activate({ subscriptions: [] });\n"
        "  await changed({ affectsConfiguration: (name) => name === 'dt' });\n"
        "  await commands['dt.restart'](); await extension.deactivate();\n"
        "  console.log(JSON.stringify(said));\n"
        "})();\n"
    )
    done = subprocess.run(
        ["node", tmp_path / "run.js"], capture_output=True, text=True, check=True, timeout=60
    )
    said = json.loads(done.stdout)
    settings = {"sizes": {"x": 8}, "device": None, "load": []}
    made = [
        "made", "dt", "Decoupled Triton", {"command": "dt-lsp", "args": ["--stdio"]},
        {"documentSelector": [{"language": "dt"}, {"language": "mlir"}],
         "initializationOptions": settings},
    ]  # fmt: skip
    told = ["workspace/didChangeConfiguration", {"settings": {"dt": settings}}]
    assert said == [made, ["started"], told, ["stopped"], made, ["started"], ["stopped"]]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_the_extension_says_why_there_is_no_server(tmp_path: Any) -> None:
    """The client's library throws strings as well as errors."""
    (tmp_path / "run.js").write_text(
        "const Module = require('module'); const said = []; let thrown;\n"
        "class LanguageClient { async start() { throw thrown; } }\n"
        "const vscode = {\n"
        "  workspace: { getConfiguration: () => ({ server: { command: ['dt-lsp'] } }),\n"
        "    onDidChangeConfiguration: () => {} },\n"
        "  commands: { registerCommand: () => {} },\n"
        "  window: { showErrorMessage: (text) => { said.push(text); } },\n"
        "};\n"
        "const known = { vscode, 'vscode-languageclient/node': { LanguageClient } };\n"
        "const load = Module._load;\n"
        "Module._load = (name, ...rest) => known[name] ?? load(name, ...rest);\n"
        f"const extension = require({json.dumps(str(EXTENSION / 'extension.js'))});\n"
        "(async () => {\n"
        "  for (thrown of ['no such command', new Error('it ended')]) {\n"
        "    await extension.activate({ subscriptions: [] });\n"
        "  }\n"
        "  console.log(JSON.stringify(said));\n"
        "})();\n"
    )
    done = subprocess.run(
        ["node", tmp_path / "run.js"], capture_output=True, text=True, check=True, timeout=60
    )
    first, second = json.loads(done.stdout)
    assert first.startswith("'dt-lsp' cannot be started: no such command. pip install")
    assert second.startswith("'dt-lsp' cannot be started: it ended. pip install")
