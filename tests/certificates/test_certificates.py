"""Certificates of programs, and what a checker makes of them."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr

import dt_mlir
from dt_mlir.certificates.certify import APPROXIMATED, certify
from dt_mlir.certificates.obligation import Certificate, Kind, Verdict
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.dialects import elem
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.frontend.emit import compile_text
from dt_mlir.passes import schedule_online_merge
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.scheduling.space import Space
from dt_mlir.tools.dt_check import check

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
PROGRAMS = sorted((ROOT / "benchmarks" / "programs").glob("*.dt"))
OPERATORS = sorted((ROOT / "tests" / "operators").glob("*.dt"))
SLOW = ("conv2d", "conv2d_strided", "conv2d_pointwise", "conv2d_depthwise", "decoding")
"""Programs of which not all is proved in a short time."""
LARGE = (
    "attention_window", "attention_causal", "attention_causal_64", "attention_grouped",
)  # fmt: skip
"""Programs with an obligation that they would have to be run for, which are too large for it."""


def tiles(text: str, name: str = "program") -> ModuleOp:
    """Returns a program at the `tile` level, under the first schedule of its space."""
    module, _ = compile_text(text, name)
    space = Space(module)
    point = dict(next(iter(space.points()))) if len(space) > 1 else {}
    run_pipeline(module, default_pipeline("tile", choices=point))
    return module


@pytest.mark.parametrize("path", [*EXAMPLES, *PROGRAMS], ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_nothing_of_a_right_program_is_refuted(path: Path) -> None:
    test = path.stem not in SLOW
    # A machine that is busy otherwise takes longer than for this alone.
    whole = 40.0 if test else 10.0
    found = certify(tiles(path.read_text(), path.name), whole=whole, test=test)
    counts = found.count()
    if test:
        assert not found.refuted
    if path in EXAMPLES:
        assert set(counts) <= {Verdict.PROVED, Verdict.ASSUMED}
    for item in found.obligations:
        unrun = path.stem in LARGE and "it cannot be run here" in item.reason
        known = item.reason == APPROXIMATED or unrun
        assert item.verdict is not Verdict.ASSUMED or known or not test
        assert item.verdict is not Verdict.PROVED or item.questions


def test_what_nobody_defines_is_not_refuted() -> None:
    """The only index is 0, by which nothing can be divided."""
    text = "In A; Func f; Var x = 1, y; f[x, y] = A[y] * 0 + x // x; f.compile();"
    assert not certify(tiles(text)).refuted


@pytest.mark.parametrize(
    "text",
    [
        # A sum over a label that its elements do not have.
        "In A; Func f; Var x; RVar k, j; f[x] = rsum(rsum(A[k], k) * 2, j); f.compile();",
        # Sums of rows that are masked.
        "In A; Func f; Var z; RVar x, y; f[z] = rsum(repeat_edge(A[5 * x + 3 * y]), x, y); "
        "f.tensorize(x:16, y:16); f.compile();",
        # An axis that is read at a number, and has a label.
        "In A; Func f; Var x; RVar y; f[y, x] = A[3, x] + A[y, x]; f.compile();",
        # An index that a truth value chooses.
        "SIn s : bool; Func f; Var x; f[x] = x + where(s, x, 2 * x); f.tensorize(x:16); "
        "f.compile();",
    ],
)
def test_what_is_proved(text: str) -> None:
    found = certify(tiles(text), test=False)
    assert set(found.count()) == {Verdict.PROVED}


@pytest.mark.parametrize(
    ("domain", "verdict"),
    [
        ("k <= x", Verdict.PROVED),
        ("k >= x", Verdict.TESTED),
        ("k >= x, k <= x + 3, k >= x - 3", Verdict.TESTED),
        ("2 * k <= x, k >= x - x", Verdict.PROVED),
        ("2 * k <= x + 1, 2 * k >= x + 1", Verdict.TESTED),
        ("k + 1 <= len(k)", Verdict.PROVED),
        ("k + 2 <= len(k)", Verdict.TESTED),
    ],
)
def test_extremes_have_elements(domain: str, verdict: Verdict) -> None:
    text = f"In A; Func f; Var x; RVar k; f[x] = rmax(A[x, k], k, {domain}); f.compile();"
    found = certify(tiles(text), test=False)
    (own,) = (item for item in found.obligations if item.statement.endswith("is finite"))
    assert own.statement == "the maximum over k in 'f' is finite"
    assert (own.verdict, own.kernel) == (verdict, "f")


def test_a_row_without_elements_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of exponentials is NaN where the pass believes that each row has an element."""
    text = """
    Func top, f; In A; Var x; RVar k;
    top[x] = rmax(A[x, k], k, 2 * k >= x + 1, 2 * k <= x + 1);
    f[x] = rsum(exp(A[x, k] - top[x]), k, 2 * k >= x + 1, 2 * k <= x + 1);
    f.online(k);
    f.compile();
    """
    assert not certify(tiles(text)).refuted

    def no_conditions(constraints: Sequence[AffineExpr], size: AffineExpr) -> list[AffineExpr]:
        return []

    monkeypatch.setattr(schedule_online_merge, "point_conditions", no_conditions)
    (wrong,) = certify(tiles(text)).refuted
    assert wrong.statement == "the maximum over k in 'top' is finite"


