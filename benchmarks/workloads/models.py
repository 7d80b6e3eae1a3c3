"""Operators of published models, at the sizes that they have there."""

from __future__ import annotations

from collections.abc import Mapping

from workloads.workload import Workload, against

Sizes = Mapping[str, int]


def _of(
    model: str, program: str, sizes: Sizes, baselines: tuple[str, ...] = (),
    types: Mapping[str, str] | None = None,
) -> Workload:
    """Returns an operator of a model, compared with PyTorch's ways unless others are named."""
    return Workload("models", program, sizes, types or {}, baselines or against(program), model)


def _product(model: str, program: str, x: int, y: int, k: int) -> Workload:
    function = "matmul" if program.startswith("matmul_split") else program
    return _of(model, program, {"x": x, "y": y, "k": k}, against(function))


_LLAMA, _GPT, _BERT, _VIT = "Llama 3 8B", "GPT-2", "BERT large", "ViT-L/16"
_RESNET, _DIFFUSION, _MAMBA = "ResNet-50", "Stable Diffusion 1.5", "Mamba 2.8B"

MODELS = [
    # A batch of 2048 tokens, or 16 sequences that are decoded.
    _product(f"{_LLAMA}, queries, keys, values", "matmul", 2048, 6144, 4096),
    _product(f"{_LLAMA}, output", "matmul", 2048, 4096, 4096),
    _product(f"{_LLAMA}, gate and up", "swiglu_product", 2048, 14336, 4096),
    _product(f"{_LLAMA}, down", "matmul", 2048, 4096, 14336),
    _product(f"{_LLAMA}, vocabulary, decoding", "matmul_split", 16, 128256, 4096),
    _product(f"{_LLAMA}, output, decoding", "matmul_split", 16, 4096, 4096),
    _product(f"{_LLAMA}, adapter", "low_rank_product", 2048, 4096, 4096),
    _of(
        f"{_LLAMA}, attention", "attention_grouped",
        {"h": 32, "i": 8192, "K_0": 8, "V_0": 8, "j": 8192},
        ("attention_grouped_flash", "attention_grouped_cudnn", "attention_grouped_flex"),
    ),
    _of(f"{_LLAMA}, rotary embedding", "rotary", {"t": 8192, "h": 32}),
    _of(f"{_LLAMA}, RMS norm", "add_rms_norm", {"row": 8192, "col": 4096}),
    _of(f"{_LLAMA}, SwiGLU", "swiglu", {"x": 8192, "y": 14336}),
    _of(
        f"{_LLAMA}, embedding", "embedding", {"T_0": 128256, "t": 8192, "c": 4096},
        ("embedding_eager", "embedding_compile"),
    ),
    _of(f"{_LLAMA}, rows in 8 bits", "quantize_rows", {"row": 8192, "col": 4096}),
    _of("Qwen 3 8B, RMS norm of heads", "rms_norm", {"row": 262144, "col": 128}),
    _product(f"{_GPT}, queries, keys, values", "matmul_bias", 8192, 2304, 768),
    _product(f"{_GPT}, up", "matmul_bias_gelu", 8192, 3072, 768),
    _of(f"{_GPT}, layer norm", "layer_norm", {"row": 8192, "col": 768}),
    _of(f"{_GPT}, GELU", "gelu", {"x": 8192, "y": 3072}),
    _of(f"{_GPT}, embeddings", "embedding_sum", {"T_0": 50257, "b": 8, "t": 1024, "c": 768}),
    _of(f"{_GPT}, scores of tokens", "log_sum_exp", {"i": 8192, "j": 50257}),
    _of(
        f"{_GPT}, loss", "cross_entropy", {"i": 8192, "j": 50257},
        ("cross_entropy_eager", "cross_entropy_compile", "cross_entropy_liger"),
    ),
    _product(f"{_BERT}, output", "matmul_residual", 8192, 1024, 4096),
    _of(
        "T5 large, attention", "attention_bias", {"b": 16, "h": 16, "i": 512, "j": 512},
        ("attention_bias_sdpa", "attention_bias_flex"),
    ),
    _of(
        f"{_VIT}, attention", "attention_online_64", {"h": 1024, "i": 197, "j": 197},
        tuple(f"attention_online_64_{way}" for way in ("flash", "cudnn", "flex")),
    ),
    _of(f"{_VIT}, layer norm", "layer_norm", {"row": 12608, "col": 1024}),
    _of(
        f"{_VIT}, patches", "patch_embedding", {"n": 64, "X_1": 224, "X_2": 224, "o": 1024}
    ),
    _of("CLIP ViT-L/14, lengths", "normalize", {"row": 8192, "col": 768}),
    _of("DeepSeek V3, weights of experts", "softmax_stable", {"x": 65536, "y": 256},
        against("softmax")),
    _of(f"{_RESNET}, first layer", "conv2d_first",
        {"n": 32, "X_1": 224, "X_2": 224, "X_3": 3, "o": 64},
    ),
    _of(f"{_RESNET}, max pooling", "max_pool2d", {"n": 32, "X_1": 112, "X_2": 112, "c": 64}),
    _of(
        f"{_RESNET}, 3x3", "conv2d",
        {"n": 32, "X_1": 56, "X_2": 56, "X_3": 64, "o": 64, "c": 64},
    ),
    _of(
        f"{_RESNET}, 3x3", "conv2d",
        {"n": 32, "X_1": 14, "X_2": 14, "X_3": 256, "o": 256, "c": 256},
    ),
    _of(
        f"{_RESNET}, 1x1", "conv2d_pointwise", {"n": 32, "p": 56, "q": 56, "o": 256, "c": 64}
    ),
    _of(f"{_RESNET}, batch norm", "batch_norm_relu", {"n": 32, "p": 3136, "c": 256}),
    _of(f"{_RESNET}, pooling", "global_average", {"n": 32, "p": 49, "c": 2048}),
    _of(
        "MobileNetV2, depthwise", "conv2d_depthwise",
        {"n": 32, "X_1": 112, "X_2": 112, "X_3": 32, "c": 32},
    ),
    _of(
        f"{_DIFFUSION}, group norm", "group_norm_silu",
        {"n": 4, "y": 4096, "j": 4096, "c": 320},
    ),
    _of(
        f"{_DIFFUSION}, upsampling", "upsample_nearest",
        {"n": 4, "X_1": 32, "X_2": 32, "c": 1280},
    ),
    _of("ESPCN, shuffle", "pixel_shuffle", {"n": 16, "X_1": 12, "X_2": 360, "X_3": 640}),
    _of(
        "Whisper small, convolution", "conv1d_strided",
        {"X_0": 8, "X_1": 3000, "X_2": 768, "o": 768, "c": 768},
    ),
    _of(f"{_MAMBA}, convolution", "conv1d_causal", {"X_0": 8, "X_1": 2048, "X_2": 5120, "c": 5120}),
    _of(f"{_MAMBA}, gated norm", "gated_rms_norm", {"row": 8192, "col": 5120}),
    _of(
        "Griffin 3B, recurrence", "linear_recurrence", {"n": 8, "i": 2048, "d": 2560},
        ("linear_recurrence_eager", "linear_recurrence_compile"),
    ),
]
"""The operators, model by model."""
