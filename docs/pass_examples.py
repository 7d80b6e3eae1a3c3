"""Examples of passes: the IR of a small program before and after a pass.

The pages of passes show them. They are made when the pages are written, so that they cannot be
stale, and that a pass does something with its example is checked.
"""

from dt_mlir.backend.targets import specialized
from dt_mlir.diagnostics import showing_warnings
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import STAGES, run_pipeline
from dt_mlir.printing import module_text

SHIFTED = "Func f; In A; Var x, y;\nf[x, y] = A[x, y] + 1;\n"
SUMS = "Func f; In A; Var x; RVar k;\nf[x] = rsum(A[x, k], k);\n"
PRODUCT = "Func f; In A, B; Var x, y; RVar k;\nf[x, y] = rdot(A[x, k], B[k, y], k);\n"
TWO = "Func g, f; In A; Var x, y;\ng[x] = A[x, 0] * 2;\nf[x, y] = A[x, y] + g[x];\n"
SOFTMAX = (
    "Func top, f; In A; Var x, y;\ntop[x] = rmax(A[x, y], y);\n"
    "f[x, y] = exp(A[x, y] - top[x]);\ntop.fuse_at(f, x);\n"
)
EXPONENTIALS = (
    "Func top, f; In A; Var x; RVar k;\ntop[x] = rmax(A[x, k], k);\n"
    "f[x] = rsum(exp(A[x, k] - top[x]), k);\n"
)
ATTENTION = (
    "Func s, top, p, total, f : bf16;\nIn Q : bf16, K : bf16, V : bf16;\n"
    "Var i, d = 64;\nRVar j, c = 64;\ns[i, j] = rdot(Q[i, c], K[j, c], c);\n"
    "top[i] = rmax(s[i, j], j);\np[i, j] = exp(s[i, j] - top[i]);\ntotal[i] = rsum(p[i, j], j);\n"
    "f[i, d] = rdot(p[i, j], V[j, d], j) / total[i];\n"
    "f.online(j);\nf.precision(narrow);\nf.block(i:64);\n"
    "f.tensorize(i:64, j:64, c:0, d:0);\nf.warp_specialize(consumers:1);\n"
)
SPECIALIZED = (
    "Func f : bf16; In A : bf16, B : bf16; Var x, y; RVar k;\n"
    "f[x, y] = rdot(A[x, k], B[k, y], k);\n"
    "f.block(x:128, y:128);\nf.tensorize(x:128, y:128, k:64);\nf.persistent();\n"
    "f.warp_specialize();\n"
)
CONVERTED = ("convert-dt-to-loop",)

