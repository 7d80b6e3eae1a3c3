"""The `tile` dialect: block programs on tiles, with masks and memory, free of labels' loops.

What has no axis is a plain scalar and needs no operation of this dialect. Elementwise work on
tiles sits in `tile.map`, whose body is scalar `arith`, `math` and `elem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.kernel import KernelOp as KernelBase
from dt_mlir.dialects.tile_types import (
    AxesAttr,
    Axis,
    axes_of,
    axis_names,
    check_tile,
    element_of,
    is_subsequence,
    tile_type,
)
from dt_mlir.element_types import value_type

SCALAR_DIALECTS = ("arith", "math", "elem")
"""The dialects whose operations the body of a `tile.map` may hold."""


@irdl_op_definition
class KernelOp(KernelBase):
    """A kernel as a block program: its body is what one program instance does.

    `grid_labels` and `grid_blocks` say what each program instance computes; `least` says to what
    power of two at least the whole extent of a label is padded (a dot needs 16).
    """

    name = "tile.kernel"

    grid_labels = prop_def(ArrayAttr[StringAttr])
    """The partitioned labels; the grid has a program instance for each block."""
    grid_blocks = prop_def(ArrayAttr[IntegerAttr])
    """The extent of a block along each."""
    least = opt_prop_def(DictionaryAttr)
    """Labels whose whole extent is padded to a least power of two, with that."""

    @property
    def grid(self) -> list[tuple[str, int]]:
        """The partitioned labels and the extents of their blocks."""
        return [(n.data, b.value.data) for n, b in zip(self.grid_labels, self.grid_blocks)]

    @property
    def least_extents(self) -> dict[str, int]:
        """The least extents that whole labels are padded to."""
        items = self.least.data.items() if self.least else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    def verify_(self) -> None:
        super().verify_()
        if len(self.grid_labels) != len(self.grid_blocks):
            raise VerifyException("the grid needs a block for each of its labels")
        if any(block.value.data < 1 for block in self.grid_blocks):
            raise VerifyException("the extent of a block must be positive")


@irdl_op_definition
class ProgramIdOp(IRDLOperation):
    """The number of the program instance in the grid."""

    name = "tile.program_id"

    result = result_def(IndexType())
    """The number, from 0."""

    assembly_format = "attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label."""

    name = "tile.size"

    label = prop_def(StringAttr)
    """The label."""
    result = result_def(IndexType())
    """Its size."""

    assembly_format = "$label attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])


@irdl_op_definition
class RangeOp(IRDLOperation):
    """The indices along one axis: `origin`, `origin + 1`, … .

    With a bound, the axis ends there: elements beyond do not exist, whatever is done with the
    tile. `tile-place-masks` makes axes physical: powers of two, without bounds, and masks where
    elements beyond the bound would matter.
    """

    name = "tile.range"

    label = prop_def(StringAttr)
    """The label that the axis walks."""
    origin = operand_def(IndexType())
    """The first index."""
    bound = opt_operand_def(IndexType())
    """The index at which the axis ends."""
    result = result_def(TensorType)
    """The indices, a tile of the one axis."""

    assembly_format = (
        "$label `from` $origin (`to` $bound^)? attr-dict `:` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, label: str, origin: SSAValue, bound: SSAValue | None, axis: Axis
    ) -> None:
        super().__init__(
            operands=[origin, bound],
            properties={"label": StringAttr(label)},
            result_types=[tile_type(IndexType(), [axis])],
        )

    @property
    def axis(self) -> Axis:
        """The axis."""
        return axes_of(self.result.type)[0]

    def verify_(self) -> None:
        check_tile(self.result.type)
        if len(axes_of(self.result.type)) != 1 or not isinstance(
            element_of(self.result.type), IndexType
        ):
            raise VerifyException("a range is a tile of indices along one axis")


