"""Labels that are one while a schedule is looked for, whatever functions call them."""

import re
from itertools import product

import pytest
from scheduled import TWO_NORMS, algorithm, schedule, texts
from xdsl.dialects.builtin import ModuleOp, StringAttr

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import assumed_sizes, auto_schedule, with_schedule
from dt_mlir.autoscheduling.decisions import Decision, plain, sized
from dt_mlir.autoscheduling.naming import Naming, rename
from dt_mlir.autoscheduling.proposals import Proposals
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.writing import Writer
from dt_mlir.costs.device import find_device
from dt_mlir.costs.report import costs_of
from dt_mlir.dialects import dt, host, loop
from dt_mlir.dialects.formats import names
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


def scheduled(module: ModuleOp, sizes: dict[str, int]) -> tuple[list[Decision], float]:
    """Returns a program's schedule but for what it renames, and the predicted time under it."""
    found = auto_schedule(module, sizes, H200)
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))
    made = with_schedule(module, found)
    run_pipeline(made, ["convert-dt-to-loop", "apply-schedule"])
    seconds = sum(cost.seconds for cost in costs_of(made, sizes, H200).values())
    return [item for item in found if item.name != "rename"], seconds


@pytest.mark.parametrize(
    ("text", "sizes", "usual", "others"),
    [
        (ATTENTION, SIZES, ("j", "j"), [("a", "a"), ("a", "b"), ("j", "b")]),
        (LOSS, WIDE, ("u", "u"), [("u", "v"), ("v", "u"), ("v", "v")]),
        # In parts.
        (LOSS, FEW, ("u", "u"), [("u", "v"), ("v", "u")]),
        (MOMENTS, dict.fromkeys("xkiu", 1024), ("i", "i"), [("i", "u"), ("u", "i")]),
    ],
    ids=["attention", "loss", "parts", "moments"],
)
def test_schedules_do_not_depend_on_names_of_reductions(
    text: str, sizes: dict[str, int], usual: tuple[str, str], others: list[tuple[str, str]]
) -> None:
    def predicted(names: tuple[str, str]) -> tuple[list[str], float]:
        module = algorithm(text.format(*names))
        found, seconds = scheduled(module, Interface.of(module).sizes(sizes))
        return [item.name for item in found], seconds

    wanted = predicted(usual)
    assert "online" in wanted[0]
    for other in others:
        directives, seconds = predicted(other)
        assert directives == wanted[0]
        assert seconds == pytest.approx(wanted[1], rel=1e-9)


SOFTMAX = """
Func top, total, f; In A; Var x, y;
top[x] = rmax(A[x, y], y);
total[x] = rsum(exp(A[x, y] - top[x]), y);
f[x, y] = exp(A[x, y] - top[x]) / total[x];
f.compile();
"""
GATED = """
Func h, square, f; In A : bf16, B : bf16, W : bf16; Var x, y;
h[x, y] = A[x, y] * B[x, y] * sigmoid(B[x, y]);
square[x] = rmean(h[x, y] ** 2, y);
f[x, y] = h[x, y] * rsqrt(square[x] + 1e-5) * W[y];
f.compile();
"""
CHAIN = """
Func n, ms, u, y, f; In X : bf16, U : bf16, D : bf16; Var i, c, e;
ms[i] = rmean(X[i, c] ** 2, c);
n[i, c] = X[i, c] * rsqrt(ms[i] + 1e-5);
u[i, e] = rdot(n[i, c], U[c, e], c);
y[i, c] = rdot(u[i, e], D[e, c], e);
f[i, c] = y[i, c] + X[i, c];
f.compile();
"""
CONVOLUTION = """
Func y, f : bf16; In X : bf16, W : bf16; Var n, p, q, o, r = 3, s = 3, c;
y[n, p, q, o] = rdot(constant_exterior(X[n, p + r - 1, q + s - 1, c], 0), W[r, s, c, o], r, s, c);
f[n, p, q, o] = y[n, p, q, o] * sigmoid(y[n, p, q, o]);
f.compile();
"""
PICTURES = {"n": 8, "p": 64, "q": 64, "o": 128, "c": 64}


