"""Values that a function's body starts from: elements of tensors, indices and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.boundaries import (
    check_boundary,
    parse_boundary,
    print_boundary,
)
from dt_mlir.dialects.formats import NameDirective, name_array, names, symbol_name
from dt_mlir.dialects.identifiers import Identifier, IdentifierRef, Identifiers
from dt_mlir.dialects.indices import (
    IndexParser,
    check_index,
    index_map,
    print_indices,
    substitute,
    symbol,
)
from dt_mlir.dialects.values import parse_optional_value, parse_value

_NO_NAMES = name_array([])


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Reads one element of an input or of another function.

    Each axis has an index, which is quasi-affine in labels: a sum of products, quotients
    (`floordiv`) and remainders (`mod`), with numbers and sizes (`len(x)`) as factors and divisors.
    A value, i32 or i64, may stand where a label may. A boundary condition gives the element where
    an index is out of bounds:

    `%a = dt.read @X[n, 2 * p + r - 1] constant_exterior 0.0 : f32`
    """

    name = "dt.read"
    GRAMMAR: ClassVar = "symbol `[` index, … `]` boundary? attr-dict `:` type"

    source = prop_def(IdentifierRef)
    """The tensor, function or scalar that is read."""
    values = var_operand_def(IntegerType)
    """The values that the indices are made of, behind the labels."""
    labels = prop_def(Identifiers)
    """The labels that the indices are made of."""
    sizes = prop_def(Identifiers, default_value=_NO_NAMES)
    """The labels whose sizes the indices are made of."""
    map = prop_def(AffineMapAttr)
    """From the labels and values, with sizes as symbols, to an index for each axis."""
    boundary = opt_prop_def(StringAttr)
    """The boundary condition, if there is one."""
    exterior = opt_prop_def(FloatAttr | IntegerAttr)
    """The element out of bounds under `constant_exterior`."""
    result = result_def()
    """The element as it lies in memory, signless."""

    traits = traits_def(Pure())

    def __init__(self, source: str, indices: Sequence[str | int], type: Attribute) -> None:
        labels = list(dict.fromkeys(index for index in indices if isinstance(index, str)))
        places = tuple(
            (True, labels.index(index)) if isinstance(index, str) else (False, index)
            for index in indices
        )
        Operation.__init__(
            self,
            properties={
                "source": SymbolRefAttr(source),
                "labels": name_array(labels),
                "sizes": _NO_NAMES,
                "map": index_map(places),
            },
            result_types=[type],
        )

    def set_indices(
        self,
        labels: Sequence[str],
        values: Sequence[SSAValue],
        sizes: Sequence[str],
        map: AffineMap,
    ) -> None:
        """Indexes the axes by a map.

        Args:
            labels: the labels that are its first dimensions.
            values: the values that are the others.
            sizes: the labels whose sizes are its symbols.
            map: an index for each axis.
        """
        self.labels, self.sizes = name_array(labels), name_array(sizes)
        self.map = AffineMapAttr(map)
        self.operands = values

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The labels among the indices."""
        return names(self.labels)

    @property
    def size_labels(self) -> tuple[str, ...]:
        """The labels whose sizes are symbols of the indices."""
        return names(self.sizes)

    @property
    def indices(self) -> tuple[AffineExpr, ...]:
        """The index of each axis."""
        return self.map.data.results

    def label_alone(self, axis: int) -> str | None:
        """Returns the label that is an axis' index by itself; None where the index is another."""
        expr = self.indices[axis]
        if isinstance(expr, AffineDimExpr) and expr.position < len(self.labels):
            return self.used_labels[expr.position]
        return None

    def labels_by_axis(self) -> list[set[str]]:
        """Returns the labels that the index of each axis is made of."""
        count = len(self.labels)
        return [
            {self.used_labels[place] for place in expr.used_dims() if place < count}
            for expr in self.indices
        ]

    @property
    def is_guarded(self) -> bool:
        """True if a boundary condition gives the element out of bounds."""
        return self.boundary is not None

    @property
    def source_name(self) -> str:
        """The name of what is read."""
        return symbol_name(self.source)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_symbol_name().data
        found = IndexParser(
            parser, lambda: parse_optional_value(parser) or parser.parse_optional_identifier()
        )
        map = found.bracketed()
        boundary = parse_boundary(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(source, [], type)
        labels, values, dims = found.labels_first()
        symbols = [symbol(position) for position in range(len(found.sizes))]
        results = tuple(substitute(expr, dims, symbols) for expr in map.data.results)
        order = AffineMap(len(dims), len(symbols), results)
        op.set_indices(labels, values, found.sizes, order)
        op.boundary, op.exterior = boundary.finish(parser, type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        shown, values = self.used_labels, self.values

        def dim(position: int) -> None:
            if position < len(shown):
                printer.print_string(shown[position])
            else:
                printer.print_ssa_value(values[position - len(shown)])

        printer.print_string(" ")
        printer.print_symbol_name(self.source_name)
        print_indices(printer, self.map.data, dim, self.size_labels)
        print_boundary(printer, self.boundary, self.exterior)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        map = self.map.data
        if map.num_dims != len(self.labels) + len(self.values):
            raise VerifyException(
                "one label or value is needed for each dimension of the index map"
            )
        if map.num_symbols != len(self.sizes):
            raise VerifyException("one label is needed for each symbol of the index map")
        if any(value.type not in (i32, i64) for value in self.values):
            raise VerifyException("a value in an index is an i32 or an i64")
        for expr in map.results:
            check_index(expr, self.is_guarded)
        check_boundary(self.boundary, self.exterior, self.result.type)


@irdl_op_definition
class ClampOp(IRDLOperation):
    """Moves an index into an axis: the nearest number from 0 to below the size of a label.

    `%j = dt.clamp %i below V`. What an index that is data reads does not leave its tensor.
    """

    name = "dt.clamp"
    GRAMMAR: ClassVar = "value `below` label attr-dict"

    value = operand_def(IntegerType)
    """The index."""
    label = prop_def(Identifier)
    """The label of the axis."""
    result = result_def(IntegerType)
    """The index in bounds, of the same type."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, label: str) -> None:
        super().__init__(
            operands=[value], properties={"label": StringAttr(label)}, result_types=[value.type]
        )

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The label."""
        return (self.label.data,)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_keyword("below")
        op = cls(value, parser.parse_identifier("a label"))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" below {self.label.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.result.type not in (i32, i64) or self.value.type != self.result.type:
            raise VerifyException("an index is an i32 or an i64")


@irdl_op_definition
class IndexOp(IRDLOperation):
    """A label as a value: its index."""

    name = "dt.index"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IntegerType)
    """The index, as i32 or i64."""

    assembly_format = "custom<NameDirective>($label) attr-dict `:` type($result)"
    custom_directives = (NameDirective,)
    traits = traits_def(Pure())

    def __init__(self, label: str, type: Attribute = i32) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[type])

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The label."""
        return (self.label.data,)

    def verify_(self) -> None:
        if self.result.type not in (i32, i64):
            raise VerifyException("an index is an i32 or an i64")


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label (`len(x)`)."""

    name = "dt.size"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IntegerType)
    """Its size, as i32 or i64."""

    assembly_format = "custom<NameDirective>($label) attr-dict `:` type($result)"
    custom_directives = (NameDirective,)
    traits = traits_def(Pure())

    def __init__(self, label: str, type: Attribute = i32) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[type])

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The label."""
        return (self.label.data,)

    def verify_(self) -> None:
        if self.result.type not in (i32, i64):
            raise VerifyException("a size is an i32 or an i64")
