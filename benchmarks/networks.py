"""Measures `auto`'s schedules of parts of networks beside PyTorch.

    python benchmarks/networks.py [--only attention] [--rounds 5]

Each part is one program: what is fused and what is stored in between is `auto`'s choice. Weights
are drawn as networks initialize them, so that softmax has more than one large weight. A result must
be that of PyTorch in float32, to 1 % of its largest element.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from baselines.networks import FUNCTIONS, attention_block, gated_perceptron, transformer_layer
from timing import Clock

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import auto_schedule
from dt_mlir.compiler import compile_program
from dt_mlir.costs.device import present_device
from dt_mlir.files import write_output
from dt_mlir.frontend.emit import compile_text
from dt_mlir.language.program import Program
from dt_mlir.language.schedule import Schedule
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import loaded, torch_dtype, wrapper_name
from dt_mlir.tuning import measuring
from dt_mlir.tuning.replays import count_of_sets

HERE = Path(__file__).resolve().parent
WAYS = ("eager", "compile", "max_autotune")
"""PyTorch's ways to compute a part."""
WRONG = 0.01
"""The part of the largest element by which a result may differ from that in float32."""


@dataclass(frozen=True)
class Part:
    """A part of a network, at the sizes of a model."""

    model: str
    program: str
    reference: Callable[..., torch.Tensor]
    sizes: Mapping[str, int]


def _rows(count: int) -> dict[str, int]:
    return {"i": count, "j": count}


_GPT = {"h": 12, "d": 64, "c": 768}
_LLAMA1, _LLAMA7 = {"h": 32, "d": 64, "c": 2048}, {"h": 32, "d": 128, "c": 4096}
PARTS = [
    Part("GPT-2", "attention_block", attention_block, {**_rows(1024), **_GPT}),
    Part("Llama 3.2 1B", "attention_block", attention_block, {**_rows(2048), **_LLAMA1}),
    Part("Llama 2 7B", "attention_block", attention_block, {**_rows(2048), **_LLAMA7}),
    Part("Llama 3.2 1B", "gated_perceptron", gated_perceptron, {"i": 2048, "c": 2048, "e": 8192}),
    Part("Llama 2 7B", "gated_perceptron", gated_perceptron, {"i": 2048, "c": 4096, "e": 11008}),
    Part("GPT-2", "transformer_layer", transformer_layer, {**_rows(1024), **_GPT, "e": 3072}),
    Part(
        "Llama 2 7B", "transformer_layer", transformer_layer,
        {**_rows(2048), **_LLAMA7, "e": 11008},
    ),
]  # fmt: skip


def drawn(interface: Interface, sizes: Mapping[str, int]) -> list[torch.Tensor]:
    """Returns tensors in the order of the inputs.

    Rows and factors of norms are about 1 in size; weights keep the size of what they multiply.
    """
    generator = torch.Generator("cuda").manual_seed(0)
    found: list[torch.Tensor] = []
    for item in interface.inputs:
        shape = interface.shape(item, sizes)
        values = torch.randn(shape, generator=generator, device="cuda")
        if item.name.startswith("gain"):
            values = values * 0.1 + 1
        elif item.name == "O":
            values = values / (shape[0] * shape[1]) ** 0.5
        elif item.name != "X":
            values = values / shape[-2] ** 0.5
        found.append(values.to(torch_dtype(item.element)))
    return found


def measured(part: Part, rounds: int) -> dict[str, Any]:
    """Measures a part: returns microseconds, hot and cold, by contender.

    Args:
        part: the part.
        rounds: the number of rounds; medians over them count.
    """
    text = (HERE / "programs" / "networks" / f"{part.program}.dt").read_text()
    module, _ = compile_text(text, part.program)
    run_pipeline(module, default_pipeline("dt"))
    interface = Interface.of(module)
    sizes = interface.sizes(part.sizes)
    begun = time.perf_counter()
    schedule = auto_schedule(module, sizes, present_device())
    taken = time.perf_counter() - begun
    written = Schedule.parse("\n".join(item.text for item in schedule))
    program = Program.parse(text).with_schedule(written)
    sets = [drawn(interface, sizes)]
    wanted = part.reference(*(tensor.float() for tensor in sets[0]))
    cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
    free, _ = torch.cuda.mem_get_info()
    taken_by_set = sum(tensor.nbytes for tensor in sets[0])
    # The result has the rows' shape.
    count = count_of_sets(taken_by_set, sets[0][0].nbytes, cache, free, len(WAYS) + 1)
    sets += [[tensor.clone() for tensor in sets[0]] for _ in range(count - 1)]
    largest = wanted.abs().max()
    compiled = compile_program(str(program), part.program)
    with loaded(compiled.source) as emitted:
        contenders = {"auto": getattr(emitted, wrapper_name(compiled.source))}
        contenders |= {
            way: FUNCTIONS[f"{part.program}_{way}"] for way in WAYS
        }
        errors: dict[str, float] = {}
        clocks: dict[str, Clock] = {}
        for name, function in contenders.items():
            errors[name] = float((function(*sets[0]).float() - wanted).abs().max() / largest)
            assert errors[name] < WRONG, f"{name} is wrong: {errors[name]:.3g}"
            clocks[name] = Clock([lambda f=function, a=a: f(*a) for a in sets], False)
        times = {
            name: {
                kind: median(1000 * clock.milliseconds(kind) for _ in range(rounds))
                for kind in ("hot", "cold")
            } for name, clock in clocks.items()
        }  # fmt: skip
    return {
        "model": part.model, "program": part.program, "sizes": dict(part.sizes),
        "device": measuring.device_name(), "versions": measuring.versions(),
        "functions": len(program.tree.definitions), "scheduled": taken, "microseconds": times,
        "errors": errors, "schedule": [item.text for item in schedule],
    }  # fmt: skip


def line(row: Mapping[str, Any]) -> str:
    """Returns a row of a table in Markdown: times of `auto`, and what others take in these."""
    times = row["microseconds"]
    own = times["auto"]
    shown = [
        f"{times[way]['cold'] / own['cold']:.2f} / {times[way]['hot'] / own['hot']:.2f}"
        for way in WAYS
    ]
    sizes = ", ".join(f"{label} = {size}" for label, size in row["sizes"].items())
    cells = [
        row["model"], row["program"], sizes, f"{row['scheduled']:.2f}",
        f"{own['cold']:.1f} / {own['hot']:.1f}", *shown,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measures each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="only programs whose names contain this")
    parser.add_argument("--rounds", type=int, default=5, help="the rounds of measuring")
    parser.add_argument("-o", "--output", type=Path, help="where results go, as JSON")
    args = parser.parse_args()
    if measuring.device_name() == "cpu":
        print("there is no GPU: no kernel is measured")
        return 0
    found: list[dict[str, Any]] = []
    for part in PARTS:
        if args.only in part.program:
            found.append(measured(part, args.rounds))
            print(line(found[-1]), flush=True)
    if args.output is not None:
        write_output(str(args.output), json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
