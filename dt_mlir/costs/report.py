"""Tables of what kernels cost, and of what each directive of a schedule buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiling import compiling
from dt_mlir.costs.device import Device
from dt_mlir.costs.model import cost_of
from dt_mlir.costs.quantities import shown_bytes, shown_time
from dt_mlir.costs.reading import work_of
from dt_mlir.costs.tiling import Cost, scheduled
from dt_mlir.dialects import host, loop
from dt_mlir.passes.apply_schedule import in_order
from dt_mlir.passes.convert_dt_to_loop import ConvertDtToLoopPass
from dt_mlir.scheduling.directive import Directive, apply_directives


@compiling()
def costs_of(
    module: ModuleOp, sizes: Mapping[str, int], device: Device
) -> dict[str, Cost]:
    """Returns what each kernel costs, by the function at its root.

    Args:
        module: a module of the `loop` level.
        sizes: a size for each label of the program.
        device: the device.
    """
    known = Interface.of(module).completed(sizes)
    found: dict[str, Cost] = {}
    function = host.function_of(module)
    allocations = () if function is None else function.allocations()
    aligned = [op.tensor.data for op in allocations if max(op.alignment, default=1) > 1]
    for op in module.ops:
        if isinstance(op, loop.KernelOp):
            work = work_of(op, known, aligned)
            found[work.root] = cost_of(work, scheduled(work), device)
    return found


def cost_report(module: ModuleOp, sizes: Mapping[str, int], device: Device) -> str:
    """Returns a table of the kernels, and one of the directives in the order they take effect.

    Args:
        module: a program at the `dt` level, its schedule beside it; it is changed.
        sizes: a size for each label.
        device: the device.

    Raises:
        CompileError: where a directive is not legal.
    """
    shown = ", ".join(f"{label}={size}" for label, size in sizes.items())
    lines = [f"predicted for {device.name} at {shown}", ""]
    ConvertDtToLoopPass().apply(Context(), module)
    bare = costs_of(module, sizes, device)
    steps: list[tuple[str, dict[str, Cost]]] = [("without directives", bare)]

    def observe(directive: Directive, place: LocationAttr | None, changed: ModuleOp) -> None:
        steps.append((directive.text(), costs_of(changed, sizes, device)))

    found = [(directive, op.location) for op, directive in in_order(module)]
    apply_directives(module, found, observe)
    lines += _kernels(steps[-1][1], device)
    lines.append("")
    lines += _directives(steps)
    return "\n".join(lines) + "\n"


def _kernels(costs: Mapping[str, Cost], device: Device) -> list[str]:
    rows = [
        ["kernel", "time", "busiest", "bytes", "instances", "resident", "registers", "shared"]
    ]
    for root, cost in costs.items():
        rows.append([
            root, shown_time(cost.seconds), f"{cost.limit} {shown_time(cost.bounds[cost.limit])}",
            shown_bytes(cost.memory), str(cost.programs), str(cost.resident),
            f"{cost.registers:.0f}", shown_bytes(cost.shared),
        ])  # fmt: skip
    return _aligned(rows)


def _directives(steps: Sequence[tuple[str, Mapping[str, Cost]]]) -> list[str]:
    rows = [["after", "time", "gain", "bytes"]]
    before: float | None = None
    for text, costs in steps:
        seconds = sum(cost.seconds for cost in costs.values())
        known = before is not None and isfinite(before) and isfinite(seconds)
        gain = f"{before / seconds:.2f}x" if known and before is not None else ""
        moved = sum(cost.memory for cost in costs.values())
        rows.append([text, shown_time(seconds), gain, shown_bytes(moved)])
        before = seconds
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            f"{cell:<{width}}" if number == 0 else f"{cell:>{width}}"
            for number, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
