"""`schedule-tensorize`: steps loops by tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dt_mlir.analysis.nests import labels_in, locals_of, loop_of, loops_over, write_to
from dt_mlir.analysis.part_labels import parts_as, whole_part
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.dialects.formats import name_array, names
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Sizes

_SIZES = Sizes(least=0)


def _merged(kernel: loop.KernelOp, label: str) -> str | None:
    """Says what became of a fused function's label whose loop is its consumer's."""
    for buffer in locals_of(kernel):
        if label in buffer.label_names:
            index = write_to(buffer.result).simple_indices()[buffer.label_names.index(label)]
            shown = index if isinstance(index, int) else loop_of(index).label_name
            return f"'{label}' of '{buffer.function.data}' is '{shown}' there"
    return None


def _numbers_chunks(op: loop.LoopLike) -> bool:
    """Returns whether a loop walks the chunks of a scan."""
    parts = [use.operation for use in op.iv.uses if isinstance(use.operation, loop.PartOp)]
    return any(part.function is not None for part in parts)


@dataclass(frozen=True)
class TensorizePass(Directive):
    """Steps every sequential loop over a label by tiles.

    The elements of a step are computed at once, as one axis of a tile. `0` takes the loop's whole
    extent: that of the block, if the loop walks one, else the label's size. Halide: `vectorize`;
    TVM: `tensorize`.

    ```
    loop.for %x = x of f {   ->   loop.for %x = x step 64 tile of f {
    ```
    """

    name = "schedule-tensorize"
    phase: ClassVar[Phase] = Phase.TILING

    sizes: tuple[str, ...] = parameter(
        _SIZES, "The labels whose loops are stepped, with the number of elements of a step."
    )

    def rewrite(self, site: Site) -> None:
        kernel = site.kernel
        for label, step in _SIZES.items(self.sizes):
            loops = [op for op in loops_over(kernel, label) if not op.is_outer]
            # The loop over the chunks of a scan is beside that which combines those before.
            loops = [op for op in loops if not _numbers_chunks(op)] or loops
            if not loops:
                raise site.error(
                    f"there is no loop over '{label}' in the kernel of '{self.function}'",
                    _merged(kernel, label)
                    or did_you_mean(label, labels_in(kernel))
                    or f"there are loops over {', '.join(labels_in(kernel)) or 'no label'}",
                )
            for op in loops:
                if step != 1 and any(isinstance(use.operation, loop.PartOp) for use in op.iv.uses):
                    raise site.error(
                        f"'{label}' numbers the parts of a reduction, and each is computed apart",
                        f"leave out {label}:{step}",
                    )
                extent = op.extent_size
                wanted = extent if step == 0 and extent is not None else step
                if op.is_tile and op.step_size != wanted:
                    known = op.step_size or "its whole extent"
                    raise site.error(
                        f"the loop over '{label}' already has tiles of {known}, "
                        f"which contradicts {step or 'its whole extent'}",
                        "leave one of them out", "tensorize",
                    )  # fmt: skip
                if extent is not None and step and extent % step:
                    raise site.error(
                        f"a block of {extent} is not a multiple of the tile of {step} "
                        f"along '{label}'",
                        f"choose a divisor of {extent}, or 0 for the whole block",
                    )
                if op.end is not None:
                    step = self._in_part(site, op, label, step)
                if site.location is not None:
                    op.location = site.fused_location(op.location)
                op.set_step(step)

    def _in_part(self, site: Site, op: loop.LoopLike, label: str, step: int) -> int:
        """Returns the tile of a loop over a part of a label, of which the part holds whole ones.

        Raises:
            CompileError: if it does not.
        """
        assert op.end is not None
        part = op.end.owner
        assert isinstance(part, loop.PartOp)
        if part.function is not None:
            if not step:
                raise site.error(
                    f"'{label}' is scanned in a number of chunks, whose length is not known here",
                    f"choose a tile; {part.function.data}.tensorize({label}:…) makes the chunks "
                    "whole tiles",
                )
            return step
        if part.parts is None:
            if part.step_size % (step or 1):
                raise site.error(
                    f"a part of {part.step_size} is not a multiple of the tile of {step} along "
                    f"'{label}'",
                    f"choose a divisor of {part.step_size}, or 0 for the whole part",
                )
            return step or part.step_size
        if part.parts * step >= 2**31:
            raise site.error(
                f"{part.parts} parts of at least {step} indices reach beyond 2^31",
                "choose smaller tiles, or fewer parts",
            )
        if step:
            part.set_step(step)
        else:
            self._hold(site, part, op.function_name)
        for _, other in parts_as(site.program.kernels, op.function_name):
            other.set_step(part.step_size)
            if part.whole is not None:
                other.set_whole(part.whole.data)
        return step

    def _hold(self, site: Site, part: loop.PartOp, function: str) -> None:
        """Declares the label that has the size of a part, which a tile is to hold.

        Raises:
            CompileError: if its name is taken.
        """
        label, program, kernel = part.label.data, site.program, site.kernel
        assert part.parts is not None
        definition = whole_part(f"{label}_in", label, part.parts)
        if definition not in program.host.definitions():
            taken = {*program.labels(), *program.functions(), *program.tensor_values()}
            if definition.label in taken:
                raise site.error(
                    f"'{definition.label}' would be the label of the indices of a part of "
                    f"'{label}', and is already the name of a label, a function or an input",
                    "rename the other one, or write a number",
                )
            program.declare(definition, site.location or part.location)
        for home in (kernel, *(home for home, _ in parts_as(program.kernels, function))):
            known = {*names(home.labels), definition.label}
            home.labels = name_array([x for x in program.labels() if x in known])
        part.set_whole(definition.label)
