"""Labels of reductions that are one, whatever they are called."""

import pytest
from scheduled import algorithm, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import auto_schedule, with_schedule
from dt_mlir.autoscheduling.decisions import Decision, plain, sized
from dt_mlir.autoscheduling.naming import Naming
from dt_mlir.autoscheduling.proposals import Proposals
from dt_mlir.costs.device import find_device
from dt_mlir.costs.report import costs_of
from dt_mlir.dialects.sched import Argument
from dt_mlir.pipeline import default_pipeline, run_pipeline

H200 = find_device("h200")
ATTENTION = """
Func s, top, p, total, o : bf16; In Q : bf16, K : bf16, V : bf16; Var h, i, j, d, c, a, b;
s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c) / sqrt(len(c));
top[h, i] = rmax(s[h, i, {0}], {0});
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, {1}], {1});
o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j) / total[h, i];
o.precision(narrow);
o.compile();
"""
LOSS = """
Func top, total, loss; In A, T : i64; Var x, u, v;
top[x] = rmax(A[x, {0}], {0});
total[x] = rsum(exp(A[x, {1}] - top[x]), {1});
loss[x] = log(total[x]) + top[x] - A[x, T[x]];
loss.compile();
"""
SIZES = {"h": 16, "i": 4096, "j": 4096, "d": 64, "c": 64, "a": 4096, "b": 4096}
WIDE = {"x": 4096, "u": 32000, "v": 32000}
FEW = {"x": 4, "u": 2**18, "v": 2**18}


MOMENTS = """
Func mean, var, f; In A; Var x, k, i, u;
mean[x] = rmean(A[x, k, {0}], k, {0});
var[x] = rmean((A[x, k, {1}] - mean[x]) ** 2, k, {1});
f[x] = var[x] + mean[x];
f.compile();
"""


@pytest.mark.parametrize(
    ("text", "sizes", "usual", "others"),
    [
        (ATTENTION, SIZES, ("j", "j"), [("a", "a"), ("a", "b"), ("j", "b")]),
        (LOSS, WIDE, ("u", "u"), [("u", "v"), ("v", "u"), ("v", "v")]),
        # In parts.
        (LOSS, FEW, ("u", "u"), [("u", "v"), ("v", "u")]),
        # Of the loops in the pass, each has its own name.
        (MOMENTS, dict.fromkeys("xkiu", 1024), ("i", "i"), [("i", "u"), ("u", "i")]),
    ],
    ids=["attention", "loss", "parts", "moments"],
)
def test_schedules_do_not_depend_on_names(
    text: str, sizes: dict[str, int], usual: tuple[str, str], others: list[tuple[str, str]]
) -> None:
    def predicted(names: tuple[str, str]) -> tuple[list[str], float]:
        module = algorithm(text.format(*names))
        known = Interface.of(module).sizes(sizes)
        found = auto_schedule(module, known, H200)
        run_pipeline(with_schedule(module, found), default_pipeline("tile"))
        scheduled = with_schedule(module, found)
        run_pipeline(scheduled, ["convert-dt-to-loop", "apply-schedule"])
        costs = costs_of(scheduled, known, H200)
        return [item.name for item in found], sum(cost.seconds for cost in costs.values())

    wanted = predicted(usual)
    assert "online" in wanted[0]
    for names in others:
        directives, seconds = predicted(names)
        assert directives == wanted[0]
        assert seconds == pytest.approx(wanted[1], rel=1e-3)


def test_searches_say_the_names_of_the_program() -> None:
    module = algorithm(LOSS.format("u", "v"))
    proposals = Proposals(module, Interface.of(module).sizes(WIDE), H200)
    for found in (texts(proposals.schedule(proposals.best)), proposals.directives(0, 0)):
        assert any(text.startswith("loss.online(") for text in found)
    found = proposals.schedule(proposals.best)
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(
    ("line", "merged"),
    [
        ("", {"v": "u"}),
        # A function has both.
        ("both[x] = rsum(A[x, u] * B[u, v], u, v);", {}),
        # One is a label of functions, which keep their names.
        ("both[u] = A[0, u] * 2;", {"v": "u"}),
        ("both[v] = A[0, v] * 2;", {"u": "v"}),
        # Other sizes, at other axes.
        ("both[x] = rsum(B[k, x], k);", {"v": "u"}),
    ],
)
def test_labels_that_are_one(line: str, merged: dict[str, str]) -> None:
    text = LOSS.format("u", "v").replace("T : i64;", "T : i64, B;").replace("u, v;", "u, v, k;")
    if line:
        text = text.replace("Func top", "Func both, top").replace("loss[x] =", f"{line}\nloss[x] =")
        text += "both.compile();"
    assert Naming(algorithm(text)).names == merged


def test_one_reduction_needs_no_name() -> None:
    text = """
    Func total, f; In A; Var x, y, u;
    total[x] = rsum(A[x, u], u); f[x, y] = A[x, y] / total[x]; f.compile();
    """
    assert not Naming(algorithm(text)).names


def test_directives_have_the_names_of_loops() -> None:
    text = """
    Func top, total, f; In A; Var x, y, u, v;
    top[x] = rmax(A[x, u], u);
    total[x] = rsum(exp(A[x, v] - top[x]), v);
    f[x, y] = exp(A[x, y] - top[x]) / total[x];
    f.compile();
    """
    naming = Naming(algorithm(text))
    assert naming.names == {"u": "y", "v": "y"}

    def written(*decisions: Decision) -> list[str]:
        root = decisions[-1].function if decisions[-1].function != "parts" else "total"
        return texts(naming.written([root, "total", "top"], decisions))

    fused = [plain(name, "fuse_at", "f", "x") for name in ("total", "top")]
    tiled = sized("f", "tensorize", {"y": 64})
    assert written(tiled) == ["f.tensorize(y:64);"]
    assert written(*fused, tiled)[2:] == ["f.tensorize(u:64, v:64, y:64);"]
    assert written(sized("top", "tensorize", {"y": 64})) == ["top.tensorize(u:64);"]
    # The pass has one label, the function's own.
    assert written(plain("f", "online", "y"), tiled) == ["f.online(y);", "f.tensorize(y:64);"]
    split = Decision("total", "rfactor", (Argument("y", 4), Argument(None, "parts")))
    assert written(
        split, sized("parts", "block", {"y_part": 1, "x": 8}),
        sized("parts", "tensorize", {"x": 8, "y": 32}), sized("total", "unroll", {"y_part": 4}),
    ) == [
        "total.rfactor(v:4, parts);", "parts.block(v_part:1, x:8);",
        "parts.tensorize(x:8, v:32);", "total.unroll(v_part:4);",
    ]  # fmt: skip
    assert written(plain("top", "fuse_at", "total", "y")) == ["top.fuse_at(total, v);"]


def test_a_pass_has_a_name_of_its_functions() -> None:
    """The label that stands for both may be another function's."""
    text = LOSS.format("u", "v").replace("loss.compile();", "other[y] = A[0, y]; other.compile();")
    text = text.replace("Func top", "Func other, top").replace("u, v;", "u, v, y;") + "loss.compile();"
    naming = Naming(algorithm(text))
    assert naming.names == {"u": "y", "v": "y"}
    found = naming.written(
        ["loss", "top", "total"],
        [plain("loss", "online", "y"), sized("loss", "tensorize", {"y": 128})],
    )
    label = str(found[0].arguments[0].value)
    assert label in ("u", "v")
    assert texts(found) == [f"loss.online({label});", f"loss.tensorize({label}:128);"]
    schedule(text, {**WIDE, "y": 32000})