def with_own_labels(module: ModuleOp) -> tuple[ModuleOp, dict[str, str]]:
    """Returns a program in which no two functions have a label in common, and the label that each
    was, but for those whose sizes it says."""
    made = module.clone()
    declared = {op.sym_name.data: op for op in made.ops if isinstance(op, dt.LabelOp)}
    first = made.body.block.first_op
    assert first is not None
    before: dict[str, str] = {}
    for op in [op for op in made.ops if isinstance(op, dt.FuncOp)]:
        name = op.sym_name.data
        own = {
            label: f"{label}_{name}" for label in Naming(made).used[name]
            if declared[label].size is None
        }
        for label, other in own.items():
            again = declared[label].clone()
            again.sym_name = StringAttr(other)
            made.body.block.insert_op_before(again, first)
            before[other] = label
        rename(op, own)
    return made, before


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, {"x": 4096, "y": 16384}),
        (GATED, {"x": 8192, "y": 5120}),
        (CHAIN, {"i": 2048, "c": 1024, "e": 4096}),
        (CONVOLUTION, PICTURES),
        (ATTENTION.format("j", "j"), SIZES),
        (TWO_NORMS, dict.fromkeys("ice", 1024)),
    ],
    ids=["softmax", "gated", "chain", "convolution", "attention", "norms"],
)
def test_functions_may_have_labels_of_their_own(text: str, sizes: dict[str, int]) -> None:
    """The schedule is the same up to names, and so are its kernels."""
    module = algorithm(text)
    known = Interface.of(module).sizes({k: v for k, v in sizes.items() if k not in "abuv"})
    wanted, seconds = scheduled(module, known)
    own, before = with_own_labels(module)
    said = {label: size for label, size in known.items() if label in Interface.of(own).labels}
    said |= {other: known[label] for other, label in before.items()}
    renamed = Interface.of(own).sizes(said)
    found, others = scheduled(own, renamed)
    assert [item.name for item in found] == [item.name for item in wanted]
    assert others == pytest.approx(seconds, rel=1e-9)


SPLIT = """
Func mm, f; In A : bf16, B : bf16; Var x, y, u;
mm[x, y] = rdot(A[x, u], B[u, y], u);
f[x, y] = mm[x, y] * sigmoid(mm[x, y]);
f.compile();
"""


@pytest.mark.parametrize(
    ("text", "sizes", "own"),
    [
        (LOSS.format("u", "u"), {"x": 4, "u": 2**18}, ("x", "loss", "A")),
        (SPLIT, {"x": 16, "y": 64, "u": 16384}, ("x", "y", "mm", "A")),
    ],
    ids=["passes", "products"],
)
def test_names_that_parts_would_get(
    text: str, sizes: dict[str, int], own: tuple[str, ...]
) -> None:
    """A reduction over `u` is split whatever is called `u_part`, or `u_in`."""
    wanted, seconds = scheduled(algorithm(text), sizes)
    assert any(item.name == "rfactor" for item in wanted)
    for name, other in product(own, ("u_part", "u_in")):
        module = algorithm(re.sub(rf"\b{name}\b", other, text))
        found, others = scheduled(
            module, {other if label == name else label: n for label, n in sizes.items()}
        )
        assert [item.name for item in found] == [item.name for item in wanted]
        assert others == pytest.approx(seconds, rel=1e-9)


def test_nothing_is_renamed_for_parts_that_there_are_not() -> None:
    text = re.sub(r"\bx\b", "u_part", SPLIT)
    module = algorithm(text)
    sizes = {"u_part": 4096, "y": 4096, "u": 4096}
    assert not [item for item in auto_schedule(module, sizes, H200) if item.name == "rename"]