def test_a_factor_outside_of_a_domain_is_tested() -> None:
    """A dot multiplies all of its elements: an infinity times 0 is no 0."""
    text = """
    Func f; In A : f16, B : f16; Var x, y; RVar k;
    f[x, y] = rdot(A[x, k], B[k, y], k, k <= x);
    f.tensorize(x:16, y:16, k:16);
    f.compile();
    """
    statement = "no factor outside of its domain reaches the sum over k in 'f'"
    right = certify(tiles(text))
    (own,) = (item for item in right.obligations if item.statement == statement)
    assert own.verdict is Verdict.TESTED
    assert own.reason.startswith("infinities are no terms; it holds with ")


def test_a_wrong_neutral_element_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler's definition of what is neutral is not the certificate's."""
    text = "In A; Func f; Var x; RVar k; f[x] = rmin(A[x, k], k); f.tensorize(x:4, k:8); f.compile();"
    assert not certify(tiles(text)).refuted
    right = elem.identity

    def wrong(kind: ReductionKind, type: Attribute) -> FloatAttr | IntegerAttr:
        if kind is ReductionKind.MINIMUM and isinstance(type, AnyFloat):
            return FloatAttr(0.0, type)
        return right(kind, type)

    for module in list(sys.modules.values()):
        if module.__name__.startswith("dt_mlir.") and vars(module).get("identity") is right:
            monkeypatch.setattr(module, "identity", wrong)
    assert certify(tiles(text)).refuted


@pytest.mark.parametrize("paths", [EXAMPLES, OPERATORS], ids=["examples", "operators"])
def test_few_obligations_are_merely_tested(paths: list[Path]) -> None:
    total: Counter[Verdict] = Counter()
    for path in paths:
        total += certify(tiles(path.read_text(), path.name), test=False).count()
    # Counterexamples that no run confirms are tested, too.
    assert total[Verdict.TESTED] + total[Verdict.REFUTED] <= 0.05 * total.total()


def written(tmp_path: Path, name: str = "matmul") -> tuple[Path, Path]:
    """Returns the files of an example's IR and of its certificate."""
    module, certificate = tmp_path / f"{name}.mlir", tmp_path / f"{name}.json"
    source = ROOT / "examples" / f"{name}.dt"
    for command in (
        ["--emit", "warp", "-o", module], ["--certify", "--certificate", certificate],
    ):  # fmt: skip
        subprocess.run(
            [BIN / "dtc", source, *command], check=True, capture_output=True, timeout=120
        )
    return module, certificate


def test_a_certificate_is_checked_anew(tmp_path: Path) -> None:
    module, certificate = written(tmp_path)
    found = check(str(module), str(certificate), SourceTexts())
    assert "matmul.json: 11 obligations hold anew: 11 proved\ncertificate " in found


def resealed(found: dict[str, Any]) -> str:
    """Returns a certificate that was changed as JSON, with the digest of what it says now."""
    try:
        Certificate.from_json(json.dumps(found), "it")
    except CompileError as error:
        found["digest"] = error.message.split()[-1]
    return json.dumps(found)


def change(path: Path, **changes: Any) -> None:
    """Changes the first obligation of a certificate, or removes it."""
    found = json.loads(path.read_text())
    first = found["obligations"].pop(0)
    if changes:
        found["obligations"].insert(0, {**first, **changes})
    path.write_text(resealed(found))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "the certificate lacks an obligation of the wrapper: it takes and returns what the"),
        ({"statement": "all is well"}, "the certificate lacks an obligation of the wrapper"),
        ({"verdict": "refuted"}, "the certificate itself says that it is refuted: it takes and"),
    ],
)
def test_a_changed_certificate_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    module, certificate = written(tmp_path)
    change(certificate, **changes)
    with pytest.raises(CompileError) as caught:
        check(str(module), str(certificate), SourceTexts())
    assert message in caught.value.message
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "mm.block(x:1, y:1);"}, "says something else of the directive mm.block(x:128, "),
        ({"obligations": [0]}, "says something else of the directive mm.block(x:128, y:128);"),
        ({}, "says something else of the directive mm.block"),
    ],
)
def test_changed_directives_are_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    module, certificate = written(tmp_path)
    found = json.loads(certificate.read_text())
    first = found["directives"].pop(0)
    if changes:
        found["directives"].insert(0, {**first, **changes})
    certificate.write_text(resealed(found))
    with pytest.raises(CompileError) as caught:
        check(str(module), str(certificate), SourceTexts())
    assert message in caught.value.message