EXAMPLES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "dt-set-types": (SHIFTED, (), '{types="A:f16"}'),
    "convert-dt-to-loop": (SUMS, (), ""),
    "sched-select": (
        f"{SHIFTED}BX = {{16, 32}};\nf.block(x:BX);\nf.tensorize(x:BX) | none;\n", (),
        '{choices="BX:32","f.tensorize:0"}',
    ),
    "apply-schedule": (f"{SUMS}f.block(x:16);\nf.tensorize(x:16, k:32);\n", CONVERTED, ""),
    "schedule-rename": (SUMS, CONVERTED, '{function=f renamed="k:m"}'),
    "schedule-online": (EXPONENTIALS, CONVERTED, "{function=f label=k}"),
    "schedule-cache-read": (PRODUCT, CONVERTED, "{function=f tensor=A copy=A_copy}"),
    "schedule-rfactor": (SUMS, CONVERTED, '{function=f split="k:8" parts=parts}'),
    "schedule-scan": (
        "Func c; In A; Var x = size(A, 0); RVar j;\nc[x] = rsum(A[j], j, j <= x);\n", CONVERTED,
        "{function=c label=x}",
    ),
    "schedule-fuse": (SHIFTED, CONVERTED, "{function=f labels=x,y,xy}"),
    "schedule-inline": (TWO, CONVERTED, "{function=g}"),
    "schedule-fuse-at": (TWO, CONVERTED, "{function=g consumer=f label=x}"),
    "schedule-block": (SHIFTED, CONVERTED, '{function=f sizes="x:16"}'),
    "schedule-split": (SHIFTED, CONVERTED, '{function=f sizes="x:4"}'),
    "schedule-reorder": (SHIFTED, CONVERTED, "{function=f order=y,x}"),
    "schedule-tensorize": (SUMS, CONVERTED, '{function=f sizes="x:4","k:32"}'),
    "schedule-map": (
        SHIFTED, (*CONVERTED, 'schedule-block{function=f sizes="x:16","y:16"}'),
        '{function=f order="x:x1/8","y","x1"}',
    ),
    "schedule-descriptor": (PRODUCT, CONVERTED, "{function=f tensors=A,B,f}"),
    "schedule-persistent": (
        SHIFTED, (*CONVERTED, 'schedule-block{function=f sizes="x:16","y:16"}'), "{function=f}"
    ),
    "schedule-align-storage": (TWO, CONVERTED, '{function=g multiples="x:16"}'),
    "schedule-reorder-storage": (
        "Func g, f; In A; Var x, y; RVar k;\ng[x, y] = A[x, y] * 2;\n"
        "f[x, y] = rsum(g[k, y], k) + A[x, y];\n", CONVERTED, "{function=g order=y,x}",
    ),
    "schedule-num-warps": (SHIFTED, CONVERTED, "{function=f warps=8}"),
    "schedule-num-stages": (SHIFTED, CONVERTED, "{function=f stages=3}"),
    "schedule-pipeline": (SUMS, CONVERTED, '{function=f stages="k:4"}'),
    "schedule-dependent-launch": (SHIFTED, CONVERTED, "{function=f}"),
    "schedule-warp-specialize": (PRODUCT, CONVERTED, "{function=f}"),
    "schedule-precision": (PRODUCT, CONVERTED, "{function=f precision=tf32}"),
    "schedule-math": (SHIFTED, CONVERTED, "{function=f accuracy=accurate}"),
    "schedule-deterministic": (SUMS, CONVERTED, "{function=f label=x}"),
    "schedule-unroll": (SUMS, CONVERTED, '{function=f factors="k:4"}'),
    "schedule-unroll-jam": (
        SHIFTED, (*CONVERTED, 'schedule-tensorize{function=f sizes="x:4"}'),
        '{function=f factors="x:2"}',
    ),
    "loop-fix-sizes": (
        f"{SUMS}f.block(x:16);\nf.tensorize(x:16, k:0);\n", CONVERTED, '{sizes="k:100"}'
    ),
    "loop-order-reductions": (
        "Func f; In X, W; Var o, p; RVar c, r;\nf[o, p] = rdot(W[o, c, r], X[c, p + r], c, r);\n"
        "f.block(o:16, p:16);\nf.tensorize(o:16, p:16, c:16);\n", STAGES["loop"], "",
    ),
    "loop-split-products": (
        f"{PRODUCT.replace('In A, B', 'In A : f64, B : f64')}"
        "f.block(x:64, y:64);\nf.tensorize(x:64, y:64, k:32);\n", STAGES["loop"], "",
    ),
    "convert-loop-to-tile": (
        f"{PRODUCT}f.block(x:16, y:16);\nf.tensorize(x:16, y:16, k:16);\n", STAGES["loop"], ""
    ),
    "tile-coalesce-loops": (
        "Func f; In X, W; Var o, p; RVar r, c;\nf[o, p] = rdot(W[o, r, c], X[c, p + r], r, c);\n"
        "f.block(o:16, p:16);\nf.tensorize(o:16, p:16, c:16);\n",
        (*STAGES["loop"], "convert-loop-to-tile"), "",
    ),
    "tile-unroll-jam": (
        f"{SHIFTED}f.block(x:16);\nf.tensorize(x:16);\nf.unroll_jam(x:2);\n", STAGES["tile"], "",
    ),
    "tile-merge-axes": (f"{SOFTMAX}f.block(x:4);\nf.tensorize(x:4, y:0);\n", STAGES["tile"], ""),
    "tile-cse": (f"{SOFTMAX}f.block(x:4);\nf.tensorize(x:4, y:0);\n", STAGES["tile"], ""),
    "tile-share-loads": (
        "Func s, f; In A; Var x, y;\ns[y] = rsum(A[x, y], x);\nf[x, y] = A[x, y] - s[y];\n"
        "s.fuse_at(f, y);\nf.block(y:16);\nf.tensorize(x:0, y:16);\n", STAGES["tile"], "",
    ),
    "tile-propagate-transposes": (
        "Func f; In A, B; Var x, y; RVar k;\nf[x, y] = rdot(A[k, x], exp(B[y, k]), k);\n"
        "f.block(x:16, y:16);\nf.tensorize(x:16, y:16, k:16);\n", STAGES["tile"], "",
    ),
    "tile-order-loads": (
        "Func f; In X; Var n, g; RVar q, i = size(X, 2) // 4;\n"
        "f[n, g] = rsum(X[n, q, g * len(i) + i], q, i);\nf.tensorize(g:2, q:4, i:4);\n",
        (*STAGES["tile"], "tile-propagate-transposes"), "",
    ),
    "tile-place-masks": (
        f"{SHIFTED}f.block(x:16);\nf.tensorize(x:16, y:32);\n", STAGES["tile"], ""
    ),
    "tile-elide-masks": (
        "Func f; In A; Var x; RVar k;\nf[x] = rsum(exp(A[x, k]), k);\nf.tensorize(k:32);\n",
        STAGES["tile"], "",
    ),
    "tile-fill-padding": (
        "Func g, f; In A; Var x; RVar k;\ng[k] = A[k] * 2;\nf[x] = rsum(g[k] * x, k);\n"
        "g.align_storage(k:16);\ng.tensorize(k:16);\nf.tensorize(k:16);\n", STAGES["tile"], "",
    ),
    "tile-hoist-reductions": (f"{SUMS}f.tensorize(k:32);\n", STAGES["tile"], ""),
    "tile-use-reciprocals": (
        "Func f; In A; Var x; RVar k;\nf[x, k] = A[x, k] / sqrt(len(k));\n"
        "f.block(x:16, k:64);\nf.tensorize(x:16, k:64);\n", STAGES["tile"], "",
    ),
    "tile-move-scales": (
        "Func f; In A; SIn scale : f32; Var x; RVar k;\nf[x] = rmax(A[x, k] * scale, k);\n"
        "f.tensorize(k:0);\n", STAGES["tile"], "",
    ),
    "tile-fuse-maps": (
        "Func g, f; In A; Var x;\ng[x] = A[x] * 2;\nf[x] = exp(g[x]);\ng.fuse_at(f, x);\n"
        "f.block(x:16);\nf.tensorize(x:16);\n", STAGES["tile"], "",
    ),
    "tile-convert-terms": (
        "Func f; In A, slope; Var h, i; RVar j;\n"
        "f[h, i] = rmax(A[h, i, j] + slope[h] * (j - i), j);\n"
        "f.block(h:1, i:16);\nf.tensorize(i:16, j:64);\n", STAGES["tile"], "",
    ),
    "tile-combine-exponents": (
        ATTENTION.replace("f.warp_specialize(consumers:1);\n", ""), STAGES["tile"], "",
    ),
    "tile-hoist-indices": (
        "Func f; In X, W; Var p, o; RVar r = 3, c;\n"
        "f[p, o] = rdot(constant_exterior(X[2 * p + r - 1, c], 0), W[r, c, o], r, c);\n"
        "f.block(p:16, o:16);\nf.tensorize(p:16, o:16, c:16);\n", STAGES["tile"], "",
    ),
    "tile-use-descriptors": (
        f"{PRODUCT}f.block(x:16, y:16);\nf.tensorize(x:16, y:16, k:16);\nf.descriptor(A, f);\n",
        STAGES["tile"], "",
    ),
    "tile-place-evictions": (f"{SOFTMAX}f.block(x:1);\nf.tensorize(y:64);\n", STAGES["tile"], ""),
    "tile-walk-blocks": (
        f"{SHIFTED}f.block(x:16, y:16);\nf.tensorize(x:16, y:16);\nf.persistent();\n",
        STAGES["tile"], "",
    ),
    "convert-tile-to-warp": (SPECIALIZED, STAGES["warp"], ""),
    "warp-store-in-parts": (
        SPECIALIZED.replace("y:128", "y:256"), STAGES["warp"], "",
    ),
    "warp-split-producer": (SPECIALIZED, STAGES["warp"], ""),
    "warp-hoist-reductions": (ATTENTION, STAGES["warp"], ""),
    "warp-overlap-products": (SPECIALIZED, STAGES["warp"], ""),
    "warp-pipeline-products": (ATTENTION, STAGES["warp"], ""),
    "warp-sink-store-waits": (SPECIALIZED, STAGES["warp"], ""),
    "expand-elementwise": (
        "Func f; In A; Var x;\nf[x] = relu(A[x]);\nf.tensorize(x:16);\n", STAGES["tile"], ""
    ),
}  # fmt: skip
"""A program for each pass, the passes in front of it (of a level's pipeline those before its first
place), and its options."""


