"""The compiler's pipeline, in the order in which it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, parse_spec

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, did_you_mean, give_locations
from dt_mlir.registry import find_pass, placed_passes
from dt_mlir.verifier import verify_module

ALGORITHM = ("verify-dt", "verify-schedule")
"""Checks the algorithm and the schedule beside it."""

LOOPS = (
    "convert-dt-to-loop",
    "apply-schedule",
    "loop-order-reductions",
    "loop-report-costs",
    "loop-split-products",
    "verify-loop",
)
"""From the algorithm to scheduled loop nests."""

TILES = (
    "convert-loop-to-tile",
    "tile-unroll-jam",
    "expand-elementwise",
    "tile-use-reciprocals",
    "tile-merge-axes",
    "tile-cse",
    "licm",
    "tile-share-loads",
    "tile-propagate-transposes",
    "tile-order-loads",
    "tile-place-masks",
    "tile-elide-masks",
    "tile-fill-padding",
    "tile-hoist-reductions",
    "tile-move-scales",
    "tile-coalesce-loops",
    "tile-fuse-maps",
    "tile-convert-terms",
    "tile-combine-exponents",
    "tile-hoist-indices",
    "tile-walk-blocks",
    "tile-cse",
    "tile-place-evictions",
    "tile-use-descriptors",
    "tile-report-spills",
    "verify-tile",
)
"""From loop nests to block programs that the emitter prints."""

WARPS = (
    "convert-tile-to-warp",
    "warp-store-in-parts",
    "warp-hoist-reductions",
    "warp-split-producer",
    "warp-overlap-products",
    "warp-pipeline-products",
    "warp-sink-store-waits",
)
"""From block programs to what each group of warps does, where a schedule specializes warps."""

STAGES: dict[str, tuple[str, ...]] = {
    "dt": ALGORITHM,
    "loop": (*ALGORITHM, *LOOPS),
    "tile": (*ALGORITHM, *LOOPS, *TILES),
    "warp": (*ALGORITHM, *LOOPS, *TILES, *WARPS),
}
"""The passes that lead to each level from the `dt` level."""


def default_pipeline(
    level: str = "tile",
    types: Sequence[tuple[str, str]] = (),
    sizes: Mapping[str, int] | None = None,
    choices: Mapping[str, int | str] | None = None,
) -> list[str]:
    """The passes of the compiler as text.

    Args:
        level: the level to stop at: `dt`, `loop`, `tile` or `warp`.
        types: element types that are declared anew, as pairs of a name and a type.
        sizes: sizes of labels that the program is compiled for.
        choices: what is chosen of a space of schedules.
    """
    passes = _with_placed(list(STAGES[level]))
    if choices:
        shown = ",".join(f'"{name}:{option}"' for name, option in choices.items())
        place = passes.index("verify-schedule") + 1
        passes.insert(place, f"sched-select{{choices={shown}}}")
    if sizes and level != "dt":
        shown = ",".join(f'"{label}:{size}"' for label, size in sizes.items())
        place = passes.index("convert-dt-to-loop") + 1
        passes.insert(place, f"loop-fix-sizes{{sizes={shown}}}")
    if types:
        shown = ",".join(f'"{name}:{type}"' for name, type in types)
        passes.insert(0, f"dt-set-types{{types={shown}}}")
    return passes


def remaining(module: ModuleOp, last: str | None) -> list[str]:
    """Returns the passes that lead from a module to kernels that the emitters print.

    Args:
        module: a program of any level.
        last: the last pass that made it, if it is known.
    """
    passes = default_pipeline("warp")
    if last in passes:
        return passes[len(passes) - passes[::-1].index(last) :]
    names = {op.name for op in module.walk()}
    if "dt.func" in names:
        return passes
    if "loop.kernel" in names:
        first = "apply-schedule" if "sched.schedule" in names else "loop-order-reductions"
        return passes[passes.index(first) :]
    if any(op.name == "tile.range" and len(op.operands) > 1 for op in module.walk()):
        return passes[passes.index("tile-place-masks") :]
    return [] if "warp.kernel" in names else passes[passes.index(WARPS[0]) :]


def _with_placed(passes: list[str]) -> list[str]:
    """Inserts the passes of loaded files and other packages behind those that they name.

    Raises:
        CompileError: if one names a pass that the pipeline never has.
    """
    known = {*STAGES["tile"]}
    pending = {cls.name: after for cls, after in placed_passes().items()}
    known.update(pending)
    for name, after in pending.items():
        if after == STAGES["tile"][-1]:
            raise CompileError(
                f"the pass '{name}' runs after '{after}', which checks what all passes have made",
                None, f"let it run after '{STAGES['tile'][-2]}'",
            )  # fmt: skip
        if after not in known:
            raise CompileError(
                f"the pass '{name}' runs after '{after}', which the pipeline does not have",
                None, did_you_mean(after, known) or "dtc FILE --print-pipeline shows the passes",
            )  # fmt: skip
    while ready := [name for name, after in pending.items() if after in passes]:
        for name in ready:
            last = len(passes) - passes[::-1].index(pending.pop(name))
            passes.insert(last, name)
    return passes


def pipeline_text(passes: Sequence[str]) -> str:
    """Passes as MLIR's `--pass-pipeline` takes them."""
    return f"builtin.module({','.join(passes)})"


def pass_class(name: str) -> type[ModulePass]:
    """The class of a pass: loaded, of this package, of another package, or of xDSL."""
    found = find_pass(name)
    if found is not None:
        return found
    from xdsl.transforms import get_all_passes

    return get_all_passes()[name]()


def parse_pipeline(passes: Sequence[str]) -> list[ModulePass]:
    """The passes that a pipeline's text names."""
    specs = [parse_spec(item) for item in passes]
    return [_made(pass_class(spec.name), spec) for spec in specs]


def _made(cls: type[ModulePass], spec: ArgSpec) -> ModulePass:
    # Passes of this package have no state; xDSL looks at their types anew each time.
    if spec.parameters or not cls.__module__.startswith("dt_mlir."):
        return cls.from_spec(spec)
    return _without_options(cls)


@cache
def _without_options(cls: type[ModulePass]) -> ModulePass:
    return cls.from_spec(ArgSpec(cls.name, {}))


def run_pipeline(
    module: ModuleOp,
    passes: Sequence[str],
    after: Callable[[ModulePass, ModuleOp], None] | None = None,
    verify: bool = True,
) -> None:
    """Runs passes on a module.

    Args:
        module: the module; it is changed.
        passes: the passes as text.
        after: called after each pass.
        verify: whether the module is verified after the last pass, and after each pass that is
            not this package's.

    Raises:
        CompileError: where a pass refuses the module.
    """
    context = Context()

    def callback(
        previous: ModulePass | None, changed: ModuleOp, following: ModulePass | None
    ) -> None:
        if previous is not None:
            # A pass of this package is trusted until the end; another's is blamed at once.
            foreign = not type(previous).__module__.startswith(("dt_mlir.", "xdsl."))
            if foreign:
                give_locations(changed)
            if verify and (following is None or foreign):
                verify_module(changed, previous)
            if after is not None:
                after(previous, changed)

    pipeline = PassPipeline(tuple(parse_pipeline(passes)), callback)
    # What is called after passes may take long and leave much behind.
    with compiling() if after is None else nullcontext():
        pipeline.apply(context, module)