@irdl_op_definition
class MaskOp(IRDLOperation):
    """Which indices along an axis are below a bound.

    `divisor` says that all are if it divides the bound; `whole` that all are if the bound is the
    padded extent of the axis. Then the mask costs nothing once sizes are known.
    """

    name = "tile.mask"

    index = operand_def(TensorType)
    """The indices, a tile of one axis."""
    bound = operand_def(IndexType())
    """The bound."""
    divisor = opt_prop_def(IntegerAttr)
    """A number that makes the mask true throughout where it divides the bound."""
    whole = opt_prop_def(UnitAttr)
    """Whether the mask is true throughout where the axis is exactly as long as the bound."""
    result = result_def(TensorType)
    """The mask, a tile of the same axis."""

    assembly_format = (
        "$index `below` $bound (`divisor` `(` $divisor^ `)`)? (`whole` $whole^)? attr-dict "
        "`:` type($index) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, index: SSAValue, bound: SSAValue, divisor: int | None = None, whole: bool = False
    ) -> None:
        super().__init__(
            operands=[index, bound],
            properties={
                "divisor": None if divisor is None else IntegerAttr(divisor, i64),
                "whole": UnitAttr() if whole else None,
            },
            result_types=[tile_type(i1, axes_of(index.type))],
        )

    def verify_(self) -> None:
        check_tile(self.index.type)
        axes = axes_of(self.index.type)
        if len(axes) != 1 or not isinstance(element_of(self.index.type), IndexType):
            raise VerifyException("a mask is taken of the indices along one axis")
        if self.result.type != tile_type(i1, axes):
            raise VerifyException("a mask is a tile of 'i1' along the axis of its indices")
        if self.divisor is not None and self.divisor.value.data < 1:
            raise VerifyException("the divisor of a mask must be positive")
        if self.whole is not None and not axes[0].is_symbolic:
            raise VerifyException("only an axis of a whole label can be exactly as long as it")


