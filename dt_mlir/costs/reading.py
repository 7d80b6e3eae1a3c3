"""Reads the work of a kernel of the `loop` level.

Loop-invariant items count where loop-invariant code motion puts them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import gcd, prod

from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from dt_mlir.analysis.dot_plans import is_dottable
from dt_mlir.analysis.index_growth import coefficient, growth
from dt_mlir.analysis.label_sizes import fixed_sizes
from dt_mlir.analysis.nests import (
    argument_named,
    blocked_loops,
    loop_of,
    reduced_by,
    walked_label,
    write_to,
)
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.costs.domains import shares_of
from dt_mlir.costs.units import bits_of, effort_of, kind_of
from dt_mlir.costs.work import (
    WIDEST,
    Access,
    Loops,
    Product,
    Reach,
    Reduction,
    Scalars,
    Tensor,
    Walk,
    Work,
)
from dt_mlir.dialects import loop
from dt_mlir.dialects.loop.delinearize import is_induction_variable
from dt_mlir.traversal import operations_of


def work_of(
    kernel: loop.KernelOp, sizes: Mapping[str, int], aligned: Collection[str] = ()
) -> Work:
    """Returns what a kernel does.

    Args:
        kernel: a kernel of the `loop` level, scheduled or not.
        sizes: a size for each of its labels.
        aligned: tensors whose rows start at multiples of 16 bytes whatever their sizes are.
    """
    return _Reader(kernel, sizes, aligned).read()


class _Reader:
    def __init__(
        self, kernel: loop.KernelOp, sizes: Mapping[str, int], aligned: Collection[str]
    ) -> None:
        self.aligned = aligned
        self.kernel = kernel
        self.sizes = sizes
        module = kernel.parent_op()
        self.fixed = {} if module is None else fixed_sizes(module)
        self.axes = TileAxes(kernel, {}, every=True)
        self.places = {op: place for place, op in enumerate(self.axes.loops)}
        self.work = Work(kernel.root.data)
        self._scalars: dict[tuple[Loops, Loops, Loops], list[float]] = {}
        self._keys: dict[SSAValue, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._first: dict[Hashable, Loops] = {}

    def read(self) -> Work:
        work, kernel = self.work, self.kernel
        for name, default in (("num_warps", 4), ("num_stages", 3)):
            value = kernel.int_hint(name) if kernel.properties.get(name) is not None else default
            setattr(work, name.removeprefix("num_"), value)
        work.consumers = kernel.specialization.get("consumers", 0)
        if kernel.properties.get("persistent") is not None:
            work.persistent = kernel.int_hint("persistent") or 0
        work.alternating = kernel.alternating is not None
        work.dependent = kernel.dependent_launch is not None
        precision = kernel.properties.get("precision")
        work.precision = precision.data if isinstance(precision, StringAttr) else "ieee"
        blocks = kernel.grid.block_sizes
        work.order = tuple((w.label, w.part, w.factor) for w in kernel.grid.walk_order)
        for op in self.places:
            work.loops.append(self._walk(op, blocks))
        for arg, name in zip(kernel.args, kernel.argument_names):
            if isinstance(arg.type, MemRefType):
                element = bits_of(arg.type.element_type)
                shape = [self._size(axis) for axis in kernel.axes_of(arg)]
                row = shape[-1] * element // 8 if len(shape) > 1 else WIDEST
                width = WIDEST if name in self.aligned else gcd(row, WIDEST)
                work.tensors[name] = Tensor(prod(shape) * element // 8, element, width)
        self._visit(kernel.grid.body.block, ())
        for loops, (arithmetic, special) in self._scalars.items():
            work.scalars.append(Scalars(*loops, arithmetic, special))
        self._find_whole()
        self._find_grid()
        return work

    def _size(self, label: str) -> int:
        # Sizes that are assumed may not go together, and others follow from them.
        return max(self.sizes.get(label, 1), 0) if not label.isdigit() else 1

    def _symbols(self, op: loop.AccessOp) -> list[int]:
        """Returns the sizes of which indices are made, which may be divided by one of none."""
        return [max(self._size(label), 1) for label in op.size_labels]

    def _walk(self, op: loop.LoopLike, blocks: Mapping[str, int]) -> Walk:
        label = op.label_name
        extent = self._size(label)
        part = None if op.end is None else op.end.owner
        if isinstance(part, loop.PartOp):
            extent = part.step_size if part.parts is None else -(-extent // part.parts)
        block = 0
        if op.origin is not None and part is None or isinstance(part, loop.PartOp):
            block = min(op.extent_size or extent, extent)
        step = op.step_size or block or extent
        reduces = isinstance(op, loop.ReductionLoop)
        share, most = shares_of(op, self._size) if reduces else (1.0, 1.0)
        in_grid = label in blocks and op.origin is not None
        return Walk(
            label, extent, step if op.is_tile else 1, blocks[label] if in_grid else 0,
            share, most,
            isinstance(part, loop.PartOp) and extent < self._size(label),
            isinstance(part, loop.PartOp) and part.function is not None,
            not isinstance(part, loop.PartOp) and label not in self.fixed,
        )  # fmt: skip

    def _visit(self, block: Block, around: Loops) -> None:
        for op in block.ops:
            if isinstance(op, loop.LoopLike):
                self._visit(op.body.block, (*around, self.places[op]))
                # A reduction of nothing but another one carries that one's accumulator.
                if isinstance(op, loop.ReduceOp) and reduced_by(op) is None:
                    self._reduce(op, op.yielded, (*around, self.places[op]), op.is_dot)
            elif isinstance(op, loop.RunningOp):
                self._reduce(op.loop, tuple(op.terms), around, op.is_dot, running=True)
                if op.repair is not None:
                    outside = self._depends(op.result)
                    for inner in op.repair.block.ops:
                        self._count(inner, around, outside)
            elif isinstance(op, loop.PrefixOp):
                depends = self._depends(op.value)
                over = self.places[op.loop]
                self.work.reductions.append(Reduction(around, depends, over, True))
            elif isinstance(op, loop.ReadOp | loop.WriteOp):
                self._access(op, around)
            elif isinstance(op, loop.LocalOp):
                self._buffer(op)
            elif isinstance(op, loop.PartOp):
                self.work.single.update(self._depends(op.index))
            else:
                for value in op.results[:1]:
                    self._count(op, around, self._depends(value))

    def _reduce(
        self, op: loop.ReductionLoop, terms: tuple[SSAValue, ...], around: Loops,
        is_dot: bool, running: bool = False,
    ) -> None:
        depends = self._depends(*terms)
        over = self.places[op]
        if not is_dot or not is_dottable(terms[0].type):
            # A multiplication and an addition are one operation.
            self.work.reductions.append(Reduction(around, depends, over, running=running))
            return
        left, right = (self._depends(term) for term in terms)
        if max({*left} - {*right}, default=-1) > max({*right} - {*left}, default=-1):
            # Its rows are along the outer loops, whichever factor is written first.
            left, right = right, left
        depth = [over]
        parent = op.parent_op()
        while isinstance(parent, loop.ReduceOp) and parent.yielded == tuple(op.results):
            depth.append(self.places[parent])
            op, parent = parent, parent.parent_op()
        type = terms[0].type
        self.work.products.append(
            Product(kind_of(type, self.work.precision), bits_of(type), around, left, right,
                    tuple(d for d in depth if d in left and d in right),
                    not all(map(_is_loaded, terms)))
        )  # fmt: skip

    def _count(self, op: Operation, around: Loops, depends: Loops) -> None:
        found = effort_of(op)
        if not any(found) or (op.results and isinstance(op.results[0].type, IndexType)):
            return
        first = depends
        if op.results:
            first = self._first.setdefault(self._key(op.results[0]), depends)
        again = tuple(sorted({*first} ^ {*depends}))
        total = self._scalars.setdefault((invariant(around, depends), depends, again), [0.0, 0.0])
        total[0] += found.arithmetic
        total[1] += found.special

    def _key(self, value: SSAValue) -> int:
        """Returns a number that is the same for values that are computed alike, in whatever loops
        over the same labels."""
        if value not in self._keys:
            # A number, as an expression that held others would be as large as its tree.
            made = self._made_key(value)
            self._keys[value] = self._numbers.setdefault(made, len(self._numbers))
        return self._keys[value]

    def _made_key(self, value: SSAValue) -> Hashable:
        op = value.owner
        if isinstance(op, Block):
            parent = op.parent_op()
            return parent.label_name if isinstance(parent, loop.LoopLike) else value
        if isinstance(op, loop.ReadOp) and isinstance(op.base.owner, loop.LocalOp):
            return self._key(write_to(op.base).value)
        operands = tuple(map(self._key, op.operands))
        if isinstance(op, loop.ReduceOp):
            return op.name, op.kind, op.label_name, *map(self._key, op.yielded)
        if op.regions or len(op.results) != 1:
            return value
        return op.name, frozenset(op.properties.items()), *operands

    def _access(self, op: loop.ReadOp | loop.WriteOp, around: Loops) -> None:
        if isinstance(op.base.owner, loop.LocalOp):
            return
        indices, axes = op.indices, self._axes(op)
        each = [self._depends(value) for value in indices]
        depends = tuple(sorted({place for found in each for place in found}))
        if isinstance(op, loop.ReadOp):
            around = invariant(around, depends)
        assert isinstance(op.base, BlockArgument)
        name = self.kernel.argument_names[op.base.index]
        assert isinstance(op.base.type, MemRefType)
        results = op.map.data.results
        symbols = self._symbols(op)
        walked = [self._neighbours(expr, indices, symbols) for expr in reversed(results)]
        fastest = walked[0] if walked else {}
        further: dict[int, int] = {}
        for inner, outer, axis in zip(walked, walked[1:], reversed(self.kernel.axes_of(op.base))):
            points = prod(-(-self.work.loops[p].extent // n) for p, n in inner.items())
            if axis not in self.sizes or points < self.sizes[axis]:
                break
            further.update((p, n) for p, n in outer.items() if p not in fastest)
        feeds = False
        if isinstance(op, loop.ReadOp):
            users = [use.operation for use in op.results[0].uses]
            feeds = any(_is_product(user) for user in users)
        key = self._key_of_elements(op, name, axes)
        self.work.accesses.append(Access(
            name, bits_of(op.base.type.element_type), isinstance(op, loop.WriteOp), around, depends,
            tuple(fastest), key, axes, feeds, tuple(fastest.values()),
            self._windows(op), tuple(further), tuple(further.values()),
            _scattered(results, each, fastest),
        ))  # fmt: skip

    def _windows(self, op: loop.AccessOp) -> tuple[tuple[Reach, ...], ...]:
        """Returns the indices that are added for an axis, for each axis that has several."""
        found: list[tuple[Reach, ...]] = []
        for expr in op.map.data.results:
            dims = sorted(expr.used_dims())
            if len(dims) < 2:
                continue
            symbols = self._symbols(op)
            distances = [coefficient(expr, dim, symbols) for dim in dims]
            reached = [
                self._reach(op.indices[dim], distance)
                for dim, distance in zip(dims, distances) if distance and distance > 0
            ]  # fmt: skip
            known = [item for item in reached if item is not None]
            if len(known) == len(reached) > 1:
                found.append(tuple(known))
        return tuple(found)

    def _reach(self, index: SSAValue, distance: int) -> Reach | None:
        """Returns an index that others are added to; None if it is of no loop."""
        owner = index.owner
        if isinstance(owner, loop.DelinearizeOp):
            sizes = [self._size(label) for label in owner.label_names]
            at = owner.indices.index(index)
            place = self.places[loop_of(owner.index)]
            return Reach(place, distance, max(prod(sizes[at + 1 :]), 1), sizes[at])
        if not is_induction_variable(index):
            return None
        return Reach(self.places[loop_of(index)], distance)

    def _key_of_elements(
        self, op: loop.AccessOp, tensor: str, axes: tuple[str, ...]
    ) -> tuple[object, ...]:
        """Returns a key of the elements that an access addresses.

        It is that of an earlier one which differs in the label that walks the last axis alone.
        """
        values = tuple(map(self._key_of_index, op.indices))
        last = axes[-1] if axes else ""
        for item in self.work.accesses if last else ():
            known = item.axes[-1] if item.axes else ""
            if item.tensor != tensor or not known or item.key[0] != op.map or last == known:
                continue
            pairs = zip(item.key[1:], values)
            alike = all(own == other or (own, other) == ((known,), (last,)) for own, other in pairs)
            if not alike or item.axes[:-1] != axes[:-1]:
                continue
            if self._size(known) == self._size(last):
                self.work.twins.setdefault(known, set()).add(last)
                self.work.twins.setdefault(last, set()).add(known)
                return item.key
        return op.map, *values

    def _key_of_index(self, value: SSAValue) -> Hashable:
        """Returns what is equal for indices that take about the same values.

        What is computed of loops' indices alone does where the loops have the same labels, as
        neighbours are at hand; what is read from memory does where it is computed alike.
        """
        if _is_read(value):
            return self._key(value)
        return tuple(sorted(self.work.loops[p].label for p in self._depends(value)))

    def _axes(self, op: loop.AccessOp) -> tuple[str, ...]:
        found = op.index_values()
        return tuple(walked_label(i) if isinstance(i, SSAValue) else "" for i in found)

    def _neighbours(
        self, expr: AffineExpr, values: Sequence[SSAValue], symbols: list[int]
    ) -> dict[int, int]:
        """Returns the loops whose indices count neighbours, the one that counts single elements
        first, and each that goes on where the one before it ends.

        With each goes how many of its points address one element.
        """
        found: dict[int, int] = {}
        stride = 1
        dims = sorted(expr.used_dims())
        while dims:
            for dim in dims:
                distance, repeats = growth(expr, dim, symbols)
                if distance == stride and is_induction_variable(values[dim]):
                    break
            else:
                break
            dims.remove(dim)
            found.setdefault(self.places[loop_of(values[dim])], repeats)
            stride *= -(-self._size(walked_label(values[dim])) // repeats)
        return found

    def _buffer(self, op: loop.LocalOp) -> None:
        write = write_to(op.result)
        indices = [i for i in write.index_values() if isinstance(i, SSAValue)]
        assert isinstance(op.result.type, MemRefType)
        held = self._depends(*indices)
        self.work.buffers.append((held, bits_of(op.result.type.element_type)))

    def _find_grid(self) -> None:
        """Finds the loops of the root that the grid may partition.

        One beside which there are others over its label would leave these whole, and each block of
        one beside which another function is stored would store that.
        """
        base = argument_named(self.kernel, self.kernel.root.data)
        if base is None:
            return
        counts = {label: len(places) for label, places in self.work.labels().items()}
        write = write_to(base)
        parent = write.parent_op()
        around: list[Operation] = []
        while parent is not None and not isinstance(parent, loop.GridOp):
            around.insert(0, parent)
            parent = parent.parent_op()
        own = blocked_loops(self.kernel, write)
        others = [op for op in self._writes() if op is not write]
        for op in around:
            if op not in own.values() or not isinstance(op, loop.ForOp) or loop.prefixes_of(op):
                continue
            place = self.places[op]
            if any(not op.is_ancestor(other) for other in others):
                continue
            alone = counts[op.label_name] == 1 or place in self.work.single
            if alone or op.origin is not None:
                self.work.grid[op.label_name] = place

    def _writes(self) -> list[loop.WriteOp]:
        """Returns the writes to tensors."""
        found = operations_of(self.kernel, loop.WriteOp)
        return [op for op in found if isinstance(op.base, BlockArgument)]

    def _find_whole(self) -> None:
        """Finds the loops along which fused functions are held."""
        for op in operations_of(self.kernel, loop.LocalOp):
            write = write_to(op.result)
            for access in [write, *(u.operation for u in op.result.uses)]:
                if not isinstance(access, loop.ReadOp | loop.WriteOp):
                    continue
                for index in access.index_values():
                    if isinstance(index, SSAValue):
                        found = loop_of(index)
                        if not found.is_ancestor(op):
                            self.work.whole.add(self.places[found])

    def _depends(self, *values: SSAValue) -> Loops:
        found = {self.places[op] for value in values for op in self.axes.of(value)}
        return tuple(sorted(found))


def invariant(around: Loops, depends: Iterable[int]) -> Loops:
    """Returns the loops around an item that loop-invariant code motion leaves it in."""
    found = set(depends)
    kept = list(around)
    while kept and kept[-1] not in found:
        kept.pop()
    return tuple(kept)


def _scattered(
    axes: Iterable[AffineExpr], depends: Sequence[Loops], fastest: Mapping[int, int]
) -> int:
    """Returns in how many places neighbouring points of the fastest loop lie; see `Access`.

    Args:
        axes: the index of each axis.
        depends: the loops of each value that the indices are made of.
        fastest: the loops that count neighbours, with how many points address one element.
    """
    place, repeats = next(iter(fastest.items()), (0, 1))
    if repeats == 1:
        return 0
    found = sum(any(place in depends[dim] for dim in expr.used_dims()) for expr in axes)
    return repeats if found > 1 else 1


def _is_loaded(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, loop.ReadOp) and isinstance(op.base, BlockArgument)


def _is_read(value: SSAValue) -> bool:
    """Returns whether a value depends on elements of tensors."""
    pending, known = [value], {value}
    while pending:
        op = pending.pop().owner
        if isinstance(op, Block):
            continue
        if isinstance(op, loop.ReadOp) or op.regions:
            return True
        pending += [operand for operand in op.operands if operand not in known]
        known.update(op.operands)
    return False


def _is_product(op: Operation) -> bool:
    if isinstance(op, loop.YieldOp):
        parent = op.parent_op()
        return isinstance(parent, loop.ReduceOp) and parent.is_dot
    return isinstance(op, loop.RunningOp) and op.is_dot
