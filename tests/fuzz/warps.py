"""Draws products and attention whose warps are specialized, and compares them with their algorithms.

    python tests/fuzz/warps.py --cases 500 --seed 1
    python tests/fuzz/warps.py --cases 100 --gpu

Each program is refused in words, or its groups of warps compute what the algorithm says, at sizes
that divide nothing, and their barriers are proved to keep an order, or tested in all. With a GPU,
the emitted kernels run there, on numbers of which some are not finite in every other case.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.backend.python_module import emit_module
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import prepare_triton, run_and_check

NARROW = 2**-6
"""The part of the largest result by which results may differ where factors are rounded again."""
SECONDS = 20.0
"""The seconds that a proof about barriers may take."""


@dataclass(frozen=True)
class Program:
    """A drawn program, and the sizes that it is run at."""

    text: str
    sizes: dict[str, int]

    def __repr__(self) -> str:
        return f"{self.text}# {self.sizes}"


class WrongError(AssertionError):
    """A program that shows a fault of the compiler."""


def _sizes(**tiles: int) -> str:
    return ", ".join(f"{label}:{tile}" for label, tile in tiles.items())


@st.composite
def products(draw: st.DrawFn) -> Program:
    """Products, of which some are batched, in parts, or have an epilogue."""

    def pick(*options: object) -> object:
        return draw(st.sampled_from(options))

    def chance(percent: int) -> bool:
        return draw(st.integers(0, 99)) < percent

    type = pick("bf16", "f16", "f8e4m3", "f8e5m2")
    batched, parts = chance(25), chance(20)
    own = "b, " if batched else ""
    left = f"A[{own}{pick('x, k', 'k, x') if type in ('bf16', 'f16') else 'x, k'}]"
    right = f"B[{own}{pick('k, y', 'y, k') if type in ('bf16', 'f16') else 'y, k'}]"
    value = f"rdot({left}, {right}, k)"
    declared = [f"A : {type}", f"B : {type}"]
    scalar = ""
    if chance(60):
        value, more = pick(
            (f"{value} * 0.5", ""), (f"relu({value})", ""), (f"{value} + bias[y]", "bias : f32"),
            (f"{value} * rows[x] + 1", "rows : f32"), (f"abs({value} - C[{own}x, y])", f"C : {type}"),
            (f"{value} * s", "s"), (f"maximum({value}, bias[y])", "bias : f32"),
            (f"maximum({value}, C[{own}x, y]) - C[{own}x, y]", "C : f32"),
        )  # fmt: skip
        scalar = " SIn s : f32;" if more == "s" else ""
        declared += [more] if more and more != "s" else []
    consumers = pick(1, 2)
    rows = pick(64, 128, 256) if consumers == 1 else pick(128, 128, 256, 256, 64)
    tiles = {"x": rows, "y": pick(16, 32, 64, 128), "k": pick(16, 32, 64)}
    blocks = {"x": tiles["x"], "y": tiles["y"] * (2 if chance(15) else 1)}
    root = "parts" if parts else "mm"
    grid = {**({"k_part": 1} if parts else {}), **({"b": 1} if batched else {}), **blocks}
    schedule = [
        *([f"mm.rfactor(k:{pick(2, 3, 5)}, parts);"] if parts else []),
        f"{root}.block({_sizes(**grid)});",
        f"{root}.tensorize({_sizes(**tiles)});",
        f"{root}.warp_specialize(consumers:{consumers});",
        f"{root}.num_stages({pick(1, 2, 2, 3, 4)});",
    ]
    if chance(60):
        schedule.append(f"{root}.persistent({pick('', '', '2')});")
    if chance(20):
        schedule.append(f"{root}.dependent_launch();")
    if chance(25):
        # Threads store the result.
        schedule.append(f"{root}.descriptor({pick('A, B', 'A', 'B')});")
    if chance(50):
        rest = "".join(f"{label}, " for label in grid if label not in "xy")
        schedule.append(f"{root}.map({rest}{pick('x:x1/2, y, x1', 'y, x', 'x, y')});")
    output = pick("bf16", "f16", "f32")
    text = (
        f"Func mm : {output}; In {', '.join(declared)};{scalar} Var {own}x, y; RVar k;\n"
        f"mm[{own}x, y] = {value};\n" + "\n".join(schedule) + "\nmm.compile();\n"
    )
    sizes = {
        "x": draw(st.integers(1, 300)), "y": draw(st.integers(1, 150)),
        "k": draw(st.integers(0, 150)), "b": draw(st.integers(1, 3)),
    }  # fmt: skip
    return Program(text, sizes)


@st.composite
def attentions(draw: st.DrawFn) -> Program:
    """Attention over the keys that a domain keeps, with scores that are changed in some way."""

    def pick(*options: object) -> object:
        return draw(st.sampled_from(options))

    heads = draw(st.integers(1, 3))
    group = pick("h", "h", "h // 2")
    domain = pick("", "", "j <= i", "j <= i, j > i - 24", "j < i + 7", "j >= 5", "j >= i")
    where = f", {domain}" if domain else ""
    scores = pick(
        "{s} * 0.125", "{s} / sqrt(len(c))", "{s} * 0.1 + (j - i) * 0.03",
        "tanh({s} * 0.05) * 9", "where(j % 3 != 1, {s}, -8.0)", "{s} * scale",
    )  # fmt: skip
    value = str(scores).format(s=f"rdot(Q[h, i, c], K[{group}, j, c], c)")
    scalar = " SIn scale : f32;" if "scale" in value else ""
    depth, keys, consumers = pick(64, 128), pick(32, 64), pick(1, 2)
    # A group of warps has 64 rows or a multiple; what is refused is drawn seldom.
    blocks = pick(64, 64, 128) if consumers == 1 else pick(128, 128, 128, 128, 128, 64)
    type = pick("bf16", "f16")
    text = (
        f"Func s, top, p, total, o : {type}; In Q : {type}, K : {type}, V : {type};{scalar}\n"
        f"Var h = {heads}, i, d = {depth}; RVar j, c = {depth};\n"
        f"s[h, i, j] = {value};\n"
        f"top[h, i] = rmax(s[h, i, j], j{where});\n"
        "p[h, i, j] = exp(s[h, i, j] - top[h, i]);\n"
        f"total[h, i] = rsum(p[h, i, j], j{where});\n"
        f"o[h, i, d] = rdot(p[h, i, j], V[{group}, j, d], j{where}) / total[h, i];\n"
        "o.online(j); o.precision(narrow);\n"
        f"o.block(h:1, i:{blocks}); o.tensorize(i:{blocks}, j:{keys}, c:0, d:0);\n"
        f"o.map(h, {pick('i', 'i:descending')});\n"
        f"o.warp_specialize(consumers:{consumers}); o.num_stages({pick(2, 2, 3)});\n"
        f"{pick('', '', 'o.persistent();', 'o.persistent(rounds:alternating);')}"
        f"{pick('', '', ' o.descriptor(K, V);')} o.compile();\n"
    )
    return Program(text, {"i": draw(st.integers(1, 200)), "j": draw(st.integers(1, 200))})


@st.composite
def windows(draw: st.DrawFn) -> Program:
    """Products of windows of images, or sequences, whose rows are boxes of several labels."""

    def pick(*options: object) -> object:
        return draw(st.sampled_from(options))

    axes = draw(st.integers(1, 2))
    spaces, taps = "pq"[:axes], "rs"[:axes]
    reach = {tap: draw(st.integers(1, 3)) for tap in taps}
    shift, step = draw(st.integers(-2, 3)), pick(1, 1, 2)
    inside = draw(st.booleans())
    places = [
        f"{space} + {step} * {tap} + 3" if inside else f"{space} + {step} * {tap} - {shift}"
        for space, tap in zip(spaces, taps)
    ]
    read = f"X[{', '.join(['n', *places, 'c'])}]"
    if not inside:
        read = f"constant_exterior({read}, 0)"
    weights = f"W[{', '.join(['o', *taps, 'c'] if draw(st.booleans()) else [*taps, 'c', 'o'])}]"
    own = ", ".join(["n", *spaces, "o"])
    value, more = pick(
        ("{v}", ""), ("relu({v})", ""), ("{v} + bias[o]", ", bias : f32"),
        ("{v} * rows[n]", ", rows : f32"), ("{v} - R[OWN]", ", R : f16"), ("{v} + q0[p]", ", q0 : f32"),
    )  # fmt: skip
    value = str(value).replace("OWN", own).format(v=f"rdot({read}, {weights}, {', '.join(taps)}, c)")
    ends = 3 + int(str(step)) * 2
    lengths = ", ".join(
        f"{space} = size(X, {n + 1}){f' - {ends}' if inside else ''}"
        for n, space in enumerate(spaces)
    )
    counts = ", ".join(f"{tap} = {count}" for tap, count in reach.items())
    consumers = draw(st.sampled_from([1, 1, 2]))
    left, rows = 64 * consumers * draw(st.sampled_from([1, 1, 2])), dict[str, int]()
    for label in ("n", *spaces[1:]):
        rows[label] = draw(st.sampled_from([1, 2, 4, 8] if label == "n" else [2, 4, 8, 16]))
        left //= rows[label]
    rows["p"] = left
    tiles = {label: size for label, size in rows.items() if size != 1} | {
        "o": draw(st.sampled_from([16, 32, 64])), "c": draw(st.sampled_from([16, 32, 64]))
    }
    blocks = rows | {"o": tiles["o"]}
    if draw(st.booleans()):
        blocks["p"] *= 2
    text = (
        f"Func f : {pick('bf16', 'f16', 'f32')}; In X : f16, W : f16{more};\n"
        f"Var n, {lengths}, o; RVar {counts}, c;\nf[{own}] = {value};\n"
        f"f.block({_sizes(**blocks)}); f.tensorize({_sizes(**tiles)});\n"
        f"f.warp_specialize(consumers:{consumers}); f.num_stages({pick(1, 2, 3)});\n"
        f"{pick('', 'f.persistent();')}{pick('', '', ' f.descriptor(X, W);')} f.compile();\n"
    )
    most = {"n": 5, "X_1": 24, "X_2": 24, "o": 70, "c": 70}
    sizes = {label: draw(st.integers(1, size)) for label, size in most.items()}
    for axis in range(1, axes + 1):
        sizes[f"X_{axis}"] += ends if inside else 0
    sizes[f"X_{axes + 1}"] = sizes["c"] + draw(st.sampled_from([0, 0, 0, 1]))
    return Program(text, sizes)


@st.composite
def sides(draw: st.DrawFn) -> Program:
    """Products whose rows, and columns, are points of several labels, in any order of axes."""

    def pick(*options: object) -> object:
        return draw(st.sampled_from(options))

    def axes(labels: list[str], *last: str) -> str:
        found = draw(st.sampled_from(last))
        return ", ".join([*draw(st.permutations([x for x in labels if x != found])), found])

    def shares(total: int, labels: list[str], least: int) -> dict[str, int]:
        """Powers of two, the last of them no smaller than a number."""
        found = dict[str, int]()
        for label in labels[:-1]:
            found[label] = min(draw(st.sampled_from([1, 2, 4])), max(total // least, 1))
            total //= found[label]
        return found | {labels[-1]: total}

    rows = [*draw(st.sampled_from([[], ["h"]])), "x"]
    columns = [*draw(st.sampled_from([["g"], ["g"], ["e", "g"], []])), "y"]
    own = axes([*rows, *columns], "y", "y", "y", "x")
    left, right = axes([*rows, "k"], "k", "x"), axes([*columns, "k"], "k", "y")
    value, more = pick(
        ("{v}", ""), ("relu({v})", ""), ("{v} + bias[y]", ", bias : f32"),
        ("{v} * rows[x]", ", rows : f32"), (f"{{v}} - R[{own}]", ", R : f16"),
    )  # fmt: skip
    factors = [f"A[{left}]", f"B[{right}]"]
    product = f"rdot({', '.join(draw(st.permutations(factors)))}, k)"
    consumers = draw(st.sampled_from([1, 1, 2]))
    count = 64 * consumers * draw(st.sampled_from([1, 1, 2]))
    tiles = shares(count, rows, 8) | shares(draw(st.sampled_from([32, 64, 128])), columns, 16)
    block = {"x": draw(st.sampled_from([1, 1, 2])) * tiles["x"]}
    text = (
        f"Func f : {pick('bf16', 'f16', 'f32')}; In A : f16, B : f16{more};\n"
        f"Var {', '.join(draw(st.permutations([*rows, *columns])))}; RVar k;\n"
        f"f[{own}] = {str(value).format(v=product)};\n"
        f"f.block({_sizes(**tiles | block)});\n"
        f"f.tensorize({_sizes(**tiles, k=draw(st.sampled_from([16, 32, 64])))});\n"
        f"f.warp_specialize(consumers:{consumers}); f.num_stages({pick(1, 2, 3)});\n"
        f"{pick('', 'f.persistent();')}{pick('', '', ' f.descriptor(A, B);')} f.compile();\n"
    )
    most = {"h": 5, "x": 150, "e": 3, "g": 5, "y": 80, "k": 100}
    return Program(text, {label: draw(st.integers(1, size)) for label, size in most.items()})


@st.composite
def several(draw: st.DrawFn) -> Program:
    """Products that a pass computes together, some of the same factors."""

    def pick(*options: object) -> object:
        return draw(st.sampled_from(options))

    count, type = draw(st.integers(2, 3)), pick("bf16", "f16", "f8e4m3")
    turned = type != "f8e4m3"
    lefts = {name: pick("x, k", "k, x") if turned else "x, k" for name in ("A", "C")}
    rights = {name: pick("k, y", "y, k") if turned else "y, k" for name in ("B", "D", "E")}
    factors = [(pick("A", "A", "C"), pick(*rights)) for _ in range(count)]
    functions = [f"p{number}" for number in range(count)]
    products = [
        f"{name}[x, y] = rdot({left}[{lefts[str(left)]}], {right}[{rights[str(right)]}], k);"
        for name, (left, right) in zip(functions, factors)
    ]
    values = [f"{name}[x, y]" for name in functions]
    value = pick(" - ".join(values), " + ".join(values), f"{values[0]} * sigmoid({values[1]})")
    consumers = draw(st.sampled_from([1, 1, 2]))
    tiles = {
        "x": 64 * consumers * draw(st.sampled_from([1, 1, 2])), "y": pick(16, 32, 64),
        "k": pick(16, 32, 64),
    }
    used = list(dict.fromkeys(str(factor) for pair in factors for factor in pair))
    described = pick("", "", f"f.descriptor({', '.join(used[:2])});")
    text = (
        f"Func {', '.join(functions)}, f : {pick('bf16', 'f16', 'f32')}; "
        f"In {', '.join(f'{name} : {type}' for name in used)}; Var x, y; RVar k;\n"
        + "\n".join(products) + f"\nf[x, y] = {value};\nf.online(k);\n"
        f"f.block({_sizes(x=tiles['x'], y=tiles['y'])}); f.tensorize({_sizes(**tiles)});\n"
        f"f.warp_specialize(consumers:{consumers}); f.num_stages({pick(1, 2, 3)});\n"
        f"{pick('', 'f.persistent();')} {described} f.compile();\n"
    )  # fmt: skip
    return Program(text, {label: draw(st.integers(0, 150)) for label in "xyk"})


def check(program: Program, number: int = 0, gpu: bool = False) -> str:
    """Compiles and runs a program; returns what came of it.

    Args:
        program: the program.
        number: the seed of the inputs.
        gpu: whether what is printed runs on the GPU, in place of the interpreter.

    Raises:
        WrongError: if a result is wrong, or a refusal is not one in words.
    """
    algorithm, _ = compile_text(program.text, "case.dt")
    module = algorithm.clone()
    try:
        run_pipeline(module, default_pipeline("warp"))
    except CompileError as error:
        if error.location is None or not error.message:
            raise WrongError(f"a refusal without a place: {error}") from error
        return f"refused: {error.message[:90]}"
    run_pipeline(algorithm, default_pipeline("dt"))
    kernels = [op for op in module.ops if isinstance(op, warp.KernelOp)]
    if not kernels:
        raise WrongError("no kernel is specialized, and nothing was refused")
    interface = Interface.of(algorithm)
    # Most tensors are such that the wrapper takes the specialized kernel.
    given = _described(program.sizes) if gpu and number % 4 != 3 else program.sizes
    try:
        sizes = interface.sizes(
            {label: size for label, size in given.items() if label in interface.labels}
        )
    except CompileError:
        return "sizes that do not go together"
    if gpu:
        return _run_on_gpu(algorithm, module, sizes, number)
    from dt_mlir.certificates.protocols import proof_of

    _compare(algorithm, module, sizes, number)
    if not any(proof_of(kernel, SECONDS).reason for kernel in kernels):
        return "right"
    try:
        run_pipeline(module, ["verify-warp"])
    except CompileError as error:
        raise WrongError(f"an order of its groups of warps is wrong: {error}") from error
    return "right, and its barriers are tested"


def _described(sizes: dict[str, int]) -> dict[str, int]:
    """Returns sizes at which the copy engine can move all rows: their bytes are a multiple of 16."""
    last = max(sizes, key=lambda label: (label.startswith("X_"), label))
    return {
        label: -(-size // 16) * 16 if label in ("x", "y", "k", "c", "o", last) else size
        for label, size in sizes.items()
    }


def _run_on_gpu(
    algorithm: ModuleOp, module: ModuleOp, sizes: dict[str, int], number: int
) -> str:
    special = number % 2 == 1
    try:
        found = run_and_check(algorithm, emit_module(module), sizes, number, special=special)
    except CompileError as error:
        raise WrongError(f"{error}: {sizes}") from error
    return f"right on {found.device}"


def _compare(algorithm: ModuleOp, module: ModuleOp, sizes: dict[str, int], number: int) -> None:
    interface = Interface.of(algorithm)
    generator = np.random.default_rng(number)
    found: list[dict[str, np.ndarray]] = []
    arrays = {
        item.name: np.round(generator.standard_normal(interface.shape(item, sizes)) * 4) / 4
        for item in interface.inputs
    }
    errors: list[dict[str, np.ndarray]] = []
    for own in (algorithm, module):
        arithmetic = BoundedArithmetic(Accuracy.of(own))
        inputs = {
            item.name: arithmetic.from_array(arrays[item.name], item.element)
            for item in interface.inputs
        }
        results = run_module(own, inputs, sizes, arithmetic)
        found.append({name: np.asarray(value.value) for name, value in results.items()})
        errors.append({name: np.asarray(value.error) for name, value in results.items()})
    narrow = "narrow" in str(module)
    for name in output_names(algorithm):
        want, got = found[0][name], found[1][name]
        decided = np.isfinite(errors[0][name]) & np.isfinite(want)
        allowed = errors[0][name] + errors[1][name]
        if narrow:
            allowed = NARROW * np.max(np.abs(want[decided]), initial=0.0) + np.zeros(want.shape)
        wrong = decided & ~(np.abs(got - want) <= allowed)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise WrongError(f"{name}{list(at)} is {got[at]}, and should be {want[at]}: {sizes}")


def run(number: int, cases: int, gpu: bool = False) -> Counter[str]:
    """Checks programs of a seed; returns how many came to what.

    Args:
        number: the seed.
        cases: how many programs are drawn.
        gpu: see `check`.

    Raises:
        WrongError: with the smallest program that shows a fault.
    """
    tally: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=cases, database=None, deadline=None, print_blob=False,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(st.one_of(products(), windows(), attentions(), sides(), several()), st.integers(0, 999))
    def checked(program: Program, inputs: int) -> None:
        tally[check(program, inputs, gpu)] += 1

    checked()
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description="Checks drawn kernels whose warps are specialized.")
    parser.add_argument("--cases", type=int, default=100, help="how many programs are drawn")
    parser.add_argument("--seed", type=int, default=0, help="the seed that they are drawn from")
    parser.add_argument("--gpu", action="store_true", help="run what is printed on the GPU")
    args = parser.parse_args()
    if args.gpu and prepare_triton() != "cuda":
        parser.error("--gpu: there is no GPU")
    print(dict(run(args.seed, args.cases, args.gpu)))


if __name__ == "__main__":
    main()
