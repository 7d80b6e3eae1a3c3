"""Passes that have no law are not made; where it is seen, the pass itself is refused."""

import pytest
from scheduled import algorithm

from dt_mlir.autoscheduling.auto import assumed_sizes
from dt_mlir.autoscheduling.decisions import plain
from dt_mlir.autoscheduling.separability import has_no_law
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.diagnostics import CompileError

HEAD = "Func m, n, f; In X, W; Var i, j, c; m[i] = rsum(X[i, c] * X[i, c], c); "


def whole(text: str) -> Algorithm:
    module = algorithm(f"{HEAD}{text} f.compile();")
    return Algorithm(module, assumed_sizes(module, {}, 512))


def check_refused(found: Algorithm) -> None:
    members = ("f", "m", "n")
    assert has_no_law(found, members, "c")
    with pytest.raises(CompileError, match="cannot be repaired"):
        found.works(members, [plain("f", "online", "c")])


@pytest.mark.parametrize(
    "element",
    [
        "sigmoid({0})", "{0} * sigmoid({0})", "maximum({0}, 0)", "tanh({0}) / 2", "abs({0})",
        "{0} - tanh({0})", "-sin({0})", "where({0} > 0, {0}, 0)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mixed", ["X[i, c] * rsqrt(m[i])", "(X[i, c] - m[i])"])
@pytest.mark.parametrize(
    "sums", ["rdot(n[i, c], W[c, j], c)", "rdot(n[i, c], W[c, j], c) + rmax(X[i, c], c)"]
)
def test_what_no_law_separates_is_seen(element: str, mixed: str, sums: str) -> None:
    found = whole(f"n[i, c] = {element.format(mixed)}; f[i, j] = {sums};")
    check_refused(found)


@pytest.mark.parametrize(
    "reduction",
    [
        "rmax({0}, c)", "rmin(abs({0}), c)", "rmax(X[i, c] - {0}, c)",
        "rmax(where({0} > rmax(X[i, c], c), {0}, 0), c)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("element", ["X[i, c] * rsqrt(m[i])", "(X[i, c] - m[i])"])
def test_extremes_of_what_depends_on_sums_have_no_law(reduction: str, element: str) -> None:
    found = whole(f"n[i, c] = {element}; f[i] = {reduction.format('n[i, c]')} + rsum(X[i, c], c);")
    check_refused(found)


@pytest.mark.parametrize(
    "text",
    [
        "n[i, c] = X[i, c] * rsqrt(m[i]); f[i, j] = rdot(n[i, c], W[c, j], c);",
        "n[i, c] = (X[i, c] - m[i]) ** 2; f[i, j] = rdot(n[i, c], W[c, j], c);",
        # The activation is the same for all elements, or follows from no reduction.
        "n[i, c] = X[i, c] * sigmoid(m[i]); f[i, j] = rdot(n[i, c], W[c, j], c);",
        "n[i, c] = sigmoid(X[i, c]) * m[i]; f[i, j] = rdot(n[i, c], W[c, j], c);",
        # Elements depend on an extreme, by comparison or otherwise.
        "n[i, c] = X[i, c] - rmax(X[i, c], c); f[i] = rsum(exp(n[i, c]), c) + m[i];",
        "n[i, c] = where(X[i, c] == rmax(X[i, c], c), m[c], 0); f[i] = rsum(n[i, c], c) + m[i];",
        # It is behind the sums.
        "n[i, c] = X[i, c]; f[i, j] = sigmoid(rdot(n[i, c], W[c, j], c) - m[i]);",
    ],
)
def test_what_a_law_separates_is_left_to_the_pass(text: str) -> None:
    found = whole(text)
    assert not has_no_law(found, ("f", "m", "n"), "c")
    assert found.works(("f", "m", "n"), [plain("f", "online", "c")])


@pytest.mark.parametrize(
    "text",
    [
        # An extreme may be repaired otherwise, and a sum at other indices is not in the pass.
        "n[i, c] = tanh(X[i, c] - rmax(X[i, c], c)); f[i] = rsum(n[i, c], c) + m[i];",
        "n[i, c] = tanh(X[i, c] - m[c]); f[i, j] = rdot(n[i, c], W[c, j], c);",
        "n[i, j] = tanh(X[i, j] - m[i]); f[i, c] = rsum(rsum(n[i, j], j) * X[i, c], c);",
    ],
)
def test_what_only_the_pass_can_tell_is_left_to_it(text: str) -> None:
    assert not has_no_law(whole(text), ("f", "m", "n"), "c")
