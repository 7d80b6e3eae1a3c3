"""`schedule-block`: partitions the output over the launch grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import check_written_once, infer_bounds
from dt_mlir.analysis.nests import blocked_loops, function_labels, labels_in, own_loops, writes_of
from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.dialects.loop import WalkAttr
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Sizes

_SIZES = Sizes(least=1)


@dataclass(frozen=True)
class BlockPass(Directive):
    """Partitions the output over the launch grid.

    Each program instance computes one block of the given extents. Halide: `tile` with
    `gpu_blocks`; TVM: `split` and `bind` to `blockIdx`.

    ```
    loop.grid () {                 loop.grid (%x0 = x size 128) order [x] {
      loop.for %x = x of f {   ->    loop.for %x = x in %x0 size 128 of f {
    ```
    """

    name = "schedule-block"
    phase: ClassVar[Phase] = Phase.PARTITION

    sizes: tuple[str, ...] = parameter(
        _SIZES, "The labels to partition, output labels only, with the extent of a block."
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        grid = kernel.grid
        write = writes_of(kernel, self.function)[0]
        loops, own = blocked_loops(kernel, write), own_loops(kernel, write)
        labels = dict.fromkeys([*loops, *function_labels(kernel, write)])
        for label, extent in _SIZES.items(self.sizes):
            if label not in labels:
                if label in labels_in(kernel):
                    raise site.error(
                        f"label '{label}' is not one of the output '{self.function}'",
                        f"only {', '.join(labels) or 'no label'} can be blocked; "
                        f"to step the loop over '{label}' use tensorize({label}:…)",
                    )
                raise site.error(
                    f"there is no label '{label}' in the kernel of '{self.function}'",
                    did_you_mean(label, labels) or f"'{self.function}' has {', '.join(labels)}",
                )
            known = grid.block_sizes.get(label)
            if known is not None:
                if known != extent:
                    raise site.error(
                        f"'{label}' already has blocks of {known}, which contradicts {extent}",
                        "leave one of them out", "block",
                    )  # fmt: skip
                continue
            if grid.mapped is not None:
                raise site.error(
                    "the grid is already mapped", "block all labels before map", "map"
                )
            if loop.prefixes_of(own.get(label)):
                raise self._scanned(site, label, extent, own[label])
            if label not in loops:
                raise site.error(
                    f"'{self.function}' has no loop over '{label}' that can be blocked",
                    f"it has loops over {', '.join(loops) or 'no label'}",
                )
            walked = loops[label]
            if walked.origin is not None:
                raise site.error(
                    f"the loop over '{label}' is already split", "block it before that"
                )
            if walked.step_size > 0 and extent % walked.step_size:
                raise site.error(
                    f"a block of {extent} is not a multiple of the tile of {walked.step_size} "
                    f"along '{label}'",
                    f"choose a multiple of {walked.step_size}",
                )
            blocked = {*grid.label_names, label}
            order = [WalkAttr(other) for other in reversed(loops) if other in blocked]
            origin = grid.add_block(label, extent, order)
            walked.set_range(origin, extent)
            if walked.step_size == 0:
                walked.set_step(0)
        infer_bounds(kernel)
        check_written_once(kernel)

    def _scanned(
        self, site: Site, label: str, extent: int, walked: loop.LoopLike
    ) -> CompileError:
        """Returns what is wrong with blocks of a label that is scanned."""
        if walked.end is not None:
            return site.error(
                f"'{label}' is scanned in chunks, each of which is a block of '{label}_part'",
                f"leave out {label}:{extent}",
            )
        return site.error(
            f"'{label}' is scanned: one program instance walks the whole label",
            f"block other labels, or scan '{label}' in chunks: "
            f"{self.function}.rfactor({label}:{label}_in/{extent}, parts)",
        )