def test_a_directive_too_few_is_refused(tmp_path: Path) -> None:
    module, certificate = written(tmp_path)
    found = json.loads(certificate.read_text())
    del found["directives"][-1]
    certificate.write_text(resealed(found))
    with pytest.raises(CompileError, match="the program has 5 directives"):
        check(str(module), str(certificate), SourceTexts())


def test_a_certificate_that_was_changed_has_another_digest(tmp_path: Path) -> None:
    _, certificate = written(tmp_path)
    found = json.loads(certificate.read_text())
    found["obligations"][0]["verdict"] = "tested"
    with pytest.raises(CompileError, match="names the digest [0-9a-f]{16}, and what it says has"):
        Certificate.from_json(json.dumps(found), "it")


def test_a_certificate_of_another_program_is_refused(tmp_path: Path) -> None:
    module, _ = written(tmp_path)
    _, other = written(tmp_path, "gram")
    with pytest.raises(CompileError, match="the certificate is that of another algorithm"):
        check(str(module), str(other), SourceTexts())


def test_a_certificate_of_other_ir_is_refused(tmp_path: Path) -> None:
    module, certificate = written(tmp_path)
    module.write_text(module.read_text().replace("num_warps = 4", "num_warps = 8"))
    with pytest.raises(CompileError, match="the certificate is that of other IR"):
        check(str(module), str(certificate), SourceTexts())


def test_ir_that_is_wrong_is_said_to_be(tmp_path: Path) -> None:
    """A fault that is planted into the IR is named, rather than that the IR is another one."""
    module, certificate = written(tmp_path)
    module.write_text(module.read_text().replace("divisor 32", "divisor 16"))
    with pytest.raises(CompileError, match=r"what 'mm' loads of 'A' is inside of it: with x = 1, "):
        check(str(module), str(certificate), SourceTexts())


def test_an_obligation_too_many_is_refused(tmp_path: Path) -> None:
    module, certificate = written(tmp_path)
    found = json.loads(certificate.read_text())
    found["obligations"].append(found["obligations"][0])
    certificate.write_text(resealed(found))
    with pytest.raises(CompileError, match="the program has no obligation such as: it takes and"):
        check(str(module), str(certificate), SourceTexts())


def test_more_is_claimed_than_holds(tmp_path: Path) -> None:
    module, certificate = written(tmp_path, "swish")
    found = json.loads(certificate.read_text())
    (assumed,) = [item for item in found["obligations"] if item["verdict"] == "assumed"]
    assumed["verdict"] = "proved"
    certificate.write_text(resealed(found))
    with pytest.raises(CompileError, match="claims that it is proved what is only assumed here"):
        check(str(module), str(certificate), SourceTexts())


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "3", '{"version": 2}', '{"version": 2, "obligations": [{}]}', "\0", "[" * 9999],
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match="this is not a certificate"):
        Certificate.from_json(text, "it")


@pytest.mark.parametrize("version", ["0", "true", "null", "[2]"])
def test_another_version_is_refused(version: str) -> None:
    with pytest.raises(CompileError, match="the certificate is of version "):
        Certificate.from_json(f'{{"version": {version}}}', "it")


def test_sizes_are_numbers() -> None:
    found = json.loads(certify(tiles((ROOT / "examples" / "matmul.dt").read_text())).to_json())
    found["obligations"][0]["sizes"] = {"x": float("inf")}
    with pytest.raises(CompileError, match="this is not a certificate .OverflowError"):
        Certificate.from_json(json.dumps(found), "it")


def test_json_holds_all_of_a_certificate() -> None:
    found = certify(tiles((ROOT / "examples" / "softmax.dt").read_text()))
    again = Certificate.from_json(found.to_json(), "it")
    assert again.to_json() == found.to_json()
    assert again.digest == found.digest
    assert str(again) == str(found)


def test_the_time_for_all_questions_is_limited() -> None:
    found = certify(tiles((ROOT / "examples" / "matmul.dt").read_text()), whole=0.0)
    interface, *rest = found.obligations
    assert interface.verdict is Verdict.PROVED
    assert all(item.verdict is Verdict.TESTED for item in rest)


