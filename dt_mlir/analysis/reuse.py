"""Reuse of elements by a kernel of the `tile` level: which loads read the same elements again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.traversal import operations_of


class Reuse:
    """Answers which elements the loads of a kernel read, and who else reads them.

    Args:
        kernel: the kernel; the answers hold until it is changed.
    """

    def __init__(self, kernel: tile.KernelOp) -> None:
        self._keys: dict[SSAValue, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._sources: dict[SSAValue, frozenset[Operation]] = {}
        self.loads = operations_of(kernel, tile.LoadOp)
        """The loads of the kernel in program order."""
        self.stores = operations_of(kernel, tile.StoreOp)
        """The stores of the kernel in program order."""
        self._shared = self._tensors_read_by_several_instances()

    def is_shared(self, tensor: SSAValue) -> bool:
        """Returns whether several program instances may load the same element of a tensor.

        Elements belong to one instance if its place in the grid follows from their indices: from
        those indices from which it follows where the kernel stores, the same in all loads.
        """
        return tensor in self._shared

    def loads_of_same_elements(self) -> list[list[tile.LoadOp]]:
        """Returns the loads that read the same elements of a tensor in one program instance.

        Loads in loops of their own, over the same range, read the same elements.
        """
        groups: defaultdict[Hashable, list[tile.LoadOp]] = defaultdict(list)
        for op in self.loads:
            groups[op.base, *map(self._key, op.indices)].append(op)
        return list(groups.values())

    def is_repeated(self, op: tile.LoadOp) -> bool:
        """Returns whether a loop around a load reads the same elements in each of its steps."""
        followed = {source for index in op.indices for source in self._sources_of(index)}
        parent = op.parent_op()
        while parent is not None and not isinstance(parent, tile.KernelOp):
            if parent not in followed:
                return True
            parent = parent.parent_op()
        return False

    def differs_between_instances(self, index: SSAValue) -> bool:
        """Returns whether an index follows from the program id."""
        return any(isinstance(op, tile.ProgramIdOp) for op in self._sources_of(index))

    def _tensors_read_by_several_instances(self) -> set[SSAValue]:
        own = {
            index for op in self.stores for index in op.indices
            if self.differs_between_instances(index)
        }  # fmt: skip
        places: defaultdict[SSAValue, set[tuple[SSAValue | None, ...]]] = defaultdict(set)
        for op in self.loads:
            places[op.base].add(tuple(
                index if self.differs_between_instances(index) else None for index in op.indices
            ))
        return {
            base for base, found in places.items()
            if not own or len(found) > 1 or not own <= {*next(iter(found))}
        }  # fmt: skip

    def _key(self, index: SSAValue) -> int:
        """Returns a number that is equal for indices that take the same values."""
        if index not in self._keys:
            # A number, as a key that held those of operands would be as large as their tree.
            made = self._made_key(index)
            self._keys[index] = self._numbers.setdefault(made, len(self._numbers))
        return self._keys[index]

    def _made_key(self, index: SSAValue) -> Hashable:
        loop = _loop_of(index)
        if loop is not None:
            return "loop", *map(self._key, (loop.lb, loop.ub, loop.step))
        op = index.owner
        if not isinstance(op, Operation) or op.regions or len(op.results) != 1:
            return index
        properties = frozenset(op.properties.items())
        extents = tuple(axis.extent for axis in axes_of(op.results[0].type))
        return op.name, properties, extents, *map(self._key, op.operands)

    def _sources_of(self, value: SSAValue) -> frozenset[Operation]:
        """Returns the loops, and the program id, that a value follows from."""
        if value not in self._sources:
            loop = _loop_of(value)
            op = value.owner
            found: set[Operation] = set() if loop is None else {loop}
            if isinstance(op, tile.ProgramIdOp):
                found.add(op)
            operands: Sequence[SSAValue] = op.operands if isinstance(op, Operation) else ()
            if loop is not None:
                # Instances that walk blocks start at their own numbers.
                operands = (loop.lb,)
            self._sources[value] = frozenset(found).union(*map(self._sources_of, operands))
        return self._sources[value]


def _loop_of(value: SSAValue) -> scf.ForOp | None:
    """Returns the loop whose induction variable a value is, or None."""
    parent = value.owner.parent_op() if not isinstance(value.owner, Operation) else None
    if isinstance(parent, scf.ForOp) and value is parent.body.block.args[0]:
        return parent
    return None