class AccessOp(IRDLOperation):
    """What `tile.load` and `tile.store` have in common: a tile of a tensor's elements."""

    base = operand_def(MemRefType)
    """The tensor."""
    indices = var_operand_def()
    """For each of its axes an index, or a tile of indices."""
    masks = var_operand_def(TensorType)
    """Masks that must all be true for an element to be touched."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def access_axes(self) -> tuple[str, ...]:
        """The names of the axes that the indices have between them."""
        found: list[str] = []
        for index in self.indices:
            found.extend(n for n in axis_names(index.type) if n not in found)
        return tuple(found)

    def check_access(self, value: Attribute) -> None:
        """Check indices, masks and the tile's type.

        Raises:
            VerifyException: where they do not fit.
        """
        assert isinstance(self.base.type, MemRefType)
        if len(self.indices) != self.base.type.get_num_dims():
            raise VerifyException(
                f"a tensor of {self.base.type.get_num_dims()} axes has {len(self.indices)} indices"
            )
        known: dict[str, Axis] = {}
        for index in self.indices:
            check_tile(index.type)
            if not isinstance(element_of(index.type), IndexType):
                raise VerifyException("an index is an 'index' or a tile of them")
            known.update({axis.name: axis for axis in axes_of(index.type)})
        for mask in self.masks:
            check_tile(mask.type)
            if element_of(mask.type) != i1:
                raise VerifyException("a mask is a tile of 'i1'")
            if not set(axis_names(mask.type)) <= set(known):
                raise VerifyException("a mask has an axis that the indices have not")
        check_tile(value)
        for axis in axes_of(value):
            if known.get(axis.name) != axis:
                raise VerifyException(f"the tile has an axis '{axis.name}' that no index has")
        if element_of(value) != value_type(self.base.type.element_type):
            raise VerifyException(f"an element of {self.base.type} is no {element_of(value)}")


@irdl_op_definition
class LoadOp(AccessOp):
    """Loads a tile of a tensor's elements.

    An index without axes is one place, a tile of indices is one for each of its elements. Where
    a mask is false nothing is read, and `pad` stands in. What a kernel loads from it never
    stores to, so that a load may be moved and merged like any pure operation.
    """

    name = "tile.load"

    pad = opt_prop_def(FloatAttr | IntegerAttr)
    """What stands in for masked elements."""
    result = result_def()
    """The tile, its axes in any order."""

    assembly_format = (
        "$base `[` $indices `]` (`masked` `[` $masks^ `:` type($masks) `]`)? (`pad` $pad^)? "
        "attr-dict `:` type($base) `[` type($indices) `]` `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        axes: Sequence[Axis],
        masks: Sequence[SSAValue] = (),
        pad: Attribute | None = None,
    ) -> None:
        assert isinstance(base.type, MemRefType)
        super().__init__(
            operands=[base, indices, masks],
            properties={"pad": pad},
            result_types=[tile_type(value_type(base.type.element_type), axes)],
        )

    def verify_(self) -> None:
        self.check_access(self.result.type)
        if set(axis_names(self.result.type)) != set(self.access_axes()):
            raise VerifyException("the tile must have the axes that the indices have")
        if bool(self.masks) != (self.pad is not None):
            raise VerifyException("a load has a pad where it has masks, and only there")
        if self.pad is not None and self.pad.type != element_of(self.result.type):
            raise VerifyException(f"the pad must be of type {element_of(self.result.type)}")


@irdl_op_definition
class StoreOp(AccessOp):
    """Stores a tile, its axes in any order; where a mask is false, nothing is written."""

    name = "tile.store"

    value = operand_def()
    """The tile."""

    assembly_format = (
        "$value `,` $base `[` $indices `]` (`masked` `[` $masks^ `:` type($masks) `]`)? "
        "attr-dict `:` type($value) `,` type($base) `[` type($indices) `]`"
    )

    def __init__(
        self,
        value: SSAValue,
        base: SSAValue,
        indices: Sequence[SSAValue],
        masks: Sequence[SSAValue] = (),
    ) -> None:
        super().__init__(operands=[value, base, indices, masks])

    def verify_(self) -> None:
        self.check_access(self.value.type)
        if set(axis_names(self.value.type)) != set(self.access_axes()):
            raise VerifyException("the tile must have the axes that the indices have")


@irdl_op_definition
class MapOp(IRDLOperation):
    """Elementwise work on tiles and scalars: the body computes one element.

    Operands lack what axes they do not depend on, and are the same along them; the axes that
    they have are in the result's order.
    """

    name = "tile.map"

    inputs = var_operand_def()
    """The tiles and scalars."""
    body = region_def("single_block")
    """Computes one element from theirs."""
    result = result_def(TensorType)
    """The tile."""

    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(self, inputs: Sequence[SSAValue], type: Attribute, body: Region) -> None:
        super().__init__(operands=[inputs], result_types=[type], regions=[body])

    @property
    def yielded(self) -> SSAValue:
        """What the body yields."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.value

    def verify_(self) -> None:
        check_tile(self.result.type)
        axes = axes_of(self.result.type)
        args = self.body.block.args
        if len(args) != len(self.inputs):
            raise VerifyException("the body of a map takes one element of each operand")
        for arg, value in zip(args, self.inputs):
            check_tile(value.type)
            if arg.type != element_of(value.type):
                raise VerifyException(f"an element of {value.type} is no {arg.type}")
            if not is_subsequence(axes_of(value.type), axes):
                raise VerifyException(f"{value.type} does not broadcast to {self.result.type}")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.value.type != element_of(self.result.type):
            raise VerifyException("the body of a map must yield an element of its result")
        for op in self.body.block.ops:
            if op is not last and op.name.split(".")[0] not in SCALAR_DIALECTS:
                raise VerifyException(f"'{op.name}' cannot stand in the body of a map")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def item() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            arg = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            return arg, parser.resolve_operand(operand, parser.parse_type())

        items = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
        parser.parse_punctuation("->")
        type = parser.parse_type()
        attrs = parser.parse_optional_attr_dict_with_keyword()
        args = [arg.resolve(element_of(value.type)) for arg, value in items]
        body = parser.parse_region(args)
        op = cls([value for _, value in items], type, body)
        op.attributes |= dict(attrs.data) if attrs else {}
        return op

    def print(self, printer: Printer) -> None:
        def item(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        printer.print_string(" (")
        printer.print_list(zip(self.body.block.args, self.inputs), item)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a map with its element."""

    name = "tile.yield"

    value = operand_def()
    """The element."""

    assembly_format = "$value attr-dict `:` type($value)"
    traits = traits_def(IsTerminator(), HasParent(MapOp))

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value])


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduces a tile along one axis."""

    name = "tile.reduce"

    kind = prop_def(ReductionKindAttr)
    """How elements are combined; no `dot`, `argmax` or `argmin`."""
    value = operand_def(TensorType)
    """The tile."""
    axis = prop_def(StringAttr)
    """The axis that is reduced."""
    result = result_def()
    """The tile without it."""

    assembly_format = (
        "$kind $value `along` $axis attr-dict `:` type($value) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, axis: str) -> None:
        super().__init__(
            operands=[value],
            properties={"kind": ReductionKindAttr(kind), "axis": StringAttr(axis)},
            result_types=[_without(value.type, axis)],
        )

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' has an operation of its own")
        _check_reduced(self.value.type, self.axis.data, self.result.type)
        check_reduction(kind, [element_of(self.value.type)], element_of(self.result.type))


@irdl_op_definition
class ArgReduceOp(IRDLOperation):
    """Finds the extreme element of a tile along one axis, and its index: the first of equals.

    NaN is more extreme than any number.
    """

    name = "tile.arg_reduce"

    kind = prop_def(ReductionKindAttr)
    """`argmax` or `argmin`."""
    value = operand_def(TensorType)
    """The tile."""
    index = operand_def(TensorType)
    """Its elements' indices, i64, of the same axes."""
    axis = prop_def(StringAttr)
    """The axis that is reduced."""
    extreme = result_def()
    """The extreme elements."""
    position = result_def()
    """Their indices."""

    assembly_format = (
        "$kind $value `,` $index `along` $axis attr-dict "
        "`:` type($value) `,` type($index) `->` type($extreme) `,` type($position)"
    )
    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, index: SSAValue, axis: str) -> None:
        super().__init__(
            operands=[value, index],
            properties={"kind": ReductionKindAttr(kind), "axis": StringAttr(axis)},
            result_types=[_without(value.type, axis), _without(index.type, axis)],
        )

    def verify_(self) -> None:
        if not self.kind.data.is_arg:
            raise VerifyException(f"'{self.kind.data}' gives no index")
        _check_reduced(self.value.type, self.axis.data, self.extreme.type)
        _check_reduced(self.index.type, self.axis.data, self.position.type)
        if axes_of(self.value.type) != axes_of(self.index.type):
            raise VerifyException("elements and indices must have the same axes")
        if element_of(self.index.type) != i64 or element_of(self.position.type) != i64:
            raise VerifyException("an index is an 'i64'")
        if element_of(self.extreme.type) != element_of(self.value.type):
            raise VerifyException("an extreme element has the elements' type")


@irdl_op_definition
class DotOp(IRDLOperation):
    """A product of matrices, or of a batch of them, added to an accumulator where there is one.

    The axes of `lhs` are (batch…, m, k), those of `rhs` (batch…, k, n), those of the result
    (batch…, m, n).
    """

    name = "tile.dot"

    lhs = operand_def(TensorType)
    """The left matrix."""
    rhs = operand_def(TensorType)
    """The right matrix, of the same element type."""
    acc = opt_operand_def(TensorType)
    """What the product is added to."""
    result = result_def(TensorType)
    """The product, in the type that the elements are computed in."""

    assembly_format = (
        "$lhs `,` $rhs (`acc` $acc^ `:` type($acc))? attr-dict "
        "`:` type($lhs) `,` type($rhs) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue | None, type: Attribute
    ) -> None:
        super().__init__(operands=[lhs, rhs, acc], result_types=[type])

    def verify_(self) -> None:
        for type in (self.lhs.type, self.rhs.type, self.result.type):
            check_tile(type)
        lhs, rhs = axes_of(self.lhs.type), axes_of(self.rhs.type)
        result = axes_of(self.result.type)
        if len(lhs) < 2 or len(lhs) != len(rhs) or lhs[:-2] != rhs[:-2] or lhs[-1] != rhs[-2]:
            raise VerifyException("a dot multiplies tiles (batch…, m, k) and (batch…, k, n)")
        if result != (*lhs[:-1], rhs[-1]) or lhs[-2].name == rhs[-1].name:
            raise VerifyException("the result of a dot has the axes (batch…, m, n)")
        check_reduction(
            ReductionKind.DOT,
            [element_of(self.lhs.type), element_of(self.rhs.type)],
            element_of(self.result.type),
        )
        if self.acc is not None and self.acc.type != self.result.type:
            raise VerifyException("the accumulator of a dot has its result's type")


@irdl_op_definition
class FillOp(IRDLOperation):
    """A tile that holds one scalar throughout."""

    name = "tile.fill"

    value = operand_def()
    """The scalar."""
    result = result_def(TensorType)
    """The tile."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    def verify_(self) -> None:
        check_tile(self.result.type)
        if self.value.type != element_of(self.result.type):
            raise VerifyException("a tile is filled with a scalar of its element type")


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """Gives a tile axes along which it is the same."""

    name = "tile.broadcast"

    value = operand_def(TensorType)
    """The tile."""
    result = result_def(TensorType)
    """The tile with further axes."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if element_of(self.value.type) != element_of(self.result.type) or not is_subsequence(
            axes_of(self.value.type), axes_of(self.result.type)
        ):
            raise VerifyException(f"{self.value.type} does not broadcast to {self.result.type}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """A tile with its axes in another order."""

    name = "tile.transpose"

    value = operand_def(TensorType)
    """The tile."""
    result = result_def(TensorType)
    """The tile with its axes in the result's order."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, axes: Sequence[Axis]) -> None:
        super().__init__(
            operands=[value], result_types=[tile_type(element_of(value.type), axes)]
        )

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if sorted(axes_of(self.value.type), key=str) != sorted(
            axes_of(self.result.type), key=str
        ) or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("a transpose keeps the elements and the axes")


@irdl_op_definition
class RenameOp(IRDLOperation):
    """A tile whose axes stand for other loops of the same extents.

    Where what one loop produced is consumed by another, one axis takes the place of the other.
    """

    name = "tile.rename"

    value = operand_def(TensorType)
    """The tile."""
    ranges = var_operand_def(TensorType)
    """The ranges of the axes that take the others' places."""
    result = result_def(TensorType)
    """The tile with renamed axes, in the same order."""

    assembly_format = (
        "$value `to` $ranges attr-dict `:` type($value) `,` type($ranges) `->` type($result)"
    )
    traits = traits_def(Pure())

    def __init__(
        self, value: SSAValue, ranges: Sequence[SSAValue], axes: Sequence[Axis]
    ) -> None:
        super().__init__(
            operands=[value, ranges],
            result_types=[tile_type(element_of(value.type), axes)],
        )

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        before = [axis.extent for axis in axes_of(self.value.type)]
        after = [axis.extent for axis in axes_of(self.result.type)]
        if before != after or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("renaming axes keeps the elements and the extents")
        known = {*axes_of(self.value.type), *(a for r in self.ranges for a in axes_of(r.type))}
        if not set(axes_of(self.result.type)) <= known:
            raise VerifyException("renaming needs the range of each new axis")


def _without(type: Attribute, axis: str) -> Attribute:
    return tile_type(element_of(type), [a for a in axes_of(type) if a.name != axis])


def _check_reduced(value: Attribute, axis: str, result: Attribute) -> None:
    check_tile(value)
    check_tile(result)
    if axis not in axis_names(value):
        raise VerifyException(f"there is no axis '{axis}' to reduce along")
    if axes_of(_without(value, axis)) != axes_of(result):
        raise VerifyException(f"the result must have the axes without '{axis}'")


Tile = Dialect(
    "tile",
    [
        KernelOp, ProgramIdOp, SizeOp, RangeOp, MaskOp, LoadOp, StoreOp, MapOp, YieldOp, ReduceOp,
        ArgReduceOp, DotOp, FillOp, BroadcastOp, TransposeOp, RenameOp,
    ],
    [AxesAttr],
)  # fmt: skip
