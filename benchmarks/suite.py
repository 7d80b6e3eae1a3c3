"""The workloads of the evaluation: programs with spaces of schedules, sizes, and what they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Workload:
    """A program at some sizes."""

    group: str
    """The workloads that it is measured together with."""
    program: str
    """The file in `programs/`, without its ending."""
    sizes: Mapping[str, int]
    """A size for each label."""
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    """Element types that are declared anew."""
    baselines: tuple[str, ...] = ()
    """The functions of `baselines.py` that it is compared with; `copy` is no competitor."""

    @property
    def operations(self) -> int:
        """The floating-point operations of its matrix products; 0 where it has none."""
        n = self.sizes
        match self.program:
            case "matmul" | "matmul_ragged" | "matmul_sigmoid" | "matmul_bias_gelu":
                return 2 * n["x"] * n["y"] * n["k"]
            case "batched_matmul":
                return 2 * n["b"] * n["x"] * n["y"] * n["k"]
            case "two_matmul_outer" | "two_matmul_inner":
                return 2 * n["m"] * n["l"] * (n["k"] + n["n"])
            case "attention":
                return 2 * n["m"] * n["l"] * (n["k"] + n["n"])
            case _:
                return 0

    @property
    def name(self) -> str:
        """The name in tables and files."""
        kinds = sorted(set(self.types.values()))
        parts = [self.program, "x".join(map(str, self.sizes.values())), *kinds]
        return "-".join(parts)


_TORCH = ("eager", "compile", "max_autotune")


def _against(function: str, *others: str) -> tuple[str, ...]:
    """PyTorch's ways to run a function, and others."""
    return (*(f"{function}_{way}" for way in _TORCH), *others)


def _products() -> list[Workload]:
    found: list[Workload] = []
    compared = _against("matmul", "matmul_expert")
    for n in (1024, 2048, 4096, 8192):
        found.append(Workload("matmul", "matmul", {"x": n, "y": n, "k": n}, {}, compared))
    others = ((16384, 1024, 1024), (1024, 16384, 1024), (512, 512, 16384), (4100, 4100, 4100))
    for x, y, k in others:
        found.append(Workload("matmul", "matmul", {"x": x, "y": y, "k": k}, {}, compared))
    half = dict.fromkeys(("A", "B", "mm"), "f16")
    ragged = {"x": 4095, "y": 4097, "k": 4093}
    found.append(Workload("matmul", "matmul", ragged, half, _against("matmul")))
    copied = {**half, "A_copy": "f16", "B_copy": "f16"}
    found.append(Workload("matmul", "matmul_ragged", ragged, copied, _against("matmul")))
    odd = {"x": 4100, "y": 4100, "k": 4100}
    found.append(Workload("matmul", "matmul_ragged", odd, {}, _against("matmul")))
    square = {"x": 4096, "y": 4096, "k": 4096}
    for program in ("matmul_sigmoid", "matmul_bias_gelu"):
        found.append(Workload("epilogues", program, square, {}, _against(program)))
    batched = {"b": 32, "x": 1024, "y": 1024, "k": 1024}
    found.append(Workload("epilogues", "batched_matmul", batched, {}, _against("matmul")))
    return found


def _rows() -> list[Workload]:
    found: list[Workload] = []
    for x, y in ((4096, 1024), (4096, 4096), (4096, 5000), (4096, 16384), (2048, 65536)):
        compared = _against("softmax", "softmax_liger", "softmax_expert", "copy")
        found.append(Workload("softmax", "softmax_stable", {"x": x, "y": y}, {}, compared))
    compared = _against("softmax", "copy")
    found.append(Workload("softmax", "softmax", {"x": 4096, "y": 16384}, {}, compared))
    for program in ("layer_norm", "rms_norm"):
        for y in (1024, 2048, 4096, 8192, 16384):
            compared = _against(program, f"{program}_liger")
            found.append(Workload("norms", program, {"row": 4096, "col": y}, {}, compared))
    return found


def _elementwise() -> list[Workload]:
    found: list[Workload] = []
    large = {"x": 16384, "y": 16384}
    bf16 = {"A": "bf16"}
    for program, types in (
        ("scaled_add", {**bf16, "B": "bf16", "scaled_add": "bf16"}),
        ("relu", {**bf16, "relu_out": "bf16"}),
        ("swish", {**bf16, "swish": "bf16"}),
    ):
        compared = _against(program, "copy")
        found.append(Workload("elementwise", program, large, types, compared))
    types = dict.fromkeys(("X", "weight", "bias", "dyt"), "bf16")
    for sizes, declared in (
        ({"row": 16384, "col": 16384}, types), ({"row": 128, "col": 65536}, {}),
    ):  # fmt: skip
        compared = _against("dyt", "dyt_liger", "copy")
        found.append(Workload("elementwise", "dyt", sizes, declared, compared))
    return found


def _chains() -> list[Workload]:
    found: list[Workload] = []
    compared = _against("two_matmul")
    for m in (64, 128, 256, 512, 8192):
        sizes = {"m": m, "n": 2 * m, "k": 32, "l": 32}
        found.append(Workload("chains", "two_matmul_outer", sizes, {}, compared))
    for m in (128, 256, 512, 1024, 8192):
        sizes = {"m": m, "n": m, "k": 64, "l": 64}
        found.append(Workload("chains", "two_matmul_inner", sizes, {}, compared))
    for length in (128, 256, 512, 1024):
        sizes = {"m": 4096, "n": 64, "k": 64, "l": length}
        compared = _against("attention", "attention_sdpa")
        found.append(Workload("chains", "attention", sizes, {}, compared))
    return found


WORKLOADS = [*_products(), *_rows(), *_elementwise(), *_chains()]
"""All workloads, group by group."""
