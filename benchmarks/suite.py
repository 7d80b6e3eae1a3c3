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
    work: int = 0
    """The floating-point operations of its products, where its sizes alone do not say them."""

    @property
    def operations(self) -> int:
        """The floating-point operations of its matrix products; 0 where it has none."""
        if self.work:
            return self.work
        n = self.sizes
        match self.program:
            case (
                "matmul" | "matmul_split" | "matmul_ragged" | "matmul_sigmoid" | "matmul_bias_gelu"
            ):
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


def _images() -> list[Workload]:
    """Operators on images, channels last."""
    found: list[Workload] = []
    for program, n, size, c, o, window, stride in (
        ("conv2d", 32, 56, 256, 256, 3, 1), ("conv2d", 64, 28, 512, 512, 3, 1),
        ("conv2d_strided", 32, 112, 64, 128, 3, 2), ("conv2d_pointwise", 32, 56, 256, 64, 1, 1),
    ):  # fmt: skip
        sizes = {"n": n, "X_1": size, "X_2": size, "X_3": c, "o": o, "c": c}
        if program == "conv2d_pointwise":
            sizes = {"n": n, "p": size, "q": size, "o": o, "c": c}
        work = 2 * n * (size // stride) ** 2 * o * c * window**2
        found.append(Workload("images", program, sizes, {}, _against(program), work))
    sizes = {"n": 64, "X_1": 112, "X_2": 112, "X_3": 128, "c": 128}
    found.append(Workload("images", "conv2d_depthwise", sizes, {}, _against("conv2d_depthwise")))
    sizes = {"n": 64, "X_1": 112, "X_2": 112, "c": 128}
    found.append(Workload("images", "max_pool2d", sizes, {}, _against("max_pool2d")))
    sizes = {"n": 32, "y": 3136, "j": 3136, "c": 256}
    found.append(Workload("images", "group_norm", sizes, {}, _against("group_norm")))
    return found


def _reductions() -> list[Workload]:
    """Reductions that are computed in one pass, in parts, or up to each index."""
    found: list[Workload] = []
    compared = _against("matmul")
    for x, y, k in (
        (512, 512, 16384), (256, 256, 32768), (16, 4096, 14336), (128, 4096, 4096),
    ):  # fmt: skip
        sizes = {"x": x, "y": y, "k": k}
        found.append(Workload("reductions", "matmul_split", sizes, {}, compared))
    for b, j in ((16, 8192), (1, 32768), (64, 2048)):
        sizes = {"b": b, "g": 8, "r": 4, "d": 128, "j": j, "c": 128}
        compared = ("decoding_flash", "decoding_cudnn")
        found.append(Workload("reductions", "decoding", sizes, {}, compared))
    sizes = {"h": 64, "i": 4096, "d": 128, "j": 4096, "c": 128}
    for program, part in (("attention_online", 1.0), ("attention_causal", 0.5)):
        compared = (f"{program}_flash", f"{program}_cudnn", f"{program}_flex")
        work = int(4 * 64 * 4096**2 * 128 * part)
        found.append(Workload("reductions", program, sizes, {}, compared, work))
    for program in ("attention_alibi", "attention_soft_cap"):
        work = 4 * 64 * 4096**2 * 128
        found.append(Workload("reductions", program, sizes, {}, (f"{program}_flex",), work))
    work = 4 * 64 * 4096 * 1024 * 128
    compared = ("attention_window_flex",)
    found.append(Workload("reductions", "attention_window", sizes, {}, compared, work))
    compared = ("cross_entropy_eager", "cross_entropy_compile", "cross_entropy_liger")
    found.append(Workload("reductions", "cross_entropy", {"i": 8192, "j": 128256}, {}, compared))
    compared = _against("cumulative_sum", "copy")
    sizes = {"i": 4096, "j": 16384}
    found.append(Workload("reductions", "cumulative_sum", sizes, {}, compared))
    sizes = {"T_0": 128256, "t": 16384, "c": 4096}
    compared = ("embedding_eager", "embedding_compile")
    found.append(Workload("reductions", "embedding", sizes, {}, compared))
    sizes = {"x": 4096, "y": 4096, "k": 4096}
    compared = ("triangular_product_eager", "triangular_product_compile")
    found.append(Workload("reductions", "triangular_product", sizes, {}, compared))
    return found


WORKLOADS = [*_products(), *_rows(), *_elementwise(), *_chains(), *_images(), *_reductions()]
"""All workloads, group by group."""
