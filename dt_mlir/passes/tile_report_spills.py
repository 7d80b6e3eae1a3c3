"""`tile-report-spills`: says where tiles take more registers than there are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from dt_mlir.analysis.registers import register_pressure
from dt_mlir.diagnostics import warn
from dt_mlir.dialects import tile

REGISTERS = 255
"""The registers of a thread."""
OTHERS = 24
"""Those of them that addresses and counters take, at the least."""
WARPS = 4
"""The warps of a program instance, if the schedule does not say."""


def report_spills(kernel: tile.KernelOp) -> None:
    """Warns of a kernel whose live tiles are more than registers hold."""
    consumers = kernel.specialization.get("consumers")
    warps = WARPS * consumers if consumers else kernel.int_hint("num_warps") or WARPS
    found = register_pressure(kernel, warps)
    # What multiplies alone computes few addresses.
    if found.registers + (0 if consumers else OTHERS) <= REGISTERS:
        return
    names = dict.fromkeys(f"'{v.name_hint}'" for v in found.tiles if v.name_hint is not None)
    shown = f" ({', '.join(list(names)[:3])})" if names else ""
    owner = found.tiles[0].owner
    name = kernel.root.data
    warn(
        f"the tiles{shown} of '{name}' that are live at once take about {found.registers} "
        f"registers of a thread, which has {REGISTERS}: they may spill to memory",
        owner.parent_op() if isinstance(owner, Block) else owner,
        f"smaller tiles, or {name}.num_warps({2 * warps}), would hold them",
    )


@dataclass(frozen=True)
class TileReportSpillsPass(ModulePass):
    """Says where the tiles that are live at once need more registers than a thread has.

    The IR stays as it is. The estimate counts what is surely held in registers, so that a kernel of
    which nothing is said may still spill; `dtc --emit stats` shows what the machine code takes.
    """

    name = "tile-report-spills"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, tile.KernelOp):
                report_spills(kernel)
