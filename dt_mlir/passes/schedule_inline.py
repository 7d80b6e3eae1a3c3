"""`schedule-inline`: computes a function wherever it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import check_written_once, infer_bounds_of
from dt_mlir.analysis.nests import argument_named, locals_of, reads_of
from dt_mlir.passes.schedule_fuse_at_copies import Move
from dt_mlir.passes.schedule_fuse_at_nests import check_movable
from dt_mlir.passes.schedule_inline_reads import inline
from dt_mlir.scheduling.directive import Directive, Phase, Site


@dataclass(frozen=True)
class InlinePass(Directive):
    """Computes a function wherever it is read, in place of each read.

    Nothing of it is stored. Reads of one element in one loop share a value, and all others compute
    one each. What the function reads is then read by its readers, and is fused into their loops. If
    the function is an output, its own kernel remains. Halide, TVM: `compute_inline`.

    ```
    loop.for %x = x of f {                loop.for %x = x of f {
      %0 = loop.read %p[%x]         ->      %0 = loop.read %A[%x]
                                            %1 = arith.addf %0, %0 : f32
    ```
    """

    name = "schedule-inline"
    phase: ClassVar[Phase] = Phase.FUSION

    def rewrite(self, site: Site) -> None:
        producer = site.kernel
        check_movable(site, producer, "inline")
        users = [
            kernel
            for kernel in site.program.users_of(self.function)
            if kernel is not producer
            and (argument := argument_named(kernel, self.function)) is not None
            and reads_of(argument)
        ]
        if not users:
            raise site.error(
                f"nothing reads '{self.function}'", "only a function that another reads is inlined"
            )
        for kernel in users:
            before = {*locals_of(kernel)}
            inline(Move(site, producer, kernel))
            # What is read as before is walked as before.
            infer_bounds_of(buffer for buffer in locals_of(kernel) if buffer not in before)
        site.program.inlined(self.function, users[0])
        for kernel in users:
            check_written_once(kernel)
