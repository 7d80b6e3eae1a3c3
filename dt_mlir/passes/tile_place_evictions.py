"""`tile-place-evictions`: tells caches which elements a program instance reads again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.access import EVICT_FIRST, EVICT_LAST
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of


def _loop_of(value: SSAValue) -> scf.ForOp | None:
    """The loop whose induction variable a value is."""
    parent = value.owner.parent_op() if not isinstance(value.owner, Operation) else None
    if isinstance(parent, scf.ForOp) and value is parent.body.block.args[0]:
        return parent
    return None


class _Indices:
    """The definitions of a kernel's indices."""

    def __init__(self) -> None:
        self._keys: dict[SSAValue, Hashable] = {}
        self._sources: dict[SSAValue, frozenset[Operation]] = {}

    def key(self, value: SSAValue) -> Hashable:
        """Equal for indices that take the same values, maybe in loops of their own."""
        if value not in self._keys:
            self._keys[value] = self._made_key(value)
        return self._keys[value]

    def _made_key(self, value: SSAValue) -> Hashable:
        loop = _loop_of(value)
        if loop is not None:
            return "loop", *map(self.key, (loop.lb, loop.ub, loop.step))
        op = value.owner
        if not isinstance(op, Operation) or op.regions or len(op.results) != 1:
            return value
        properties = frozenset(op.properties.items())
        extents = tuple(axis.extent for axis in axes_of(op.results[0].type))
        return op.name, properties, extents, *map(self.key, op.operands)

    def sources(self, value: SSAValue) -> frozenset[Operation]:
        """The loops, and the program id, that a value follows from."""
        if value not in self._sources:
            loop = _loop_of(value)
            op = value.owner
            found: set[Operation] = set() if loop is None else {loop}
            if isinstance(op, tile.ProgramIdOp):
                found.add(op)
            for operand in op.operands if isinstance(op, Operation) else ():
                found |= self.sources(operand)
            self._sources[value] = frozenset(found)
        return self._sources[value]

    def follows_program(self, value: SSAValue) -> bool:
        """Returns whether a value is another one in another program instance."""
        return any(isinstance(op, tile.ProgramIdOp) for op in self.sources(value))


def _loops_around(op: Operation) -> set[Operation]:
    found: set[Operation] = set()
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, tile.KernelOp):
        found.add(parent)
        parent = parent.parent_op()
    return found


def _place(kernel: tile.KernelOp) -> None:
    indices = _Indices()
    loads = operations_of(kernel, tile.LoadOp)
    stores = operations_of(kernel, tile.StoreOp)
    # Elements belong to one instance where its place in the grid can be told from their indices,
    # as it can from those of what it stores, and from the same ones wherever they are loaded.
    own = {index for op in stores for index in op.indices if indices.follows_program(index)}
    places: defaultdict[SSAValue, set[tuple[SSAValue | None, ...]]] = defaultdict(set)
    for op in loads:
        follows = [i if indices.follows_program(i) else None for i in op.indices]
        places[op.base].add(tuple(follows))
    shared = {
        base for base, found in places.items()
        if not own or len(found) > 1 or not own <= {*next(iter(found))}
    }  # fmt: skip
    read: defaultdict[Hashable, list[tile.LoadOp]] = defaultdict(list)
    for op in loads:
        if op.base not in shared:
            read[op.base, *map(indices.key, op.indices)].append(op)
    placed = False
    for group in read.values():
        # In a loop that their indices do not follow they are read again in each step.
        once = all(
            _loops_around(op) <= {source for i in op.indices for source in indices.sources(i)}
            for op in group
        )
        if len(group) < 2 or not once:
            continue
        *others, last = group
        for op in others:
            op.eviction_policy = StringAttr(EVICT_LAST)
        last.eviction_policy = StringAttr(EVICT_FIRST)
        placed = True
    for op in stores if placed else ():
        op.eviction_policy = StringAttr(EVICT_FIRST)


@dataclass(frozen=True)
class TilePlaceEvictionsPass(ModulePass):
    """Tells caches which elements a program instance reads again.

    Where an instance goes through elements several times that no other instance reads, caches are
    asked to keep them (`evict_last`), but for the last time; then, and for what the kernel stores,
    they are asked not to (`evict_first`). A row that is normalised in parts comes out of the cache
    the second time. Results do not depend on it.

    ```
    scf.for … { tile.load %A[%row, %col] }
    scf.for … { tile.load %A[%row, %col_1]; tile.store … }
      ->
    scf.for … { tile.load %A[%row, %col] eviction_policy "evict_last" }
    scf.for … { tile.load %A[%row, %col_1] eviction_policy "evict_first"; tile.store … }
    ```
    """

    name = "tile-place-evictions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            _place(kernel)
