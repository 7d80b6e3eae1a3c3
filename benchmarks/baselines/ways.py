"""PyTorch's ways to run a function.

Of every operation there are three: eager, `torch.compile`, and `torch.compile` with its autotuner
(without CUDA graphs of its own, since all contenders are timed alike).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor.config

Function = Callable[..., Any]

# Products of f32 may take tf32, as those of the programs that they are compared with do.
torch.set_float32_matmul_precision("high")

# What its autotuner tries is of no interest here.
torch._inductor.config.autotune_num_choices_displayed = 0
logging.getLogger("torch._inductor.select_algorithm").setLevel(logging.CRITICAL)

# A function is compiled anew for each of its workloads' sizes; beyond a few PyTorch gives up.
torch._dynamo.config.recompile_limit = 64


def ways(*functions: Function) -> dict[str, Function]:
    """Returns the three ways of each function, by its name and the way's."""
    found: dict[str, Function] = {}
    for function in functions:
        name = function.__name__
        found[f"{name}_eager"] = function
        found[f"{name}_compile"] = torch.compile(function, dynamic=False)
        found[f"{name}_max_autotune"] = torch.compile(
            function, dynamic=False, mode="max-autotune-no-cudagraphs"
        )
    return found