def test_searches_say_the_names_of_the_program() -> None:
    module = algorithm(LOSS.format("u", "v"))
    proposals = Proposals(module, Interface.of(module).sizes(WIDE), H200)
    for found in (texts(proposals.schedule(proposals.best)), proposals.directives(0, 0)):
        assert any(text.startswith("loss.online(") for text in found)
    found = proposals.schedule(proposals.best)
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(
    ("lines", "labels"),
    [
        # What walks the same axis has one name, that of the function that is nearest to an output.
        ("g[a] = rsum(A[a, b], b); f[x, y] = A[x, y] * g[x];", {"g": "xy"}),
        ("g[a, b] = A[a, b]; f[x, y] = g[x, y] + g[y, x];", {"g": "xy"}),
        ("g[a, b] = A[a, b]; f[x, y] = g[y, x];", {"g": "yx"}),
        # Most axes in common decide.
        ("g[a, b] = A[b, a] + B[a]; f[x, y] = g[x, y] * B[x] + A[y, x] + A[x, y];", {"g": "xy"}),
        # A function has no name twice.
        ("g[a] = rsum(A[a, b], b); f[x] = g[x] + A[x, x];", {"g": "xb"}),
        # Labels of one size that share no axis may have one name.
        ("g[a] = rsum(B[b] * C[a, b], b) + B[a]; f[x, y] = g[x] + B[y];", {"g": "xy"}),
        # Labels of other sizes have not.
        ("g[a] = rsum(B[b] * C[a, b], b); f[x, y] = g[x] + A[x, y];", {"g": "xb"}),
    ],
)
def test_labels_that_are_one(lines: str, labels: dict[str, str]) -> None:
    text = f"Func g, f; In A, B, C; Var x, y, a, b;\n{lines}\nf.compile();"
    naming = Naming(algorithm(text))
    found = {name: "".join(known.values()) for name, known in naming.labels.items()}
    assert found == {"f": found["f"], **labels}
    assert found["f"] == "xy"[: len(found["f"])]


def test_a_program_with_such_labels_is_left_as_it_is() -> None:
    module = algorithm(SOFTMAX)
    naming = Naming(module)
    assert naming.module is naming.written_module is module


def written(text: str, *parts: tuple[list[str], list[Decision]]) -> list[list[str]]:
    """Returns the directives of kernels as a program's own labels say them."""
    naming = Naming(algorithm(text))
    program = Algorithm(naming.module, Interface.of(naming.module).sizes({}))
    taken = [op.sym_name.data for op in naming.module.ops if not isinstance(op, dt.OutputOp)]
    writer = Writer(naming, program, taken)
    return [texts(writer.written(part)) for part in parts]


OTHERS = """
Func top, total, f; In A; Var x, y, u, v, t;
top[t] = rmax(A[t, u], u);
total[x] = rsum(exp(A[x, v] - top[x]), v);
f[x, y] = exp(A[x, y] - top[x]) / total[x];
f.compile();
"""


def test_loops_that_are_tiled_alike_are_renamed() -> None:
    tiled = sized("f", "tensorize", {"y": 64})
    fused = [plain(name, "fuse_at", "f", "x") for name in ("total", "top")]
    # Nothing is where a kernel has no other function's loops.
    assert written(OTHERS, (["f"], [tiled])) == [["f.tensorize(y:64);"]]
    assert written(OTHERS, (["top"], [sized("top", "tensorize", {"y": 64})])) == [
        ["top.tensorize(u:64);"]
    ]
    # Loops around the place are those of `f`.
    assert written(OTHERS, (["f", "total", "top"], [*fused, tiled])) == [
        [
            "total.rename(v:y);", "top.rename(u:y);", "total.fuse_at(f, x);", "top.fuse_at(f, x);",
            "f.tensorize(y:64);",
        ]
    ]  # fmt: skip
    assert written(OTHERS, (["total", "top"], [plain("top", "fuse_at", "total", "y")])) == [
        ["top.rename(u:v);", "top.fuse_at(total, v);"]
    ]
    # All labels are in a pass.
    assert written(OTHERS, (["f", "total", "top"], [plain("f", "online", "y"), tiled])) == [
        ["total.rename(v:y);", "top.rename(t:x, u:y);", "f.online(y);", "f.tensorize(y:64);"]
    ]


