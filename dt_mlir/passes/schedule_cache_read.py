"""`schedule-cache-read`: reads a tensor by way of a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, LocationAttr, MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from dt_mlir.analysis.nests import argument_named
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.identifiers import memory_hint, value_hint
from dt_mlir.passes.schedule_fuse_at_copies import set_arguments
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Name


@dataclass(frozen=True)
class CacheReadPass(Directive):
    """Reads a tensor by way of a copy, which is a function of its own.

    `f.cache_read(A, A_copy)` defines `A_copy` with the axes and the element type of the input or
    unfused function `A`, and lets `f` read it in place of `A`. The copy is scheduled like any
    function: with `align_storage` its rows start where the copies of tiles like them, with
    `reorder_storage` they run along another axis, and with `fuse_at` it is a tile that is read
    once. Other functions still read `A`. TVM: `cache_read`; Halide: `in`.

    ```
    %a = loop.read %A_ptr[%x, %k]   ->   %a = loop.read %A_copy_ptr[%x, %k]
    ```
    """

    name = "schedule-cache-read"
    phase: ClassVar[Phase] = Phase.COPIES
    decides_bits: ClassVar[bool] = False

    tensor: str = parameter(Name("name"), "The input or the function that is read.")
    copy: str = parameter(Name("name"), "The name of the function that copies it.")

    def rewrite(self, site: Site) -> None:
        program, kernel = site.program, site.kernel
        read = [
            name for name, arg in zip(kernel.argument_names, kernel.args)
            if isinstance(arg.type, MemRefType) and name != self.function
        ]  # fmt: skip
        known = program.copies.get((self.function, self.tensor))
        if known is not None:
            raise site.error(
                f"'{self.function}' reads '{self.tensor}' by way of '{known}' already",
                f"leave one of them out, or copy the copy: {self.function}.cache_read({known}, …)",
                self.directive_name(),
            )
        if self.tensor not in read:
            scalar = self.tensor in kernel.argument_names and self.tensor != self.function
            raise site.error(
                f"'{self.tensor}' is a number, which lies in no memory" if scalar
                else f"'{self.function}' does not read '{self.tensor}'",
                "leave the directive out" if scalar else did_you_mean(self.tensor, read)
                or f"it reads {', '.join(read) or 'no tensor'}",
            )
        axes = host.tensor_axes(program.tensor_values()[self.tensor])
        if not axes:
            raise site.error(
                f"'{self.tensor}' has one element, and no axes to copy along",
                "leave the directive out",
            )
        if not all(axes):
            raise site.error(
                f"an axis of '{self.tensor}' is indexed by numbers alone, and has no label to loop "
                "over",
                "define the copy as a function, with a label for each axis",
            )
        twice = next((label for label in axes if axes.count(label) > 1), None)
        if twice is not None:
            raise site.error(
                f"two axes of '{self.tensor}' are called '{twice}', as loops over them would be",
                "define the copy as a function, with a label for each axis",
            )
        site.check_new_name(
            self.copy, "the directive defines the function that copies: name another"
        )
        program.copies[self.function, self.tensor] = self.copy
        self._add_copy(site, kernel, axes)
        self._read_copy(site, kernel)

    def _add_copy(self, site: Site, reader: loop.KernelOp, axes: tuple[str, ...]) -> None:
        """Adds the tensor, and the kernel that copies to it."""
        program = site.program
        location = site.location or reader.location
        source = program.tensor_values()[self.tensor]
        assert isinstance(source.type, MemRefType)
        program.allocate(self.copy, axes, source.type.element_type, location)
        target = program.tensor_values()[self.copy]
        arguments = program.in_argument_order([self.tensor, self.copy])
        values = {self.tensor: source, self.copy: target}
        entry = Block(arg_types=[values[name].type for name in arguments])
        named: dict[str, SSAValue] = dict(zip(arguments, entry.args))
        for name, arg in named.items():
            arg.name_hint = memory_hint(name)
        nest = _nest(named[self.tensor], named[self.copy], self.copy, axes, location)
        entry.add_op(loop.GridOp(Region(Block([nest]))))
        copy = loop.KernelOp(
            f"{self.copy}_kernel", self.copy, [x for x in program.labels() if x in axes],
            [(name, axes) for name in arguments], Region(entry), dynamic=reader.dynamic,
        )  # fmt: skip
        copy.location = location
        program.add(copy, reader)

    def _read_copy(self, site: Site, kernel: loop.KernelOp) -> None:
        """Lets a kernel read the copy in place of the tensor."""
        program = site.program
        set_arguments(program, kernel, {*kernel.argument_names, self.copy})
        source, target = (argument_named(kernel, name) for name in (self.tensor, self.copy))
        assert source is not None
        assert target is not None
        for read in [use.operation for use in source.uses]:
            for value in read.results:
                if value.name_hint == value_hint(self.tensor):
                    value.name_hint = value_hint(self.copy)
        source.replace_all_uses_with(target)
        set_arguments(program, kernel, {*kernel.argument_names} - {self.tensor})
        program.pass_arguments(kernel)


def _nest(
    source: SSAValue, target: SSAValue, function: str, axes: tuple[str, ...], location: LocationAttr
) -> loop.ForOp:
    """Returns the loops that copy a tensor, outermost first along its axes."""
    loops = [loop.ForOp(label, function, Region(Block(arg_types=[IndexType()]))) for label in axes]
    for label, op in zip(axes, loops):
        op.iv.name_hint = value_hint(label)
    indices = [op.iv for op in loops]
    read = loop.ReadOp(source, indices)
    read.result.name_hint = value_hint(function)
    inner: list[Operation] = [read, loop.WriteOp(read.result, target, indices)]
    for op in (*loops, *inner):
        op.location = location
    for op in reversed(loops):
        op.body.block.add_ops(inner)
        inner = [op]
    return loops[0]
