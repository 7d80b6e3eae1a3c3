"""Writes the reference pages of dialects, passes, directives and functions from their definitions.

python docs/generate.py            write the pages
python docs/generate.py --check    say which pages are stale, and fail if any is
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path

from api import api_page
from extending import extending_sections
from language_modules import directives_module, functions_module
from one_kernel import one_kernel_page
from pass_examples import EXAMPLES, example
from xdsl.ir import Dialect, Operation, TypeAttribute
from xdsl.passes import ModulePass

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.compiler import compile_program
from dt_mlir.dialects.sched import DirectiveOp
from dt_mlir.drawing.placement import placements
from dt_mlir.drawing.svg import svg
from dt_mlir.editor.operation_reference import operation_lines
from dt_mlir.editor.textmate import grammar_text
from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.emit import compile_text
from dt_mlir.frontend.symbols import REDUCTIONS
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text
from dt_mlir.registry import DIALECTS, PASSES
from dt_mlir.scheduling.directive import Directive
from dt_mlir.tools.reference import option_documentation

DOCS = Path(__file__).parent
HEADER = "<!-- Written by docs/generate.py from the definitions. Do not edit. -->\n\n"


def operation(op: type[Operation]) -> list[str]:
    lines = operation_lines(op)
    assert "```" in lines, f"{op.name} has no grammar"
    return [f"## `{op.name}`", "", *lines]


def dialect_page(dialect: Dialect) -> str:
    module = sys.modules[f"dt_mlir.dialects.{dialect.name}"]
    lines = [f"# The `{dialect.name}` dialect", ""]
    lines += (module.__doc__ or "").strip().splitlines()[0:]
    lines.append("")
    directives = [op for op in dialect.operations if issubclass(op, DirectiveOp)]
    for op in dialect.operations:
        if op not in directives:
            lines += operation(op)
    if directives:
        shown = "\n".join(textwrap.wrap(", ".join(f"`{op.name}`" for op in directives), 118))
        section = "\n".join(operation(directives[0])).replace(directives[0].name, "sched.NAME")
        lines += [section, f"The directives of the package are\n{shown}.", ""]
    for attribute in dialect.attributes:
        mark = "!" if issubclass(attribute, TypeAttribute) else "#"
        lines += [f"## `{mark}{attribute.name}`", "", inspect.getdoc(attribute) or "", ""]
    return HEADER + "\n".join(lines).rstrip() + "\n"


def pass_page(cls: type[ModulePass]) -> str:
    """Returns the page of a pass, with IR that a pipeline made in place of the sketch of it."""
    sketch = re.compile(r"\n*^```\n.*?^```$", re.MULTILINE | re.DOTALL)
    text = inspect.getdoc(cls) or ""
    lines = [f"# `{cls.name}`", "", sketch.sub("", text) if cls.name in EXAMPLES else text, ""]
    options = option_documentation(cls)
    if options:
        lines += ["| option | meaning |", "| --- | --- |"]
        lines += [f"| `{name}` | {' '.join(doc.split())} |" for name, doc in options.items()]
        lines.append("")
    if issubclass(cls, Directive):
        lines += [f"In a program: `f.{cls.signature()}`. Phase: {cls.phase.name.lower()}.", ""]
    lines += example(cls.name)
    return HEADER + "\n".join(lines).rstrip() + "\n"


def index_page(title: str, rows: list[tuple[str, str]], folder: str) -> str:
    lines = [f"# {title}", "", "| name | what it does |", "| --- | --- |"]
    lines += [f"| [`{name}`]({folder}{name}.md) | {text} |" for name, text in rows]
    return HEADER + "\n".join(lines) + "\n"


def directives_table() -> str:
    lines = ["| directive | what it does | phase |", "| --- | --- | --- |"]
    for name in PASSES:
        cls = PASSES[name]()
        if issubclass(cls, Directive):
            summary = (inspect.getdoc(cls) or "").splitlines()[0]
            signature = cls.signature().replace("|", "\\|")
            lines.append(f"| `f.{signature}` | {summary} | {cls.phase.name.lower()} |")
    return "\n".join(lines) + "\n"


def functions_table() -> str:
    lines = ["| function | value |", "| --- | --- |"]
    for function in FUNCTIONS.values():
        names = ", ".join("xyz"[: function.arity]) if function.name != "clamp" else "x, low, high"
        lines.append(f"| `{function.name}({names})` | {function.summary} |")
    lines += ["", "| reduction | value |", "| --- | --- |"]
    for name, text in REDUCTIONS.items():
        shown = "a, b, label, …" if name == "rdot" else "e, label, …"
        lines.append(f"| `{name}({shown})` | {text} |")
    lines += ["", "| boundary condition | value out of bounds |", "| --- | --- |"]
    for name, condition in BOUNDARIES.items():
        shown = "A[…], value" if name == CONSTANT else "A[…]"
        lines.append(f"| `{name}({shown})` | {condition.summary} |")
    return "\n".join(lines) + "\n"


def example_kernel() -> str:
    """The body of the kernel that README.md shows."""
    program = compile_program((DOCS.parent / "examples" / "matmul.dt").read_text(), "matmul.dt")
    kernel = program.source[program.source.index("def mm_kernel(") :]
    body = kernel[kernel.index('    """\n') + 8 : kernel.index("\n\n\ndef ")]
    return f"```python\n{textwrap.dedent(body)}\n```\n"