def test_the_certificate_travels(tmp_path: Path) -> None:
    """The emitted module names it, and a kernel of Python has it."""
    source = ROOT / "examples" / "matmul.dt"
    module = tmp_path / "matmul.py"
    done = subprocess.run(
        [BIN / "dtc", source, "--certify", "-o", module],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    digest = done.stdout.splitlines()[-1].removeprefix("certificate ")
    assert f"\nCertificate {digest}.\n" in module.read_text()
    compile(module.read_text(), "matmul.py", "exec")
    kernel = dt_mlir.parse(source.read_text()).compile()
    assert kernel.certificate.count() == {Verdict.PROVED: 11}
    assert kernel.certificate is kernel.certificate


def test_the_solver_is_optional() -> None:
    text = (
        "import sys; sys.modules['z3'] = None; from dt_mlir.tools.entry import dtc; "
        "sys.argv = ['dtc', sys.argv[1], '--certify']; dtc()"
    )
    done = subprocess.run(
        [sys.executable, "-c", text, ROOT / "examples" / "matmul.dt"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "error: certificates need z3" in done.stderr
    assert "help: pip install 'dt-mlir[certify]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_takes_no_sizes_is_not_proved() -> None:
    text = (
        "Func f0, f1, f2; In A : f32; Var x; RVar y, z; "
        "f0[z, y] = rdot(A[z + 1, x, z + 1], 0.5, x); f1[x] = A[x, x, x]; f2[x] = f0[x, x]; "
        "f2.compile(); f1.compile();"
    )
    found = certify(tiles(text), test=False)
    assert found.obligations[-1].verdict is Verdict.TESTED
    assert found.obligations[-1].reason.startswith("the wrapper accepts no sizes but those of")


SCANS = {
    "sums": "f[i, x] = rsum(A[i, k], k, k <= x); f.scan(x); f.block(i:4); f.tensorize(i:4, x:8);",
    "products in a row": "f[i, x] = rprod(A[i, k], k, k <= x); f.scan(x); f.tensorize(x:8);",
    "maxima from the end": (
        "f[i, x] = rmax(A[i, k], k, k >= x); f.scan(x); f.block(i:4); f.tensorize(i:4, x:16);"
    ),
    "minima, one by one": "f[i, x] = rmin(A[i, k], k, k <= x); f.scan(x);",
    "sums of what is computed": (
        "f[i, x] = exp(rsum(A[i, k] * A[i, k] - 1, k, k <= x)); f.scan(x); f.tensorize(x:4);"
    ),
}


@pytest.mark.parametrize("scan", SCANS)
def test_what_is_combined_up_to_each_index_is_proved(scan: str) -> None:
    """A store takes what the loop carries: the combination over the trips before."""
    text = f"Func f; In A; Var i, x = size(A, 1); RVar k; {SCANS[scan]} f.compile();"
    found = certify(tiles(text))
    assert set(found.count()) == {Verdict.PROVED}
    assert Kind.REDUCED in {item.kind for item in found.obligations}


PLACES = {
    "in rows": "f[x] = rargmax(A[x, k], k); f.block(x:4); f.tensorize(x:4, k:8);",
    "one by one": "f[x] = rargmin(A[x, k], k);",
    "of whole rows": "f[x] = rargmax(A[x, k], k); f.tensorize(k:0);",
    "of what is computed": "f[x] = rargmin(exp(A[x, k]) - A[x, 0], k); f.tensorize(k:16);",
    "with the extreme": "f[x] = rargmax(A[x, k], k) + rmax(A[x, k], k); f.online(k); f.tensorize(k:8);",
}


@pytest.mark.parametrize("place", PLACES)
def test_places_of_extremes_are_proved(place: str) -> None:
    text = f"Func f; In A; Var x; RVar k; {PLACES[place]} f.compile();"
    found = certify(tiles(text))
    assert set(found.count()) == {Verdict.PROVED}
    words = ("later elements have larger indices", "the index of the element")
    assert all(any(word in item.statement for item in found.obligations) for word in words)


def test_a_recurrence_that_a_loop_carries_into_a_store_is_tested() -> None:
    text = (
        "Func h; In A, B; Var t; RVar j = len(t), i; "
        "h[t] = rsum(B[j] * rprod(A[i], i, i > j, i <= t), j, j <= t); "
        "h.scan(t); h.tensorize(t:8); h.compile();"
    )
    counts = certify(tiles(text)).count()
    assert counts[Verdict.TESTED]
    assert not counts[Verdict.REFUTED]
