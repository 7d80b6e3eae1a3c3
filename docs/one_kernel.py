"""Writes the page that follows one kernel from its algorithm to Gluon, level by level."""

import textwrap

from dt_mlir.backend.python_module import emit_module
from dt_mlir.backend.targets import specialized
from dt_mlir.diagnostics import showing_warnings
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import STAGES, run_pipeline
from dt_mlir.printing import module_text

PROGRAM = """Func mm : bf16;
In A : bf16, B : bf16;
Var x, y;
RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.block(x:128, y:256);
mm.tensorize(x:128, y:256, k:64);
mm.persistent();
mm.warp_specialize(consumers:2, registers:240);
mm.num_stages(4);
mm.compile();
"""

INTRODUCTION = f"""# One kernel, from its algorithm to Gluon

A product of matrices in bf16, as fast kernels for Hopper compute it. The algorithm is one line; the
schedule says what a program instance computes, that instances stay and walk the blocks, and that
two groups of warps multiply what a third one copies. Each level below is the whole kernel: it
prints, parses and runs (`dt-run`), and can be compared with the one before.

```
{PROGRAM}```

`dtc FILE --emit LEVEL` prints each of the levels, and `dtc FILE --emit gluon` the last text.
"""

STEPS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "Loops over labels", STAGES["loop"],
        "The `loop` level says what is computed where: blocks of 128 rows and 256 columns, and a "
        "reduction in steps of 64. Nothing is said of memory or of threads; the directives on the "
        "launch are attributes of the kernel.",
    ),
    (
        "A block program", tuple(name for name in STAGES["tile"] if name not in STAGES["loop"]),
        "Loops over elements have become tiles, with masks where sizes need not divide. "
        "`tile-walk-blocks` has made a loop over blocks of the kernel: `tile.num_programs` "
        "instances share them. This is what the Triton backend prints.",
    ),
    (
        "Products in shared memory", ("convert-tile-to-warp",),
        "`convert-tile-to-warp` gives each of two groups of four warps 64 rows. Loads and stores "
        "become copies of boxes by descriptors: what is outside of a tensor is read as zero and is "
        "not written, so that masks are gone. A barrier counts the bytes of a trip. Every tile has "
        "the layout in which a warpgroup holds a result. Nothing overlaps yet: each copy and "
        "each product is waited for at once.",
    ),
    (
        "A result in parts", ("warp-store-in-parts",),
        "`warp-store-in-parts` lets a row of 256 elements leave in four parts of 128 bytes, which "
        "go through two buffers of each group in turn. They take 32 KB of shared memory in place "
        "of 64: a ring of four stages, 192 KB, fits beside them.",
    ),
    (
        "A producer", ("warp-split-producer",),
        "`warp-split-producer` moves the copies to a group of their own, which runs ahead as far "
        "as the ring is deep. `ready` says that a stage has come, `empty` that both consumers have "
        "read it. The tile of `B` is the same for both, and is copied once.",
    ),
    (
        "Overlap", ("warp-overlap-products", "warp-sink-store-waits"),
        "`warp-overlap-products` lets the product of a trip begin while that of the trip before is "
        "still under way; a stage is released one trip later. `warp-sink-store-waits` lets the "
        "result go to its tensor while the next block is computed: a group waits for a part where "
        "it needs the part's buffer again.",
    ),
)  # fmt: skip

CHECKS = """## What is checked

`dt-opt FILE.mlir -p verify-warp` explores every order in which the three groups may act and copies
may end, at sizes at which the ring wraps twice. It reports groups that wait for each other for
ever, reads of a stage that is not ready, writes to one that is still read, fences that are missing,
and reads whose data depends on which group is faster. The interpreter runs the same groups as
coroutines over the same buffers and barriers, with numbers. On a GPU, Triton's sanitizer
(`TRITON_INSTRUMENTATION_MODE=consan`, with `triton.set_allocator`) watches the order that happens.

## Gluon

Each statement comes from one operation of the level above.
"""


def one_kernel_page() -> str:
    """The page."""
    module, _ = compile_text(PROGRAM, "product.dt")
    parts = [INTRODUCTION]
    with showing_warnings(lambda _: None):
        for title, passes, text in STEPS:
            run_pipeline(module, passes)
            lowered = any(isinstance(op, warp.KernelOp) for op in module.ops)
            shown = module_text(specialized(module) if lowered else module, kernels_only=True)
            prose = textwrap.fill(text, 110)
            parts.append(f"## {title}\n\n{prose}\n\n```mlir\n{shown}\n```\n")
    source = emit_module(specialized(module))
    start, end = source.index("@gluon.jit"), source.index("\n\n\ndef mm(")
    parts.append(f"{CHECKS}\n```python\n{source[start:end]}\n```\n")
    return "\n".join(parts)
