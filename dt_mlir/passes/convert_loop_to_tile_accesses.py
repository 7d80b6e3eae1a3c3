"""Accesses of the `tile` level: indices, and loads under boundary conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from dt_mlir.analysis.nests import walked_label
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.indices import build_index, index_in_bounds, is_in_bounds
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.index_ranges import is_never_negative
from dt_mlir.dialects.indices import compacted


class Accesses:
    """Inserts the accesses of a kernel.

    Args:
        kernel: a kernel of the `loop` level.
        same: for a label the first of those that have its size.
        env: what stands for values of the `loop` level.
        size_of: gives the size of a label.
    """

    def __init__(
        self,
        kernel: loop.KernelOp,
        same: Mapping[str, str],
        env: Mapping[SSAValue, SSAValue],
        size_of: Callable[[str], SSAValue],
    ) -> None:
        self.kernel, self.same, self.env, self.size_of = kernel, same, env, size_of

    def _index(self, op: loop.AccessOp, expr: AffineExpr, values_at: ValueBuilder) -> SSAValue:
        """Inserts the value of an index."""
        values = [self.env[value] for value in op.indices]
        if isinstance(expr, AffineConstantExpr):
            return IndexBuilder(values_at.builder).constant(expr.value)
        if isinstance(expr, AffineDimExpr):
            return values[expr.position]
        found = compacted([expr])
        sizes = [self.size_of(op.size_labels[i]) for i in found.symbols]
        count = len(found.dims)
        return values_at.elementwise(
            [*(values[i] for i in found.dims), *sizes],
            lambda b, v: build_index(b, found.results[0], v[:count], v[count:]),
        )

    def indices(self, op: loop.AccessOp, values_at: ValueBuilder) -> list[SSAValue]:
        """Inserts the indices of an access."""
        return [self._index(op, expr, values_at) for expr in op.map.data.results]

    def load(self, op: loop.ReadOp, values_at: ValueBuilder) -> tile.LoadOp:
        """Inserts the load of a read, under its boundary condition."""
        indices, inside = self.indices(op, values_at), list[SSAValue]()
        boundary = None if op.boundary is None else op.boundary.data
        assert isinstance(op.base, BlockArgument)
        labels = self.kernel.axes_of(op.base) if boundary is not None else ()
        for axis, (label, expr) in enumerate(zip(labels, op.map.data.results)):
            # An axis without a label is read at numbers alone, which are checked by themselves.
            if not label or self._walks(op, expr, label):
                continue
            index, size = indices[axis], self.size_of(label)
            if boundary != CONSTANT:
                indices[axis] = values_at.elementwise(
                    [index, size], lambda b, v: index_in_bounds(b, str(boundary), v[0], v[1])
                )
                continue
            positive = self._is_never_negative(op, expr)
            if positive and isinstance(index.owner, tile.RangeOp):
                # A loop over another label of the axis' size: once sizes are known it is free.
                end = self.size_of(index.owner.label.data)
                mask = values_at.builder.insert(tile.MaskOp(index, size, end=end)).result
                mask.name_hint = f"{index.owner.axis.name}_inside"
                inside.append(mask)
                continue
            inside.append(
                values_at.elementwise(
                    [index, size], lambda b, v, p=positive: is_in_bounds(b, v[0], v[1], p)
                )
            )
        axes = values_at.union(indices)
        fill = op.exterior if inside else None
        load = tile.LoadOp(self.env[op.base], indices, axes, inside=inside, fill=fill)
        return values_at.builder.insert(load)

    def _walks(self, op: loop.AccessOp, expr: AffineExpr, label: str) -> bool:
        """Returns whether an index is that of a loop over an axis' own label."""
        if not isinstance(expr, AffineDimExpr):
            return False
        value = op.indices[expr.position]
        if not loop.is_induction_variable(value):
            return False
        walked = walked_label(value)
        return self.same.get(walked, walked) == self.same.get(label, label)

    def _is_never_negative(self, op: loop.AccessOp, expr: AffineExpr) -> bool:
        loops = map(loop.is_induction_variable, (op.indices[i] for i in expr.used_dims()))
        return all(loops) and is_never_negative(expr)