def example(name: str) -> list[str]:
    """Returns the lines of a pass' example; none for passes that only check.

    Raises:
        ValueError: if the pass does not change its example.
    """
    if name not in EXAMPLES:
        return []
    program, front, options = EXAMPLES[name]
    outputs = [word.split()[0] for word in program.split(";")[0].removeprefix("Func ").split(",")]
    text = f"{program}{outputs[-1]}.compile();\n"
    if name in front:
        front = front[: front.index(name)]
    before, _ = compile_text(text, "example.dt")
    with showing_warnings(lambda _: None):
        run_pipeline(before, front)
        after = before.clone()
        run_pipeline(after, [f"{name}{options}"])
    # Kernels that specialized ones are made of stay as they are.
    before, after = (
        specialized(module) if any(isinstance(op, warp.KernelOp) for op in module.ops) else module
        for module in (before, after)
    )
    if module_text(before) == module_text(after):
        raise ValueError(f"{name} does not change its example")
    # What the host part has for it is the same in most examples.
    kernels = module_text(before, kernels_only=True) != module_text(after, kernels_only=True)
    shown = [module_text(module, kernels_only=kernels) or module_text(module)
             for module in (before, after)]  # fmt: skip
    return [
        "## Example", "", "```", *text.splitlines(), "```", "", "In front of the pass:", "",
        "```mlir", *shown[0].splitlines(), "```", "", f"Behind `{name}{options}`:", "",
        "```mlir", *shown[1].splitlines(), "```", "",
    ]  # fmt: skip
