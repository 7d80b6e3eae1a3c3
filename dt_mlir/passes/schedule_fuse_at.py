"""`schedule-fuse-at`: computes a function inside a loop of its consumer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.bounds import check_written_once, infer_bounds_of
from dt_mlir.passes.schedule_fuse_at_copies import Move
from dt_mlir.passes.schedule_fuse_at_nests import check_fusible, find_loops, fuse
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class FuseAtPass(Directive):
    """Computes a function inside a loop of its consumer, just before it is used.

    As much of it is computed as one iteration of that loop needs; the loops over labels that the
    two share around the place become one. A function that is read under several labellings
    there is computed once for each; what is read in a window is computed at the indices of the
    reads, over the loops that they are made of. Halide and TVM: `compute_at`.

    ```
    loop.kernel @p_kernel(…) {…}                loop.kernel @f_kernel(%A, %f) {
    loop.kernel @f_kernel(%p, %f) {               loop.for %x = x of f {
      loop.for %x = x of f {              ->        %p = loop.local "p"[x]
        %0 = loop.read %p[%x]                       … loop.write %1, %p[%x]
        loop.write %0, %f[%x]                       %0 = loop.read %p[%x]
    ```
    """

    name = "schedule-fuse-at"
    phase: ClassVar[Phase] = Phase.FUSION

    consumer: str = parameter(Name("function"), "The function in whose nest it is computed.")
    label: str = parameter(Name("label"), "The label of the loop in which it is computed.")

    def rewrite(self, site: Site) -> None:
        producer = site.kernel
        home = check_fusible(site, producer, self.consumer)
        loops = find_loops(site, home, self.consumer, self.label, self.function)
        infer_bounds_of(fuse(Move(site, producer, home), loops))
        check_written_once(home)
