"""`schedule-descriptor`: accesses tensors through descriptors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects.formats import name_array
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names


@dataclass(frozen=True)
class DescriptorPass(Directive):
    """Accesses tensors through descriptors, which the copy engine of a GPU reads.

    What the kernel loads of them, and stores to them, are boxes of neighbours along each axis, at
    indices that are a label's plus a number. A descriptor is made on the host, once for a call. It
    needs a contiguous last axis and rows that start at multiples of 16 bytes; for other tensors,
    and on other devices, the same kernel computes addresses. Where warps are specialized, factors
    of products always go through descriptors, and results unless others are named. Triton: tensor
    descriptors; CUDA: the tensor memory accelerator.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {descriptors = ["A", "f"]}
    ```
    """

    name = "schedule-descriptor"
    phase: ClassVar[Phase] = Phase.HINTS
    decides_bits: ClassVar[bool] = False

    tensors: tuple[str, ...] = parameter(
        Names(), "The inputs and functions that the kernel accesses so."
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        for tensor in self.tensors:
            if tensor not in kernel.argument_names:
                raise site.error(
                    f"the kernel of '{kernel.root.data}' does not access '{tensor}'",
                    did_you_mean(tensor, kernel.argument_names)
                    or "what is fused into it has no memory",
                )
            if tensor in kernel.summed_names:
                raise site.error(
                    f"'{tensor}' is added to memory, which is not done in boxes",
                    "leave out 'atomic' of rfactor",
                )
        found = dict.fromkeys([*kernel.described_names, *self.tensors])
        kernel.descriptors = name_array(list(found))
        if site.location is not None:
            # What is no box is refused here.
            kernel.location = site.fused_location(kernel.location)
