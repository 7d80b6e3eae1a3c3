"""Small programs for each part of the language (`tests/language`), with and without schedules."""

import pytest
from forms import programs
from texts import replaced, text_of

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import random_inputs, run_module
from dt_mlir.runtime.execute import run_and_check

FORMS = programs("expressions", "reductions", "products", "schedules", "parts", "scans")
FUSED = programs("fused")
STORED = programs("stored")
TYPED = programs("types")
BATCHED = programs("batched")
SINGLE = programs("single")

SIZES = [dict.fromkeys("xyzkj", size) for size in (19, 32, 2)]
FEW = 9
"""The size of batches and of further labels of a depth, which programs have beside these: more than a
tile."""


def compiled_for(text: str, name: str, sizes: dict[str, int]) -> Compiled:
    """Compiles a program for sizes of its labels."""
    interface = Interface.of(compile_program(text, name).algorithm)
    fixed = {label: n for label, n in interface.sizes(sizes).items() if label in interface.used}
    return compile_program(text, name, sizes=fixed)


def declared(sizes: dict[str, int], text: str) -> dict[str, int]:
    """Returns the sizes of labels that a program declares."""
    interface = Interface.of(compile_program(text).algorithm)
    given = {label: size for label, size in sizes.items() if label in interface.labels}
    others = (group for group in interface.groups if given.keys().isdisjoint(group))
    return given | {group[0]: FEW for group in others if group[0] in ("b", "c", "i", "n")}


def check(compiled: Compiled, sizes: dict[str, int], seed: int) -> None:
    run_and_check(compiled.algorithm, compiled.source, sizes, seed=seed)


@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(FORMS))
def test_program(name: str, sizes: dict[str, int]) -> None:
    check(compile_program(FORMS[name], name), declared(sizes, FORMS[name]), seed=3)


@pytest.mark.parametrize("sizes", SIZES[:2], ids=["ragged", "aligned"])
@pytest.mark.parametrize("name", list(FORMS))
def test_program_for_fixed_sizes(name: str, sizes: dict[str, int]) -> None:
    given = declared(sizes, FORMS[name])
    check(compiled_for(FORMS[name], name, given), given, seed=3)


@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(FUSED))
def test_fused(name: str, sizes: dict[str, int]) -> None:
    check(compile_program(FUSED[name], name), declared(sizes, FUSED[name]), seed=4)


@pytest.mark.parametrize("fixed", [False, True], ids=["", "fixed"])
@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(STORED))
def test_aligned_storage(name: str, sizes: dict[str, int], fixed: bool) -> None:
    text = STORED[name]
    given = declared(sizes, text)
    program = compiled_for(text, name, given) if fixed else compile_program(text, name)
    check(program, given, seed=6)
    # The interpreter of tiles refuses to read padding that nothing has written.
    interface = Interface.of(program.algorithm)
    arithmetic = BoundedArithmetic(Accuracy.of(program.algorithm))
    all_sizes = interface.sizes(given)
    inputs = random_inputs(interface, all_sizes, arithmetic, 6)
    run_module(program.module, inputs, all_sizes, arithmetic)


SQUARE = ("types/casts", "types/bool", "types/u8")
"""Programs that read one tensor by two labels."""


@pytest.mark.parametrize("tiled", [True, False], ids=["tiled", "scalar"])
@pytest.mark.parametrize("name", list(TYPED))
def test_types(name: str, tiled: bool) -> None:
    text = TYPED[name]
    if tiled:
        tiles = "x:16, y:16, k:16" if "RVar k" in text else "x:16, y:16"
        schedule = f"f.block(x:16, y:16);\nf.tensorize({tiles});\n"
        text = replaced(text, ("f.compile();", f"{schedule}f.compile();"))
    sizes = {"x": 21, "y": 18, "k": 25} if tiled else {"x": 5, "y": 4, "k": 6}
    if name in SQUARE:
        sizes = dict.fromkeys(sizes, 21 if tiled else 5)
    check(compile_program(text, name), declared(sizes, text), seed=5)


@pytest.mark.parametrize("name", list(BATCHED))
def test_batched_products(name: str) -> None:
    check(compile_program(BATCHED[name], name), {"x": 18, "y": 21, "z": 5, "k": 19}, seed=5)


SCALARS = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u8", "bool"]


@pytest.mark.parametrize("type", SCALARS)
def test_scalars(type: str) -> None:
    text = replaced(SINGLE["single/scalar"], ("SIn n;", f"SIn n : {type};"))
    check(compile_program(text, type), {"x": 13}, seed=6)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("six_blocked_labels", {"a": 5, "b": 2, "c": 3, "d": 2, "e": 2, "g": 5}),
        ("label_that_only_the_caller_knows", {"x": 5, "y": 11}),
        ("no_inputs", {"x": 3, "y": 9}),
        ("names_that_collide", {"INDEX": 6, "triton": 7, "for": 5}),
    ],
)
def test_one_size(name: str, sizes: dict[str, int]) -> None:
    check(compile_program(SINGLE[f"single/{name}"], name), sizes, seed=5)


def test_fused_output_where_the_root_is_empty() -> None:
    text = FUSED["fused/two_outputs_the_root_empty"]
    check(compile_program(text, "empty"), {"x": 5, "z": 0}, seed=10)


def test_a_long_sum() -> None:
    total = " + ".join(["A[x]"] * 150)
    text = text_of("copy", ("A[x];", f"{total};\nf.tensorize(x:4);"))
    check(compile_program(text), {"x": 5}, seed=11)
