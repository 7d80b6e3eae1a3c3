"""`schedule-rfactor`: splits reductions over a label into parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import check_written_once
from dt_mlir.analysis.nests import labels_in, loops_in, reduced_by
from dt_mlir.analysis.part_labels import part_label, parts_as
from dt_mlir.diagnostics import did_you_mean, has_location
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_integer
from dt_mlir.passes.schedule_rfactor_chunks import (
    check_scan,
    scan_chunks,
    scanned_loop,
    total_of,
)
from dt_mlir.passes.schedule_rfactor_combine import combine
from dt_mlir.passes.schedule_rfactor_parts import Parts, add_kernel, states_of, with_extreme
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Choice, Name, PartsOf

ORDERED = "ordered"
"""The order in which parts are combined unless something else is said."""


@dataclass(frozen=True)
class RfactorPass(Directive):
    """Splits reductions over a label into parts, which another function reduces.

    `f.rfactor(k:8, parts)` makes 8 parts, and `f.rfactor(k:k_in/4096, parts)` parts of 4096
    indices. The function `parts` has the loops over the label, and a new label, `k_part`; it is
    scheduled like any function, and inherits no directive. It writes the value of each part to
    memory, in the type in which it is accumulated, and `f` combines them over `k_part`, in their
    order. Parts of reductions that `online` computes in one pass are repaired as these are. A
    part is a multiple of the tile that `parts` steps the label by. Halide: `rfactor`; split-K and
    flash decoding are this.

    With `atomic` the parts of a sum are added in memory, in whatever order they are computed: one
    tensor of the size of a part, which is cleared first, takes the place of all of them, and the
    bits of a result may differ from call to call.

    A label that `f` scans is scanned in chunks: with `f.scan(x)`, `f.rfactor(x:8, parts)` lets a
    block of the grid scan each of 8 chunks, and `f.rfactor(x:x_in/4096, parts)` each 4096 indices,
    from what the chunks before have added, which `parts` reduces.

    ```
    %s = loop.reduce add %k = k of f {…}   ->   %s = loop.reduce add %k_part = k_part of f {
                                                  %parts = loop.read %parts_ptr[%k_part]
    ```
    """

    name = "schedule-rfactor"
    phase: ClassVar[Phase] = Phase.PARTS

    split: str = parameter(
        PartsOf(), "The label, with the number of its parts, or a name and the length of a part."
    )
    parts: str = parameter(Name("name"), "The name of the function that reduces the parts.")
    order: str = parameter(
        Choice((ORDERED, "atomic")),
        "How parts are combined: in their order, or those of sums in memory, in any.",
        ORDERED,
    )

    def phase_among(self, schedule: Sequence[Directive]) -> Phase:
        label = PartsOf.of(self.split)[0]
        scans = any(
            other.directive_name() == "scan" and other.function == self.function
            and getattr(other, "label", None) == label
            for other in schedule
        )  # fmt: skip
        # What reduces chunks is known behind the scan, too.
        behind = any(
            isinstance(other, RfactorPass) and other.parts == self.function
            and other.phase_among(schedule) is Phase.CHUNKS
            for other in schedule if other is not self
        )  # fmt: skip
        return Phase.CHUNKS if scans or behind else self.phase

    def rewrite(self, site: Site) -> None:
        label, count, length = PartsOf.of(self.split)
        kernel = site.kernel
        scanned = scanned_loop(site, label)
        if scanned is not None:
            check_scan(site, scanned)
            top = total_of(scanned)
        else:
            top = with_extreme(self._reduction(site, kernel, label))
        part = f"{label}_part"
        states = states_of(top, self.parts)
        summed = self.order != ORDERED
        if summed:
            self._check_sums(site, top, chunks=scanned is not None)
        location = site.location or top.location
        definition = part_label(part, label, count, length)
        # Functions may have parts of one label in common.
        known = definition in site.program.host.definitions()
        self._check_names(site, [*([] if known else [part]), *(state.name for state in states)])
        if not known:
            site.program.declare(definition, location)
        found = Parts(site, top, label, part, self.parts, states, location, summed)
        walked = labels_in(kernel)
        new = add_kernel(found, count, length)
        if scanned is not None:
            scan_chunks(found, scanned, count, length)
        else:
            combine(found)
        left = labels_in(kernel)
        for moved in (name for name in walked if name not in left):
            site.program.parts[site.function, moved] = self.parts
        for changed in (new, kernel):
            check_written_once(changed)

    def _check_sums(self, site: Site, top: loop.ReductionLoop, chunks: bool) -> None:
        """Checks that the parts of what is reduced may be added in memory.

        Raises:
            CompileError: if they may not.
        """
        if chunks:
            raise site.error(
                "each chunk of a scan begins with the sum of those before", "leave out 'atomic'"
            )
        running = top.running if isinstance(top, loop.OnlineOp) else []
        kinds = {op.kind.data for op in running}
        if isinstance(top, loop.ReduceOp):
            kinds.add(top.named_kind)
        others = kinds.difference((ReductionKind.ADD, ReductionKind.DOT))
        if others:
            raise site.error(
                f"'atomic' adds the parts of sums, and '{min(others)}' is none",
                "leave it out: parts are combined in their order",
            )
        repaired = [op for op in running if op.repair is not None]
        if repaired:
            raise site.error(
                "'atomic' adds the parts of sums, and those of "
                f"'{repaired[0].result.name_hint or self.parts}' are repaired by others",
                "leave it out: parts are combined in their order",
            )

    def _reduction(self, site: Site, kernel: loop.KernelOp, label: str) -> loop.ReductionLoop:
        """Returns the outermost loop of what is reduced over the label.

        Raises:
            CompileError: if there is none, or it cannot be split.
        """
        site.check_nothing_fused("split reductions")
        loops = [op for op in loops_in(kernel) if isinstance(op, loop.ReductionLoop)]
        found = [op for op in loops if op.label_name == label]
        if not found:
            labels = [op.label_name for op in loops]
            raise site.error(
                f"'{site.function}' has no reduction over '{label}'",
                did_you_mean(label, labels)
                or f"it reduces over {', '.join(dict.fromkeys(labels)) or 'no label'}",
            )
        if len(found) > 1:
            of_one = len({op.location for op in found}) == 1 and has_location(found[0])
            of_one = of_one and all(op.domain is not None for op in found)
            if of_one and any(is_integer(value.type) for op in found for value in op.results):
                # The place of an extreme in a domain is that of the first element like it.
                least = isinstance(first := found[0], loop.ReduceOp) and (
                    first.kind is not None and first.named_kind is ReductionKind.MINIMUM
                )
                what, beside = ("rargmin", "inf") if least else ("rargmax", "-inf")
                raise site.error(
                    f"'{site.function}' finds a place over '{label}' under a condition, which "
                    f"takes {len(found)} reductions",
                    f"choose elements instead, as in {what}(where({label} < n, A[{label}], "
                    f"{beside}), {label})",
                )
            apart = "" if of_one else "; or define each as a function, and split that"
            raise site.error(
                f"'{site.function}' has {len(found)} reductions over '{label}'",
                f"{site.function}.online({label}) computes them in one pass{apart}",
            )
        (own,) = found
        if own.end is not None:
            chunks = bool(parts_as(site.program.kernels, site.function))
            raise site.error(
                f"'{site.function}' reduces parts of '{label}' already",
                "chunks of a scan are not split again: write another number of them" if chunks else
                f"split their combination, as in rfactor({label}_part:4, …) of what combines them",
            )
        grid = kernel.grid
        for op in loops_in(kernel):
            if op.is_tile or op.origin is not None or grid.label_names:
                raise site.error(
                    f"the loops of '{site.function}' are already tiled, split or blocked",
                    "split reductions first",
                )
        if any(isinstance(use.operation, loop.DelinearizeOp) for use in own.iv.uses):
            raise site.error(f"'{label}' joins labels already", "split reductions first")
        return self._outermost(site, own)

    def _outermost(self, site: Site, own: loop.ReductionLoop) -> loop.ReductionLoop:
        """Returns the outermost loop of the nest of one reduction."""
        top = own
        while isinstance(parent := top.parent_op(), loop.ReductionLoop):
            if not isinstance(parent, loop.ReduceOp) or reduced_by(parent) is not top:
                raise site.error(
                    f"the reduction over '{own.label_name}' is computed for each "
                    f"'{parent.label_name}' that is reduced",
                    f"split '{parent.label_name}', or define the inner reduction as a function",
                )
            top = parent
        return top

    def _check_names(self, site: Site, names: list[str]) -> None:
        """Checks that names are new.

        Raises:
            CompileError: at one that is not.
        """
        for number, name in enumerate(names):
            if name in (ORDERED, "atomic"):
                raise site.error(
                    f"'{name}' says how parts are combined",
                    f"name the function that reduces them before: rfactor(…, parts, {name})",
                )
            hint = "the directive defines the function that reduces the parts: name another"
            label = PartsOf.of(self.split)[0]
            if name == f"{label}_part" and name != self.parts:
                hint = (
                    f"the parts of '{label}' are numbered by a label of this name, with one "
                    "number and length in a program; rename the other one"
                )
            site.check_new_name(name, hint, names[:number])