def test_names_are_made_of_names() -> None:
    split = Decision("total", "rfactor", (Argument("y", 4), Argument(None, "parts")))
    order = (Argument("x", "x1", 8), Argument(None, "x1"))
    assert written(
        OTHERS, (["total"], [
            split, sized("parts", "block", {"y_part": 1, "x": 8}),
            sized("parts", "tensorize", {"x": 8, "y": 32}), sized("total", "unroll", {"y_part": 4}),
        ]), (["top"], [Decision("top", "map", order), plain("top", "fuse", "x", "y", "x_y")])
    ) == [
        [
            "total.rfactor(v:4, parts);", "parts.block(v_part:1, x:8);",
            "parts.tensorize(x:8, v:32);", "total.unroll(v_part:4);",
        ],
        ["top.map(t:t1/8, t1);", "top.fuse(t, u, t_u);"],
    ]  # fmt: skip


def test_parts_of_one_label_are_renamed_where_their_numbers_differ() -> None:
    """A program has one number of parts of a label."""
    text = """
    Func g, h, f; In A, B; Var x, y, k;
    g[x] = rsum(A[x, k], k); h[k] = rsum(A[k, x], x); f[x, k] = g[x] * h[k]; f.compile();
    """

    def split(name: str, label: str, count: int) -> tuple[list[str], list[Decision]]:
        parts = Argument(None, f"{name}_parts")
        return [name], [Decision(name, "rfactor", (Argument(label, count), parts))]

    labels = Naming(algorithm(text)).labels
    assert labels["g"]["k"] == "k"
    assert labels["h"]["x"] == "x"
    assert written(text, split("g", "k", 4), split("h", "x", 8)) == [
        ["g.rfactor(k:4, g_parts);"], ["h.rfactor(x:8, h_parts);"]
    ]  # fmt: skip
    other = text.replace("h[k] = rsum(A[k, x], x)", "h[x] = rsum(A[x, k], k)")
    assert Naming(algorithm(other)).labels["h"] == {"x": "k", "k": "x"}
    assert written(other, split("g", "k", 4), split("h", "x", 8)) == [
        ["g.rfactor(k:4, g_parts);"], ["h.rename(k:x_);", "h.rfactor(x_:8, h_parts);"]
    ]  # fmt: skip
    assert written(other, split("g", "k", 8), split("h", "x", 8)) == [
        ["g.rfactor(k:8, g_parts);"], ["h.rfactor(k:8, h_parts);"]
    ]  # fmt: skip


def test_a_pass_has_no_name_that_gathers_more() -> None:
    """Functions that are inlined into a pass, or stored before, have not its label."""
    text = """
    Func g, h, f; In A, B; Var i, j, d;
    g[j, d] = exp(A[j, d]); h[i] = rsum(g[i, d] * B[d, i], d); f[i, j] = g[i, j] * h[i];
    f.compile();
    """
    naming = Naming(algorithm(text))
    assert naming.labels == {
        "f": {"i": "i", "j": "j"}, "g": {"j": "i", "d": "j"}, "h": {"i": "i", "d": "j"}
    }  # fmt: skip
    pass_ = plain("h", "online", "j")
    assert written(text, (["h", "g"], [pass_])) == [["g.rename(j:i);", "h.online(d);"]]
    # `j` is another label of `g`.
    assert written(text, (["f", "h"], [plain("f", "online", "j")])) == [
        ["f.rename(j:d);", "f.online(d);"]
    ]


def test_copies_have_the_labels_of_their_tensors() -> None:
    text = """
    Func g, f; In A : f16, B : f16; Var x, y, a, b, c;
    g[a, b] = rdot(A[a, c], B[c, b], c); f[x, y] = g[x, y] * 2; f.compile();
    """
    found = texts(schedule(text, {"x": 4095, "y": 4097, "a": 4095, "b": 4097, "c": 4093}))
    assert "A_copy.align_storage(a:256, c:64);" in found
    assert any(item.startswith("f.block(x:") for item in found)


