"""Hovers: documentation, types, sizes and costs."""

from __future__ import annotations

import pytest
from editor_client import Client
from editor_texts import ROOT
from lsprotocol import types

from dt_mlir.editor.markup import plain

CONVOLUTION = """# A convolution along one axis.
Func f : f16;    # the result
In X : bf16, W, alpha_of;
SIn alpha;
Var n, p, q = len(n) - 1; RVar r = 3;
# Windows of X,
# weighted.
f[n, p] = rdot(X[n, 2*p + r], W[r], r) * alpha;   # in halves
f.block(n:1, p:64);
f.map(p:p_in/4, n, p_in);
f.math(fast);
f.compile();
"""


def test_a_function(client: Client) -> None:
    document = client.open(CONVOLUTION)
    document.diagnostics()
    found = document.ask("hover", "f[n, p]")
    assert document.slice(found.range) == "f"
    assert found.contents.kind == types.MarkupKind.Markdown
    assert found.contents.value.startswith(
        "```dt\nFunc f : f16[n, p];\n"
        "f[n, p] = rdot(X[n, 2 * p + r], W[r], r) * alpha;\n```\n\n"
        "A function of element type `f16`.\n\n"
        "Windows of X, weighted. in halves\n\n"
        "Sizes:\n- `n`: `size(X, 0)`\n- `p`: `(size(X, 1) - len(r)) // 2 + 1`\n\n"
        "```dt\nf.block(n:1, p:64);\nf.map(p:p_in/4, n, p_in);\nf.math(fast);\nf.compile();\n```"
    )


@pytest.mark.parametrize(
    ("mark", "parts"),
    [
        ("X : bf16", ["```dt\nIn X : bf16[n, X_1];\n```", "An input tensor of element type `bf16`."]),
        ("W,", ["In W : f32[r];", "of element type `f32`, which is inferred.", "- `r`: `3`"]),
        ("alpha;", ["SIn alpha : f32;", "An input scalar of element type `f32`, which is inferred."]),
        ("p, q", ["```dt\nVar p;\n```", "A dimension label.",
                  "Size: `(size(X, 1) - len(r)) // 2 + 1`. It is the largest for which every read "
                  "stays in bounds."]),
        ("n, p, q", ["Var n;", "Size: `size(X, 0)`. It is that of the axis that it indexes.",
                     "It labels axis 0 of `f`, axis 0 of `X`."]),
        ("q =", ["Var q = len(n) - 1;", "Size: `len(n) - 1`. It is declared."]),
        ("r =", ["RVar r = 3;", "meant for reductions", "It is declared."]),
        ("rdot", ["```dt\nrdot(a, b, label, …, condition, …)\n```", "the sum of the products"]),
        ("bf16", ["The element type `torch.bfloat16`."]),
        ("block", ["f.block(label:number, …)", "Phase: partition.", "- `label:number, …`: "]),
        ("p_in/4", ["f.map(p:p_in/4, n, p_in);", "`p_in` is named by this directive."]),
        ("fast", ["`fast` of the directive", "f.math("]),
        ("compile", ["compile([dynamic:1])", "Compiles the function"]),
        ("Func", ["Func f, g : f16;", "Declares functions"]),
        ("len(n)", ["len(label)", "the size of a label"]),
    ],
)  # fmt: skip
def test_words(client: Client, mark: str, parts: list[str]) -> None:
    document = client.open(CONVOLUTION)
    document.diagnostics()
    found = document.hover(mark)
    assert found is not None
    for part in parts:
        assert part in found


def test_nothing_is_said_where_nothing_stands(client: Client) -> None:
    document = client.open(CONVOLUTION)
    assert document.hover("# A convolution", 4) is None
    assert document.hover(" = rdot", 1) is None
    assert document.hover("alpha_of;") is not None


def test_spaces_of_schedules(client: Client) -> None:
    document = client.open(
        "Func f;\nIn A;\nVar x;\nf[x] = A[x] or not inf > 1;\nBM = {64, 128};\nf.block(x:BM);\n"
        "WHERE = f.unroll(x:2) | none;\nf.compile();\n"
    )
    document.diagnostics()
    assert document.hover("BM);") == (
        "```dt\nBM = {64, 128};\n```\n\nA parameter of a space of schedules."
    )
    assert document.hover("WHERE") == (
        "```dt\nWHERE = f.unroll(x:2) | none;\n```\n\nA choice of a space of schedules."
    )
    assert "The number: infinity." in (document.hover("inf") or "")
    assert "has no directives" in (document.hover("none") or "")
    assert "true where the operand does not hold" in (document.hover("not ") or "")


