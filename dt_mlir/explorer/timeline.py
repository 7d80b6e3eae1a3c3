"""The actions of the groups of warps of a specialized kernel over logical time.

The interpreter says in which order groups act. From what each action waits for follows when it can
happen at the earliest, as in Lamport's clocks: an action takes a unit of time, a copy a few, and a
wait lasts until the phase of its barrier has ended. So it shows what may overlap, whatever order
the interpreter took, and nothing about real time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.diagnostics import Place, file_line_col
from dt_mlir.dialects import warp
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.explorer.tracing import (
    BoundedObserver,
    EnoughError,
    picture_sizes,
    run_on_zeros,
)
from dt_mlir.interpreters.warp_protocol import Action, Copy, Kind, Protocol

COPY = 4
"""The units of time that a copy takes."""
BLOCKS, TRIPS = 2.0, 6.0
"""The blocks along each label of the grid of a persistent kernel, and the trips of loops."""
MOST_EVENTS = 4000


class Span(NamedTuple):
    """Something that lasts."""

    row: str
    """The group, the buffer or the barrier."""
    kind: str
    """`wait`, `arrive`, `load` and so on for groups; `fill`, `full`, `read` for buffers; `phase`
    for barriers."""
    start: int
    end: int
    text: str
    place: Place | None


@dataclass
class Timeline:
    """The first program instance of a specialized kernel."""

    kernel: str
    sizes: dict[str, int]
    groups: list[str] = field(default_factory=list[str])
    buffers: list[str] = field(default_factory=list[str])
    barriers: list[str] = field(default_factory=list[str])
    spans: list[Span] = field(default_factory=list[Span])
    truncated: bool = False


@dataclass
class _Phase:
    """The phase that a barrier is in."""

    number: int
    missing: int
    bytes: int = 0
    start: int = 0
    latest: int = 0
    """When the last of what it waits for has come."""


class _Clock(BoundedObserver):
    """Gives each event of first instances its time."""

    def __init__(self, sizes: dict[str, int]) -> None:
        super().__init__()
        self.sizes = sizes
        self.timelines: list[Timeline] = []
        self.recording = False

    def starts(self, kernel: GridKernelOp, instance: int, instances: int) -> None:
        self.recording = instance == 0 and isinstance(kernel, warp.KernelOp)
        if self.recording:
            self.timelines.append(Timeline(kernel.sym_name.data, self.sizes))

    def shares(self, protocol: Protocol) -> None:
        if not self.recording:
            return
        line = self.timelines[-1]
        line.groups, line.buffers = list(protocol.groups), list(protocol.buffers)
        line.barriers = list(protocol.barriers)
        self.arrivals = list(protocol.arrivals)
        self.phases = [_Phase(0, count) for count in protocol.arrivals]
        self.now = [0] * len(line.groups)
        self.copies: dict[Copy, tuple[int, Action]] = {}
        self.products: list[list[tuple[int, Action]]] = [[] for _ in line.groups]
        self.full = [0] * len(line.buffers)

    def acts(self, group: int, action: Action) -> None:
        self.counted()
        if not self.recording:
            return
        line, start = self.timelines[-1], self.now[group]
        if len(line.spans) > MOST_EVENTS:
            line.truncated = True
            return
        end = start + 1
        if action.kind is Kind.WAIT:
            end = max(start, self.phases[action.barrier].start) + 1
        self.now[group] = end
        names = [line.buffers[buffer] for buffer in action.buffers]
        if action.barrier >= 0:
            names.append(line.barriers[action.barrier])
        kind = action.kind.name.lower().replace("_", " ")
        what = f"{line.groups[group]} {action.kind.value}: {', '.join(names)}"
        self._add(line.groups[group], kind, start, end, what.removesuffix(": "), action)
        match action.kind:
            case Kind.ARRIVE:
                phase = self.phases[action.barrier]
                phase.missing -= 1
                phase.bytes += action.number
                self._signalled(action.barrier, end, action)
            case Kind.LOAD:
                copy = Copy(action.buffers[0], action.barrier, action.number)
                self.copies[copy] = end, action
            case Kind.LOCAL_STORE:
                self.full[action.buffers[0]] = end
            case Kind.PRODUCT | Kind.STORE:
                self.products[group].append((start, action))
            case Kind.PRODUCT_WAIT | Kind.STORE_WAIT:
                self._retire(group, action, end)
            case _:
                pass

    def _retire(self, group: int, action: Action, end: int) -> None:
        """Ends the reading of what a group has waited for."""
        wanted = Kind.PRODUCT if action.kind is Kind.PRODUCT_WAIT else Kind.STORE
        own = [item for item in self.products[group] if item[1].kind is wanted]
        done = own[: max(0, len(own) - action.number)]
        for start, read in done:
            self.products[group].remove((start, read))
            for buffer in read.buffers:
                name = self.timelines[-1].buffers[buffer]
                if self.full[buffer] < start:
                    self._add(name, "full", self.full[buffer], start, f"{name} is full", read)
                reader = self.timelines[-1].groups[group]
                self._add(name, "read", start, end, f"{reader} reads {name}", read)
                self.full[buffer] = end

    def ends_copy(self, copy: Copy) -> None:
        if not self.recording or copy not in self.copies:
            return
        line = self.timelines[-1]
        start, action = self.copies.pop(copy)
        end = start + COPY
        name = line.buffers[copy.buffer]
        self._add(name, "fill", start, end, f"a copy of {copy.bytes} bytes fills {name}", action)
        self.full[copy.buffer] = end
        self.phases[copy.barrier].bytes -= copy.bytes
        self._signalled(copy.barrier, end, action)

    def _signalled(self, barrier: int, time: int, action: Action) -> None:
        """Notes that something a barrier counts has come, and ends its phase with the last."""
        phase, line = self.phases[barrier], self.timelines[-1]
        phase.latest = max(phase.latest, time)
        if phase.missing == 0 and phase.bytes == 0:
            name = line.barriers[barrier]
            text = f"phase {phase.number} of {name}, of parity {phase.number % 2}"
            self._add(name, "phase", phase.start, phase.latest, text, action)
            self.phases[barrier] = _Phase(
                phase.number + 1, self.arrivals[barrier], 0, phase.latest, phase.latest
            )

    def _add(
        self, row: str, kind: str, start: int, end: int, text: str, action: Action
    ) -> None:
        place = file_line_col(action.op.location)
        self.timelines[-1].spans.append(Span(row, kind, start, end, text, place))


def timelines(module: ModuleOp, given: Mapping[str, int]) -> list[Timeline]:
    """Returns what the first program instance of each specialized kernel does.

    Args:
        module: a module with kernels of the `warp` level.
        given: sizes of labels; others are chosen such that a few trips are seen.

    Raises:
        CompileError: if there is no such label, or the program cannot run.
    """
    if not any(isinstance(op, warp.KernelOp) for op in module.ops):
        return []
    walks = any(kernel.programs is not None for kernel in kernels_of(module))
    sizes = picture_sizes(module, given, BLOCKS if walks else 1.0, TRIPS)
    clock = _Clock(sizes)
    try:
        run_on_zeros(module, sizes, clock)
    except EnoughError:
        for line in clock.timelines:
            line.truncated = True
    return clock.timelines