def test_promises_are_about_the_same_label() -> None:
    text = """
    Func g, f; In A; Var i, j, a, b;
    g[a] = rsum(A[a, b], b); f[i, j] = A[i, j] / g[i]; f.compile(); g.deterministic(a);
    """
    found = texts(schedule(text, {"i": 4096, "j": 512, "a": 4096, "b": 512}))
    assert [item for item in found if "deterministic" in item] == ["f.deterministic(i);"]


def test_results_keep_their_axes() -> None:
    """They are the caller's; functions are fused into those that are fused by these names."""
    text = """
    Func f0, f1, f2, f3, f4, f5; In A, D, W; Var n, b, k, j, m, l, i;
    f0[b, n] = rmax(A[n, l], l);
    f1[b, n, m] = exp(A[n, m] - f0[b, n]);
    f2[b, l] = rsum(f1[b, l, n], n);
    f3[b, n, i] = f1[b, n, i] / f2[b, n];
    f4[b, m] = rmean(f3[b, m, j] ** 2, j);
    f5[b, i, k] = f3[b, i, k] * rsqrt(f4[b, i] + 1e-5);
    f5.compile(); f2.compile(); f0.compile(); f1.compile();
    """
    module = algorithm(text)
    found = auto_schedule(module, assumed_sizes(module, {"b": 8}, 1024), H200)
    assert "f0.fuse_at(f1, n);" in texts(found)
    made = with_schedule(module, found)
    run_pipeline(made, ["convert-dt-to-loop", "apply-schedule"])
    (function,) = [op for op in made.ops if isinstance(op, host.FuncOp)]
    axes = {op.tensor.data: names(op.axes) for op in function.allocations()}
    assert [axes[name] for name in ("f5", "f2", "f0", "f1")] == [
        ("b", "i", "k"), ("b", "l"), ("b", "n"), ("b", "n", "m")
    ]  # fmt: skip


def test_joined_labels_have_names_of_their_own() -> None:
    """The labels of two kernels join to one that has the same name in neither."""
    text = """
    Func f1, f2; In X, V, W; Var b, i, j, c, e, o;
    f1[b, i, e] = rdot(X[b, i, c], V[e, c], c);
    f2[b, j, o] = rdot(f1[b, j, e], W[o, e], e);
    f2.compile();
    """
    parts = [
        ([name], [plain(name, "fuse", "b", "j", "b_j"), sized(name, "block", {"b_j": 64})])
        for name in ("f1", "f2")
    ]
    assert written(text, *parts) == [
        ["f1.fuse(b, i, b_i);", "f1.block(b_i:64);"], ["f2.fuse(b, j, b_j);", "f2.block(b_j:64);"]
    ]  # fmt: skip


def test_words_of_directives_are_no_labels() -> None:
    text = """
    Func top, total; In A; Var x, consumers, together;
    top[x] = rmax(A[x, consumers], consumers);
    total[x] = rsum(A[x, together] - top[x], together);
    total.compile();
    """
    said = [
        plain("top", "online", "together", "together"), sized("top", "tensorize", {"together": 64}),
        sized("top", "warp_specialize", {"consumers": 1}),
    ]  # fmt: skip
    assert written(text, (["top"], said)) == [
        [
            "top.online(consumers, together);", "top.tensorize(consumers:64);",
            "top.warp_specialize(consumers:1);",
        ]
    ]  # fmt: skip


