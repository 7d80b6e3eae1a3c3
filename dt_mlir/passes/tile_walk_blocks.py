"""`tile-walk-blocks`: makes the program instances of a persistent kernel walk the blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.diagnostics import give_locations
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of


def _differs_between_blocks(op: Operation, differing: set[SSAValue]) -> bool:
    """Returns whether an operation belongs into the loop over blocks.

    What is the same for all blocks stays in front of it, but for tiles, which would take registers
    all the time.
    """
    if op.regions or not is_side_effect_free(op) or any(axes_of(v.type) for v in op.results):
        return True
    return any(value in differing for value in op.operands)


def _number_of_blocks(
    kernel: tile.KernelOp, index: IndexBuilder, same: dict[str, str], fixed: dict[str, int]
) -> SSAValue:
    known = {op.label.data: op.result for op in operations_of(kernel, tile.SizeOp)}
    counts: list[SSAValue] = []
    for label, block in kernel.grid:
        if label in fixed:
            size = index.constant(fixed[label])
        else:
            # A label of the kernel that has the size of this one.
            first = same.get(label, label)
            name = next(n.data for n in kernel.labels if same.get(n.data, n.data) == first)
            size = known.get(name)
            if size is None:
                size = index.builder.insert(tile.SizeOp(name)).result
                size.name_hint = f"{name}_size"
        counts.append(index.ceil_div(size, index.constant(block), f"{label}_blocks"))
    blocks = reduce(index.mul, counts)
    blocks.name_hint = blocks.name_hint or "blocks"
    return blocks


def walk_blocks(kernel: tile.KernelOp, same: dict[str, str], fixed: dict[str, int]) -> None:
    """Makes the program instances of a kernel walk the blocks of its grid.

    Args:
        kernel: a kernel with `persistent`.
        same: for each label the first of those that have its size.
        fixed: the sizes of labels that the program is compiled for.
    """
    block = kernel.body.block
    ids = operations_of(kernel, tile.ProgramIdOp)
    differing: set[SSAValue] = {op.result for op in ids}
    inside: list[Operation] = []
    for op in list(block.ops):
        if op not in ids and _differs_between_blocks(op, differing):
            differing.update(op.results)
            inside.append(op)
            op.detach()
    sizes = [op for op in block.ops if isinstance(op, tile.SizeOp)]
    place = InsertPoint.after(sizes[-1]) if sizes else InsertPoint.at_start(block)
    blocks = _number_of_blocks(kernel, IndexBuilder(Builder(place)), same, fixed)
    end = Builder(InsertPoint.at_end(block))
    program = end.insert(tile.ProgramIdOp()).result
    program.name_hint = "pid"
    programs = end.insert(tile.NumProgramsOp()).result
    programs.name_hint = "programs"
    body = Block(arg_types=[IndexType()])
    number: SSAValue = body.args[0]
    if kernel.alternating is not None:
        number.name_hint = "number"
        turned = tile.AlternateOp(number, blocks, programs)
        inside.insert(0, turned)
        number = turned.result
    number.name_hint = "block"
    for op in ids:
        op.result.replace_all_uses_with(number)
        op.detach()
        op.erase()
    body.add_ops([*inside, scf.YieldOp()])
    end.insert(scf.ForOp(program, blocks, programs, [], Region(body)))
    kernel.programs, kernel.persistent, kernel.alternating = kernel.persistent, None, None


@dataclass(frozen=True)
class TileWalkBlocksPass(ModulePass):
    """Makes the program instances of a persistent kernel walk the blocks of its grid.

    What the kernel does becomes the body of a loop, which takes the blocks from the instance's own
    number on, in steps of the number of instances. `programs` then says how many there are on each
    multiprocessor, as `persistent` did. Scalars that are the same for all blocks stay in front.
    Where rounds alternate, `tile.alternate` says which block a number of the loop is.

    ```
    tile.kernel @f_kernel(…) attributes {persistent = 1 : i32, …} {
      %pid = tile.program_id
      …
      ->
    tile.kernel @f_kernel(…) attributes {programs = 1 : i32, …} {
      %pid = tile.program_id
      %programs = tile.num_programs
      scf.for %block = %pid to %x_blocks step %programs {
        …
    ```
    """

    name = "tile-walk-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        same, fixed = label_classes(op), fixed_sizes(op)
        for kernel in kernels_of(op):
            if kernel.persistent is not None:
                walk_blocks(kernel, same, fixed)
                give_locations(kernel)
