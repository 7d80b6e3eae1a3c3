"""The documentation is what the code is: generated pages are fresh, and the tutorial runs."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, math, scf

from dt_mlir.registry import DIALECTS
from dt_mlir.tools.parsing import parse_mlir
from dt_mlir.verifier import verify_module

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "count"), [("tutorial", 11), ("debugging", 8), ("tuning", 8), ("auto", 3)])
def test_commands(page: str, count: int, tmp_path: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    shutil.copy(ROOT / "examples" / "plugin" / "tests" / "lit.cfg.py", tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = 0
    for language, name, body in BLOCK.findall(text):
        if name:
            (tmp_path / name).write_text(body)
        elif language == "console":
            command, *expected = body.splitlines()
            assert command.startswith("$ ")
            done = subprocess.run(
                command[2:], shell=True, cwd=tmp_path, env=environment, capture_output=True,
                text=True, timeout=120,
            )  # fmt: skip
            output = done.stdout + done.stderr
            assert "Traceback" not in output
            position = 0
            for line in filter(None, map(str.strip, expected)):
                assert line in output[position:], f"{command}\n{output}\nhas no: {line}"
                position += output[position:].index(line)
            commands += 1
    assert commands == count


@pytest.mark.parametrize(("page", "count"), [("docs/python.md", 7), ("docs/pytorch.md", 8)])
def test_python(page: str, count: int, tmp_path: Path) -> None:
    text = (ROOT / page).read_text()
    blocks = [body for language, _, body in BLOCK.findall(text) if language == "python"]
    assert len(blocks) == count
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    environment = {**os.environ, "DT_MLIR_CACHE": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(f"docs/{n}.md" for n in ("language", "design", "extending", "tutorial", "debugging", "tuning", "auto", "python", "pytorch", "api", "evaluation", "editors", "explorer", "certificates"))])
def test_links(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_programs_of_the_readme() -> None:
    """The commands that README.md names exist with the options that it gives them."""
    text = (ROOT / "README.md").read_text()
    for tool in ("dtc", "dt-opt", "dt-run", "dt-reduce", "dt-tune", "dt-check", "dt-lsp"):
        shown = subprocess.run(
            [Path(sys.executable).with_name(tool), "--help"], capture_output=True, text=True, check=True
        ).stdout
        for line in text.splitlines():
            if re.match(rf"\s+(\.venv/bin/)?{tool} ", line):
                for option in re.findall(r"\s(--[a-z-]+)", line.split("#")[0]):
                    assert option in shown or option == "--print-pipeline", line


def test_ir_examples_parse() -> None:
    """Parses every module and every kernel that the documentation shows."""
    count = 0
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for language, _, body in BLOCK.findall(page.read_text()):
            if language == "mlir":
                context = Context()
                for name, load in DIALECTS.items():
                    context.register_dialect(name, load)
                for dialect in (arith.Arith, builtin.Builtin, math.Math, scf.Scf):
                    context.load_dialect(dialect)
                verify_module(parse_mlir(context, body, str(page)))
                count += 1
    assert count >= 50
    for page in (*ROOT.glob("docs/passes/*.md"), *ROOT.glob("docs/dialects/*.md")):
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        for language, body in blocks:
            assert language == "mlir" or "%" not in body, f"{page} has IR that is not parsed"


def test_prose_ends_at_120_columns() -> None:
    """Checks the pages' prose; a row of a table and a line of code cannot be broken."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    for page in sorted(pages):
        prose = BLOCK.sub(lambda block: "\n" * block.group().count("\n"), page.read_text())
        for number, line in enumerate(prose.splitlines(), start=1):
            if len(line) > 120:
                assert line.startswith(("|", "    ")), f"{page}:{number} has {len(line)} columns"


OPENINGS = "As By For How If In It Like Of That There They This What Where Whether Which Who With".split()


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    """Checks documentation strings of modules, classes, functions and attributes."""
    for folder in ("dt_mlir", "docs", "examples", "benchmarks"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                    words = str(node.value.value).split(maxsplit=1)
                    assert not words or words[0] not in OPENINGS, f"{file}:{node.lineno}"