def test_tiles_that_triton_refuses_are_not_chosen() -> None:
    text = """
    Func c, z; In A, B; Var x, i, j;
    c[x, i] = rsum(A[x, j] * B[x, j], j, j <= i); z[x, i] = B[x, i] + c[x, i]; z.compile();
    """
    module = algorithm(text)
    found = auto_schedule(module, Interface.of(module).sizes({"x": 256, "j": 4096}), H200)
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Func f, g; In A, B; Var x; f[x] = A[x]; g[x] = f[x + 1] * B[x];", {"x": 64}),
        ("Func f, g; In A, B; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k); "
         "g[x, y] = f[x, y] + f[x + 1, y] + f[x + 2, y + 1];", {"x": 512, "y": 512, "k": 512}),
        # In a part without `g`, the labels of `f` and of its halo seem to have one size.
        ("Func f, g; In A; RVar x; f[x] = maximum(rsum(A[x], x), A[x + 1]); g[x] = f[x + 1] * 2;",
         {"x": 64}),
    ],
)  # fmt: skip
def test_schedules_of_outputs_with_a_halo_are_read_again(text: str, sizes: dict[str, int]) -> None:
    """Holds for the text of a program, too."""
    found = read_again(text, " f.compile(); g.compile();", sizes)
    assert any("halo" in item for item in found)


@pytest.mark.parametrize(
    ("text", "ends", "sizes", "wanted"),
    [
        ("Func f, g; In A; RVar x, y; f[x, y] = rsum(A[x, x], x); g[x] = f[x + 1, x];",
         "g.compile();", {"x": 64, "f_x": 65}, "f.rename(y:x, x:y, f_x:f_x);"),
        ("Func f, g, h; In A; Var x, y, k; f[k, y] = A[y, k] + rsum(A[y, y], y); "
         "g[x] = f[x + 2, x + 2]; h[y] = rmin(A[y, y], y);",
         "f.compile(); h.compile();", {"x": 512, "y": 512, "k": 512},
         "f_halo.rename(f_k:k, y:f_k, f_y:f_y);"),
    ],
    ids=["its own", "of a halo"],
)  # fmt: skip
def test_labels_that_a_function_with_its_own_reduces_are_named_apart(
    text: str, ends: str, sizes: dict[str, int], wanted: str
) -> None:
    """A directive about the reduced label alone would be one about the function's own."""
    assert wanted in read_again(text, f" {ends}", sizes)


def test_schedules_of_functions_that_are_read_in_a_window_are_read_again() -> None:
    """The window turns pairs of a row's elements; its function has a label of its own."""
    text = """
    Func q, r, k, s, m, l, o; In X, P, K, V; Var b, h, i, n, d; RVar c, e, j;
    q[b, h, i, d] = rdot(X[b, i, c], P[h, c, d], c);
    k[b, h, n, d] = rdot(X[b, n, c], K[h, c, d], c);
    r[b, h, i, d] = q[b, h, i, d] * cos(i * 0.1) + q[b, h, i, (d + len(d) // 2) % len(d)] * i;
    s[b, h, i, n] = rdot(r[b, h, i, e], k[b, h, n, e], e) * 0.5;
    m[b, h, i] = rmax(s[b, h, i, j], j, j <= i);
    l[b, h, i] = rsum(exp(s[b, h, i, j] - m[b, h, i]), j, j <= i);
    o[b, h, i, d] = rdot(exp(s[b, h, i, j] - m[b, h, i]), V[b, h, j, d], j, j <= i) / l[b, h, i];
    """
    sizes = {"b": 2, "h": 3, "i": 7, "j": 7, "d": 4, "c": 12}
    found = read_again(text, " o.compile();", sizes)
    assert any(item.startswith("q.rename(q_d:") for item in found)


def read_again(text: str, ends: str, sizes: dict[str, int]) -> list[str]:
    """Returns the schedule of a program, whose text gives the same kernels."""
    module = algorithm(text + ends)
    found = auto_schedule(module, Interface.of(module).sizes(sizes), H200)
    again = algorithm(text + " " + " ".join(texts(found)) + ends)
    whole = with_schedule(module, found)
    for each in (again, whole):
        run_pipeline(each, ["convert-dt-to-loop", "apply-schedule"])
    kernels = [
        [str(op) for op in each.ops if isinstance(op, loop.KernelOp)] for each in (again, whole)
    ]
    assert kernels[0] == kernels[1]
    return texts(found)
