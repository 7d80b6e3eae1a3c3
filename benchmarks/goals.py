"""The goals of the project, and whether what was measured reaches them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from row import Row
from workloads import Workload


@dataclass(frozen=True)
class Goal:
    """A ratio that is wanted of some workloads."""

    text: str
    least: float
    chosen: Callable[[Workload], bool]
    ratio: Callable[[Row], float | None]


def _square(*sizes: int) -> Callable[[Workload], bool]:
    return lambda w: w.program == "matmul" and set(w.sizes.values()) == set(sizes) and not w.types


def _program(*names: str) -> Callable[[Workload], bool]:
    return lambda w: w.program in names and w.group != "models"


def _attention(name: str, length: int) -> Callable[[Workload], bool]:
    return lambda w: w.program == name and w.sizes["j"] == length


GOALS = (
    Goal("product bf16 8192³ / cuBLAS, single", 1.01, _square(8192),
         lambda r: r.ratio("eager", kind="single")),
    Goal("product bf16 8192³ / cuBLAS, sustained", 1.0, _square(8192),
         lambda r: r.ratio("eager", kind="sustained")),
    Goal("product bf16 4096³ / cuBLAS, single", 1.08, _square(4096),
         lambda r: r.ratio("eager", kind="single")),
    Goal("product bf16 4096³ / cuBLAS, sustained", 0.97, _square(4096),
         lambda r: r.ratio("eager", kind="sustained")),
    Goal("product bf16 2048³ / cuBLAS", 1.02, _square(2048), lambda r: r.ratio("eager")),
    Goal("product bf16 1024³ / cuBLAS, hot", 0.95, _square(1024),
         lambda r: r.ratio("eager", kind="hot")),
    Goal("product with sigmoid, with bias and GELU / max-autotune, single", 1.05,
         _program("matmul_sigmoid", "matmul_bias_gelu"),
         lambda r: r.ratio("max_autotune", kind="single")),
    Goal("ragged product f16 / the best of torch and torch.compile", 1.0,
         lambda w: w.program == "matmul_ragged" and bool(w.types), lambda r: r.ratio()),
    Goal("batched product 32×1024³ / cuBLAS", 0.95, _program("batched_matmul"),
         lambda r: r.ratio("eager")),
    Goal("product / a kernel of Triton written by hand with the same tiles", 0.98,
         lambda w: _square(4096)(w) or _square(8192)(w), lambda r: r.ratio("expert")),
    *(
        Goal(f"attention, {kind}, heads of 128, {length} / cuDNN", least, _attention(name, length),
             lambda r: r.ratio("cudnn"))
        for kind, name, steps in (
            ("plain", "attention_online", (0.93, 0.98, 1.02)),
            ("causal", "attention_causal", (0.95, 1.0, 1.05)),
        )
        for length, least in zip((2048, 4096, 16384), steps)
    ),
    Goal("attention, heads of 64 / cuDNN", 0.9,
         _program("attention_online_64", "attention_causal_64"), lambda r: r.ratio("cudnn")),
    Goal("attention in a window / FlexAttention", 1.25, _program("attention_window"),
         lambda r: r.ratio("flex")),
    Goal("attention with ALiBi / FlexAttention", 1.2, _program("attention_alibi"),
         lambda r: r.ratio("flex")),
    Goal("attention with a soft cap / FlexAttention", 1.4, _program("attention_soft_cap"),
         lambda r: r.ratio("flex")),
    Goal("DyT / torch.compile", 1.2, _program("dyt"), lambda r: r.ratio("compile")),
    Goal("softmax f32 / the best of torch, torch.compile, Liger", 1.0,
         _program("softmax_stable"),
         lambda r: r.ratio("eager", "compile", "max_autotune", "liger")),
    Goal("softmax f32 4096×16384 / copy bandwidth", 0.95,
         lambda w: _program("softmax_stable")(w) and w.sizes["y"] == 16384, Row.of_copy),
    Goal("layer norm, RMS norm bf16 / the best of them", 1.0,
         _program("layer_norm", "rms_norm"), lambda r: r.ratio()),
    Goal("elementwise 16384² / copy bandwidth", 0.97,
         lambda w: w.group == "elementwise" and 128 not in w.sizes.values(), Row.of_copy),
    Goal("2mm, one kernel / max-autotune", 1.5,
         lambda w: w.program.startswith("two_matmul") and w.sizes["m"] < 8192,
         lambda r: r.ratio("max_autotune")),
    Goal("attention of whole rows, 4096×64, l = 256 / the best of SDPA and torch.compile", 1.3,
         lambda w: w.program == "attention" and w.sizes["l"] == 256,
         lambda r: r.ratio("sdpa", "compile", "max_autotune")),
)  # fmt: skip
"""The goals of single workloads; ratios above 1 mean that the tuned schedule is faster."""


def of_all(rows: Sequence[Row], ranks: Mapping[str, float]) -> list[str]:
    """Returns the table of the goals of the whole suite.

    Args:
        rows: what was measured.
        ranks: of workloads whose schedules were ranked, the coefficient of correlation with times.
    """
    lines = ["| over the suite | goal | measured | |", "| --- | --- | --- | --- |"]

    def add(text: str, least: float, value: float | None, note: str = "") -> None:
        if value is None:
            lines.append(f"| {text} | ≥ {least} | | not measured |")
            return
        # Just short of a goal, the second digit would hide it.
        shown = f"{value:.3f}" if round(value, 2) >= least > value else f"{value:.2f}"
        verdict = "reached" if value >= least else "missed"
        lines.append(f"| {text} | ≥ {least} | {shown}{note} | {verdict} |")

    autos = {row.name: ratio for row in rows if (ratio := row.of_tuned()) is not None}
    mean = exp(sum(map(log, autos.values())) / len(autos)) if autos else None
    worst = min(autos, key=lambda name: autos[name], default=None)
    add("`auto` / tuned, geometric mean", 0.9, mean, f" ({len(autos)} rows)")
    add("`auto` / tuned, least", 0.7, None if worst is None else autos[worst], f" ({worst})")
    compiled = [
        ratio * row.ratio("compile") for row in rows
        if (ratio := row.of_tuned()) is not None and row.ratio("compile") is not None
    ]  # fmt: skip
    add("`auto` / torch.compile, median", 1.0, median(compiled) if compiled else None,
        f" ({len(compiled)} rows)")  # fmt: skip
    against = [ratio for row in rows if (ratio := row.ratio()) is not None]
    share = sum(round(ratio, 2) >= 1 for ratio in against) / len(against) if against else None
    add("rows where the tuned schedule is as fast as the best baseline, a part of all", 0.8, share,
        f" ({len(against)} rows)")  # fmt: skip
    lowest = min(ranks, key=lambda name: ranks[name], default=None)
    add("ranks by predicted and by measured time (Spearman), median", 0.8,
        median(ranks.values()) if ranks else None, f" ({len(ranks)} workloads)")  # fmt: skip
    add("the same, least", 0.5, None if lowest is None else ranks[lowest], f" ({lowest})")
    return lines


def of_workloads(rows: Sequence[Row]) -> list[str]:
    """Returns the table of the goals of single workloads."""
    lines = ["| work | goal | measured | |", "| --- | --- | --- | --- |"]
    for goal in GOALS:
        found = [
            value for row in rows
            if goal.chosen(row.workload) and (value := goal.ratio(row)) is not None
        ]  # fmt: skip
        if not found:
            lines.append(f"| {goal.text} | ≥ {goal.least} | | not measured |")
            continue
        shown = ", ".join(f"{value:.2f}" for value in found)
        verdict = "reached" if round(min(found), 2) >= goal.least else "missed"
        lines.append(f"| {goal.text} | ≥ {goal.least} | {shown} | {verdict} |")
    ragged = _ragged(rows)
    text = "product 4100³ / 4096³, operations a second"
    shown = "" if ragged is None else f"{ragged:.2f}"
    verdict = "not measured" if ragged is None else "reached" if ragged >= 0.65 else "missed"
    lines.append(f"| {text} | ≥ 0.65 | {shown} | {verdict} |")
    return lines


def _ragged(rows: Sequence[Row]) -> float | None:
    """Returns the rate of a product whose sizes divide by nothing over that of one whose do."""
    rates: dict[int, float] = {}
    for row in rows:
        for program, size in (("matmul", 4096), ("matmul_ragged", 4100)):
            if row.workload.program == program and set(row.workload.sizes.values()) == {size}:
                rates[size] = row.rate()[0]
    return rates[4100] / rates[4096] if len(rates) == 2 else None