def test_what_is_known_stays_while_the_text_is_broken(client: Client) -> None:
    document = client.open(CONVOLUTION)
    document.diagnostics()
    document.change(CONVOLUTION.replace("alpha;   #", "(alpha;   #"))
    assert [d.message for d in document.diagnostics()] == ["unexpected ';': expected ')'"]
    assert "`(size(X, 1) - len(r)) // 2 + 1`" in (document.hover("p, q") or "")
    assert "Func f : f16[n, p];" in (document.hover("f[n, p]") or "")
    document.change(CONVOLUTION.replace("f[n, p] = ", "f[n, p] = nonsense[p] + "))
    assert [d.message.splitlines()[0] for d in document.diagnostics()] == [
        "'nonsense' is not declared"
    ]
    assert "Func f : f16[n, p];" in (document.hover("f[n, p]") or "")


def test_costs(client: Client) -> None:
    """The costs are those of `dtc --emit cost`, at the sizes that are assumed."""
    document = client.open((ROOT / "examples" / "matmul.dt").read_text(), "matmul.dt")
    circumstances = "on NVIDIA H200 at x=4096, y=4096, k=4096"

    def predicted() -> str | None:
        found = document.hover("tensorize")
        return found if found is not None and "Predicted" in found else None

    found = client.wait(predicted)
    assert f"**Predicted cost** {circumstances}, of all kernels: " in found
    assert " → " in found
    assert found.rstrip().endswith("moved")
    kernel = document.hover("mm[x, y]") or ""
    assert f"**Predicted cost** of its kernel {circumstances}: " in kernel
    assert "(busiest: products " in kernel
    assert "1024 program instances" in kernel


def test_costs_of_a_fused_function(client: Client) -> None:
    document = client.open((ROOT / "examples" / "softmax.dt").read_text(), "softmax.dt")
    fused = document.text[: document.text.index(".fuse_at")].split()[-1]

    def predicted() -> str | None:
        found = document.hover(f"{fused}[")
        return found if found is not None and "Predicted" in found else None

    found = client.wait(predicted)
    assert "**Predicted cost** of the kernel of `softmax`, which computes it, on NVIDIA" in found


def test_costs_at_given_sizes() -> None:
    client = Client({"sizes": {"x": 128, "y": 256, "k": 64, "elsewhere": 3}, "device": "a100"})
    document = client.open((ROOT / "examples" / "matmul.dt").read_text(), "matmul.dt")

    def predicted() -> str | None:
        found = document.hover("mm[x, y]")
        return found if found is not None and "Predicted" in found else None

    found = client.wait(predicted)
    assert "A100" in found
    assert "at x=128, y=256, k=64: " in found
    assert "2 program instances" in found
    assert client.close() == 0


def test_plain_text() -> None:
    """A client that prefers plain text gets it in hovers, completions and signatures."""
    kind = types.MarkupKind.PlainText
    client = Client(formats=[kind, types.MarkupKind.Markdown])
    document = client.open(CONVOLUTION)
    shown = document.ask("hover", "rdot").contents
    assert (shown.kind, shown.value) == (
        kind,
        "rdot(a, b, label, …, condition, …)\n\nthe sum of the products of two operands over the labels"
        "\n\nConditions behind the labels restrict it; the value is not evaluated where one is false.",
    )
    (item,) = [item for item in document.ask("completion", "f.block", 2) if item.label == "block"]
    resolved = client.request("completionItem/resolve", item).documentation
    assert resolved.kind == kind
    assert resolved.value.startswith("f.block(label:number, …)\n\nPartitions")
    assert "`" not in resolved.value
    (signature,) = document.ask("signatureHelp", "n:1").signatures
    assert signature.documentation.kind == kind
    module = client.open('"loop.kernel"() : () -> ()\n', "m.mlir", "mlir")
    value = module.ask("hover", "loop.kernel").contents.value
    assert value.startswith("loop.kernel\n\nA kernel as loops over labels.")
    assert "\nsym_name | property | The kernel's name.\n" in value
    assert client.close() == 0


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("```dt\nx = `a` ** 2\n```\n\n**`f`** is **a `b`**", "x = `a` ** 2\n\nf is **a b**"),
        ("x ** y, as x ** y; `a ** b ** c`", "x ** y, as x ** y; a ** b ** c"),
        ("**Predicted cost**: 1\n\n| a | b |\n| --- | --- |\n| `c` | d |", "Predicted cost: 1\n\na | b\nc | d"),
    ],
)
def test_marks_are_left_out(markdown: str, text: str) -> None:
    assert plain(markdown) == text
