"""Attention in one pass over the keys, forward."""

from __future__ import annotations

from workloads.workload import Workload


def _sizes(heads: int, length: int) -> dict[str, int]:
    return {"h": heads, "i": length, "j": length}


def _all(program: str) -> tuple[str, ...]:
    return (f"{program}_flash", f"{program}_cudnn", f"{program}_flex")


ATTENTION = [
    *(
        Workload("attention", program, _sizes(heads, length), {}, _all(program))
        for program in ("attention_online", "attention_causal")
        for heads, length in ((64, 2048), (64, 4096), (16, 16384))
    ),
    *(
        Workload("attention", f"{program}_64", _sizes(64, 4096), {}, _all(program))
        for program in ("attention_online", "attention_causal")
    ),
    *(
        Workload("attention", program, _sizes(64, 4096), {}, (f"{program}_flex",))
        for program in ("attention_window", "attention_alibi", "attention_soft_cap")
    ),
    *(
        Workload(
            "attention", "decoding", {"b": b, "g": 8, "r": 4, "d": 128, "j": j, "c": 128}, {},
            ("decoding_flash", "decoding_cudnn"),
        )
        for b, j in ((16, 8192), (1, 32768), (64, 2048))
    ),
]