def example_picture() -> str:
    """Returns the picture of the blocks of a product that README.md shows."""
    module, _ = compile_text((DOCS.parent / "examples" / "matmul.dt").read_text(), "matmul.dt")
    run_pipeline(module, default_pipeline("tile"))
    return svg(placements(module, {"x": 1024, "y": 1024, "k": 256}))


FORMATS = """
## Formats

Each page gives the grammar of its operations: words in backquotes stand as they are, `?` marks
what may be left out, `, …` a list. Shared pieces:

| piece | form |
| --- | --- |
| value | `%x`, or `%r#1` of an operation with several results |
| axis | `m: 16` (16 elements), `l` (as many as the label `l` has), `l_1 = l` (of another name) |
| index | a sum of products, `floordiv` and `mod`: `2 * %p + %r floordiv len(k) - 1`; in `dt` of \
labels and values, in `loop` of induction variables and other values of type `index`, with sizes \
of labels (`len(k)`) as factors and divisors |
| boundary | `constant_exterior` number, `repeat_edge`, `repeat_image`, `mirror_image` or \
`mirror_interior` |
| size-expression | an index of sizes alone, or `min(…, …)` of several |
| range | label (`in` value `size` integer)? (`step` (integer \\| `full`))? `tile`? `of` function |
| walk | label, label `outer` integer, or label `inner` integer |
| number | `1.5`, `-3`, `true`, `inf`, `-inf`, `nan`: with the fewest digits that mean the same |
| attr-dict | `{my.mark = 4 : i64}`: attributes of your own, which passes keep |

The type of an operand is that of its definition, which stands above. The type of a result is
written where it does not follow from the operands. Lines end at 100 columns.
"""


def example_levels() -> str:
    """One program at each level."""
    text = (DOCS.parent / "examples" / "attention.dt").read_text()
    module, _ = compile_text(text, "attention.dt")
    lines = ["", "## One program at each level", ""]
    lines += ["`examples/attention.dt` at the `dt` level, and its kernel at the others:", ""]
    done = 0
    for level in ("dt", "loop", "tile"):
        passes = default_pipeline(level)
        run_pipeline(module, passes[done:])
        done = len(passes)
        lines += ["```mlir", module_text(module, kernels_only=level != "dt"), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def between(text: str, mark: str, content: str) -> str:
    """A text with what stands between two marks replaced."""
    start, end = f"<!-- {mark} -->\n", f"<!-- end {mark} -->"
    head, rest = text.split(start)
    _, tail = rest.split(end)
    return f"{head}{start}\n{content}\n{end}{tail}"


def pages() -> dict[Path, str]:
    found: dict[Path, str] = {}
    dialects = [(name, load()) for name, load in DIALECTS.items()]
    for name, dialect in dialects:
        found[DOCS / "dialects" / f"{name}.md"] = dialect_page(dialect)
    summaries = []
    for name, _ in dialects:
        module = sys.modules[f"dt_mlir.dialects.{name}"]
        first = (module.__doc__ or "").strip().splitlines()[0]
        summaries.append((name, first.split(": ", 1)[1]))
    index = index_page("Dialects", summaries, "")
    found[DOCS / "dialects" / "README.md"] = index + FORMATS + example_levels()
    rows = []
    for name, load in PASSES.items():
        cls = load()
        found[DOCS / "passes" / f"{name}.md"] = pass_page(cls)
        rows.append((name, (inspect.getdoc(cls) or "").splitlines()[0]))
    found[DOCS / "passes" / "README.md"] = index_page("Passes", rows, "")
    language = DOCS / "language.md"
    text = between(language.read_text(), "functions", functions_table())
    found[language] = between(text, "directives", directives_table())
    readme = DOCS.parent / "README.md"
    found[readme] = between(readme.read_text(), "kernel", example_kernel())
    found[DOCS / "matmul.svg"] = example_picture()
    found[DOCS / "one-kernel.md"] = HEADER + one_kernel_page()
    found[DOCS / "api.md"] = HEADER + api_page()
    page = DOCS / "extending.md"
    found[page] = between(page.read_text(), "reference", extending_sections())
    found[DOCS.parent / "editors" / "vscode" / "syntaxes" / "dt.tmLanguage.json"] = grammar_text()
    language = DOCS.parent / "dt_mlir" / "language"
    found[language / "functions.py"] = functions_module()
    found[language / "directives.py"] = directives_module()
    return found


def main() -> None:
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    known = {*DOCS.glob("dialects/*.md"), *DOCS.glob("passes/*.md")}
    stale += sorted(known - set(wanted))
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is stale: run 'make docs'", file=sys.stderr)
        sys.exit(bool(stale))
    for path in stale:
        if path not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path])


if __name__ == "__main__":
    main()
