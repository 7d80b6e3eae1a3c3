"""The products of a kernel whose warps are specialized: their factors and the layouts of results.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.boxes import Box, Boxes
from dt_mlir.diagnostics import CompileError, Note, directive_location, has_location
from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of
from dt_mlir.dialects.warp.types import COLUMNS, INTEGER_COLUMNS, WARPGROUP
from dt_mlir.element_types import is_float
from dt_mlir.traversal import operations_of

ROWS = 16 * WARPGROUP
"""The rows that a warpgroup multiplies at once."""


def refused(kernel: tile.KernelOp, message: str, hint: str, op: Operation) -> CompileError:
    """Returns the refusal to specialize warps, at the directive.

    Args:
        kernel: the kernel.
        message: what stands in the way.
        hint: what would be right.
        op: where it stands.
    """
    name = kernel.root.data
    place = directive_location(kernel.location)
    known = has_location(op) and directive_location(op.location) != place
    notes = [Note("this is where", op.location)] if known else []
    return CompileError(f"{name}.warp_specialize: {message}", place, hint, notes)


class Products:
    """The products of a kernel.

    Args:
        kernel: the kernel.

    Raises:
        CompileError: at the directive, where warpgroups do not multiply such matrices.
    """

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        self.consumers = kernel.specialization["consumers"]
        self.boxes = Boxes(kernel, lambda message, hint, op: refused(kernel, message, hint, op))
        self.dots: Sequence[tile.DotOp] = operations_of(kernel, tile.DotOp)
        if not self.dots:
            raise self._refused(
                "the kernel has no product of matrices", "leave warp_specialize out", kernel
            )
        self._check()
        self.rows = axes_of(self.dots[0].result.type)[0]
        """The axis of the rows of all products."""
        self.layouts: dict[str, warp.MmaLayoutAttr] = {}
        """The layout of tiles with rows, by the axis of their columns."""
        self.factors: dict[tile.DotOp, list[Box | None]] = {}
        """The boxes of each product's factors; None for one in registers."""
        for dot in self.dots:
            self._check_product(dot)

    def _refused(self, message: str, hint: str, op: Operation) -> CompileError:
        return refused(self.kernel, message, hint, op)

    def _check(self) -> None:
        """Checks what the kernel is like.

        Raises:
            CompileError: where it cannot be specialized.
        """
        dot, name = self.dots[0], self.kernel.root.data
        if self.kernel.dynamic is not None:
            raise self._refused(
                "sizes and strides of specialized kernels are constants",
                f"write {name}.compile() without 'dynamic'", dot,
            )  # fmt: skip
        if self.kernel.summed_names:
            raise self._refused(
                "what it writes is added to memory, where copies only store",
                "leave out 'atomic' of rfactor", dot,
            )  # fmt: skip
        for dot in self.dots:
            axes = axes_of(dot.result.type)
            if len(axes) != 2 or any(axis.is_symbolic for axis in axes):
                raise self._refused(
                    "the product is not one of matrices with numbers of rows and columns",
                    f"write {name}.tensorize with a number for each of its labels", dot,
                )
            rows = axes_of(self.dots[0].result.type)[0]
            if axes[0] != rows:
                raise self._refused(
                    f"products have rows along '{', '.join(self._labels(rows))}' and along "
                    f"'{', '.join(self._labels(axes[0]))}'",
                    "compute one of them in a function of its own", dot,
                )

    def _check_product(self, dot: tile.DotOp) -> None:
        """Checks what a product is like, and finds its factors.

        Raises:
            CompileError: where no warpgroup multiplies such matrices.
        """
        columns = axes_of(dot.result.type)[1]
        wanted, count = ROWS * self.consumers, _extent(columns)
        if _extent(self.rows) % wanted:
            raise self._refused(
                f"{self.consumers} consumers multiply a multiple of {wanted} rows, and the tile has"
                f" {_extent(self.rows)}",
                "write consumers:1 or consumers:2: the extents of tiles are powers of two"
                if wanted & (wanted - 1) else self._tiled(self.rows, wanted),
                dot,
            )  # fmt: skip
        element = element_of(dot.rhs.type)
        most = COLUMNS if is_float(element) else INTEGER_COLUMNS
        if count % 8 or count > most:
            of = "" if most == COLUMNS else f" of {element}"
            raise self._refused(
                f"a product{of} has a multiple of 8 columns up to {most}, and the tile has {count}",
                self._tiled(columns, COLUMNS // 2), dot,
            )
        lhs = None if self._is_in_registers(dot.lhs) else self.boxes.of(dot.lhs, dot)
        rhs = self.boxes.of(dot.rhs, dot)
        self.factors[dot] = [lhs, rhs]
        width = rhs.type.width
        if width not in (8, 16):
            raise self._refused(
                f"tensor cores multiply elements of 8 or 16 bits, not of {element}",
                "declare the inputs with a type of 16 bits", dot,
            )  # fmt: skip
        if width == 8 and (lhs is None or lhs.is_transposed or not rhs.is_transposed):
            raise self._refused(
                f"of {element} tensor cores multiply factors in memory alone, whose last axis is "
                "the one that is summed", f"store them so, as in rdot(A[{self.rows.name}, k], "
                f"B[{columns.name}, k], k)", dot,
            )  # fmt: skip
        layout = warp.MmaLayoutAttr.of(
            [self.rows.name, columns.name], [WARPGROUP, 1],
            [16, count, 256 // width],
        )  # fmt: skip
        if self.layouts.setdefault(columns.name, layout) != layout:
            raise self._refused(
                f"products along '{columns.name}' have factors of 8 and of 16 bits",
                "compute one of them in a function of its own", dot,
            )

    def _labels(self, axis: Axis) -> tuple[str, ...]:
        """Returns the labels that the points of an axis are of."""
        for op in operations_of(self.kernel, tile.JoinedRangeOp):
            if op.axis == axis:
                return names(op.labels)
        return (axis.name,)

    def _tiled(self, axis: Axis, count: int) -> str:
        """Returns a hint to give an axis so many points."""
        labels = self._labels(axis)
        if len(labels) == 1:
            return f"write {self.kernel.root.data}.tensorize({labels[0]}:{count})"
        return f"tensorize {', '.join(labels)} by numbers whose product is {count}"

    def _is_in_registers(self, factor: SSAValue) -> bool:
        """Returns whether a first factor is computed of the results of other products."""
        columns = axis_names(factor.type)[1]
        return isinstance(factor.owner, tile.MapOp) and columns in self.layouts


def _extent(axis: Axis) -> int:
    assert isinstance(axis.extent, int)
    return axis.extent
