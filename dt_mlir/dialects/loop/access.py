"""Accesses to tensors, local buffers and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i32,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.boundaries import check_boundary, parse_boundary, print_boundary
from dt_mlir.dialects.formats import NameDirective, NamesDirective, name_array, names
from dt_mlir.dialects.identifiers import Identifier, Identifiers
from dt_mlir.dialects.indices import (
    IndexParser,
    check_index,
    compacted,
    dimension,
    index_map,
    print_indices,
    simple_index,
    substitute,
    symbol,
)
from dt_mlir.dialects.loop.delinearize import DelinearizeOp, is_induction_variable
from dt_mlir.dialects.loop.nests import LoopLike
from dt_mlir.dialects.values import (
    parse_optional_value,
    parse_value,
    parse_values,
    print_values,
)
from dt_mlir.element_types import value_type
from dt_mlir.traversal import operations


class Index(NamedTuple):
    """An index by itself."""

    expr: AffineExpr
    """The expression."""
    values: tuple[SSAValue, ...]
    """The values that are its dimensions."""
    sizes: tuple[str, ...]
    """The labels whose sizes are its symbols."""


class AccessOp(IRDLOperation):
    """The common part of `loop.read` and `loop.write`: an element of a tensor or buffer."""

    base = operand_def(MemRefType)
    """The tensor or the local buffer."""
    indices = var_operand_def(IndexType())
    """The induction variables, and other values, that the indices are made of."""
    sizes = prop_def(Identifiers, default_value=name_array([]))
    """The labels whose sizes the indices are made of."""
    map = prop_def(AffineMapAttr)
    """From the values, with sizes as symbols, to an index for each axis."""

    @property
    def size_labels(self) -> tuple[str, ...]:
        """The labels whose sizes are symbols of the indices."""
        return names(self.sizes)

    def index_values(self) -> list[SSAValue | int | None]:
        """Returns the induction variable or the number that indexes each axis.

        It is None for an axis whose index is anything else.
        """
        result: list[SSAValue | int | None] = []
        indices = self.indices
        for expr in self.map.data.results:
            simple = simple_index(expr)
            if isinstance(simple, AffineDimExpr):
                value = indices[simple.position]
                result.append(value if is_induction_variable(value) else None)
            else:
                result.append(simple)
        return result

    def index_at(self, axis: int) -> Index:
        """Returns the index of an axis by itself."""
        return Index(self.map.data.results[axis], tuple(self.indices), self.size_labels)

    def simple_indices(self) -> list[SSAValue | int]:
        """Returns the induction variable or the number that indexes each axis of a write."""
        found = self.index_values()
        return [index for index in found if index is not None]

    def set_index_values(self, values: Sequence[SSAValue | int]) -> None:
        """Indexes the axes with these induction variables and numbers."""
        map, operands = index_map_of(values)
        self.map, self.sizes = map, name_array([])
        self._set_values(operands)

    def replace_index(self, value: SSAValue, index: Index) -> None:
        """Puts an index in place of one of the values that the indices are made of."""
        indices = self.indices
        if isinstance(index.expr, AffineDimExpr):
            new = index.values[index.expr.position]
            if new not in indices:
                # The map stays as it is.
                self._set_values([new if v is value else v for v in indices])
                return
        values = [*indices, *index.values]
        sizes = list(dict.fromkeys([*self.size_labels, *index.sizes]))
        inner = substitute(
            index.expr,
            [dimension(len(indices) + i) for i in range(len(index.values))],
            [symbol(sizes.index(label)) for label in index.sizes],
        )
        dims = [inner if v is value else dimension(i) for i, v in enumerate(indices)]
        symbols = [symbol(i) for i in range(len(sizes))]
        results = [substitute(expr, dims, symbols) for expr in self.map.data.results]
        self.set_map(results, values, sizes)

    def set_map(
        self, results: Sequence[AffineExpr], values: Sequence[SSAValue], sizes: Sequence[str]
    ) -> None:
        """Indexes the axes by expressions; values and sizes that none uses are left out."""
        # A value that is given twice is one dimension.
        dims = [dimension(values.index(value)) for value in values]
        symbols = [symbol(sizes.index(label)) for label in sizes]
        found = compacted([substitute(expr, dims, symbols) for expr in results])
        self.map = AffineMapAttr(found.map)
        self.sizes = name_array([sizes[i] for i in found.symbols])
        self._set_values([values[i] for i in found.dims])

    def _set_values(self, values: Sequence[SSAValue]) -> None:
        """Sets the values that the indices are made of."""
        self.operands = [self.base, *values]

    def print_access(self, printer: Printer) -> None:
        """Prints ` %A[%x, 0]`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.base)
        values = self.indices
        sizes = self.size_labels
        print_indices(printer, self.map.data, lambda i: _print_value(printer, values[i]), sizes)

    def check_access(self, guarded: bool = False) -> None:
        """Checks the indices against the base.

        Args:
            guarded: whether a boundary condition holds.

        Raises:
            VerifyException: where they do not fit.
        """
        assert isinstance(self.base.type, MemRefType)
        if self.map.data.num_dims != len(self.indices):
            raise VerifyException("one operand is needed for each dimension of the index map")
        if len(self.map.data.results) != self.base.type.get_num_dims():
            raise VerifyException(
                f"a base of {self.base.type.get_num_dims()} axes has "
                f"{len(self.map.data.results)} indices"
            )
        if self.map.data.num_symbols != len(self.sizes):
            raise VerifyException("one label is needed for each symbol of the index map")
        for expr in self.map.data.results:
            check_index(expr, guarded)
        for index in self.indices:
            owner = index.owner
            if isinstance(owner, Block) and not isinstance(owner.parent_op(), LoopLike):
                raise VerifyException("an index is made of loops' indices, not of block origins")


def _print_value(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)


class _Access(NamedTuple):
    """A parsed access."""

    base: SSAValue
    map: AffineMapAttr
    indices: list[SSAValue]
    sizes: ArrayAttr[StringAttr]


def _parse_access(parser: Parser) -> _Access:
    """Parses `%A[%x, 2 * %p + %r]`."""
    place = parser.pos
    base = parse_value(parser)
    if not isinstance(base.type, MemRefType):
        parser.raise_error(f"expected a tensor or a buffer, not a value of {base.type}", place)
    found = IndexParser(parser, lambda: parse_optional_value(parser))
    map = found.bracketed()
    indices = [dim for dim in found.dims if isinstance(dim, SSAValue)]
    return _Access(base, map, indices, name_array(found.sizes))


def index_map_of(values: Sequence[SSAValue | int]) -> tuple[AffineMapAttr, list[SSAValue]]:
    """Returns the affine map and its operands for induction variables and numbers."""
    operands: list[SSAValue] = []
    indices: list[tuple[bool, int]] = []
    for value in values:
        if isinstance(value, int):
            indices.append((False, value))
            continue
        if value not in operands:
            operands.append(value)
        indices.append((True, operands.index(value)))
    return index_map(tuple(indices)), operands


@irdl_op_definition
class ReadOp(AccessOp):
    """Reads an element of a tensor or of a local buffer.

    An index is quasi-affine in the indices of loops and in other values of type `index`, with sizes
    of labels as factors and divisors. A boundary condition gives the element out of bounds:

    `%a = loop.read %X[%n, 2 * %p + %r - 1] constant_exterior 0.0`
    """

    name = "loop.read"
    GRAMMAR: ClassVar = "value `[` index, … `]` boundary? attr-dict"

    boundary = opt_prop_def(StringAttr)
    """The boundary condition, if there is one."""
    exterior = opt_prop_def(FloatAttr | IntegerAttr)
    """The element out of bounds under `constant_exterior`."""

    result = result_def()
    """The element, signless."""

    def __init__(self, base: SSAValue, indices: Sequence[SSAValue | int]) -> None:
        map, operands = index_map_of(indices)
        assert isinstance(base.type, MemRefType)
        # A variadic segment needs no sizes where it is the only one.
        Operation.__init__(
            self,
            operands=[base, *operands],
            properties={"map": map, "sizes": name_array([])},
            result_types=[value_type(base.type.element_type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found = _parse_access(parser)
        boundary = parse_boundary(parser)
        op = cls(found.base, [])
        op.map, op.sizes = found.map, found.sizes
        op.operands = [found.base, *found.indices]
        op.boundary, op.exterior = boundary.finish(parser, op.result.type)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        self.print_access(printer)
        print_boundary(printer, self.boundary, self.exterior)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        self.check_access(self.boundary is not None)
        check_boundary(self.boundary, self.exterior, self.result.type)
        assert isinstance(self.base.type, MemRefType)
        if self.result.type != value_type(self.base.type.element_type):
            raise VerifyException(
                f"an element of {self.base.type} is not of type {self.result.type}"
            )


@irdl_op_definition
class WriteOp(AccessOp):
    """Writes an element of a tensor or of a local buffer.

    Each index walks one loop over the axis, so that each element is written once. In loops that
    the value does not depend on, it is written in the first trip alone:

    `loop.write %top, %top_ptr[%i] first [%d]`
    """

    name = "loop.write"
    GRAMMAR: ClassVar = "value `,` value `[` index, … `]` (`first` `[` value, … `]`)? attr-dict"

    value = operand_def()
    """The element, signless."""
    first = var_operand_def(IndexType())
    """The indices that are 0 where the element is written."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        value: SSAValue,
        base: SSAValue,
        indices: Sequence[SSAValue | int],
        first: Sequence[SSAValue] = (),
    ) -> None:
        map, operands = index_map_of(indices)
        groups = {"value": [value], "first": first, "base": [base], "indices": operands}
        super().__init__(
            operands=[groups[name] for name, _ in self.get_irdl_definition().operands],
            properties={"map": map, "sizes": name_array([])},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_punctuation(",")
        found = _parse_access(parser)
        first = parse_values(parser) if parser.parse_optional_keyword("first") else []
        op = cls(value, found.base, [], first)
        op.map, op.sizes = found.map, found.sizes
        op._set_values(found.indices)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(",")
        self.print_access(printer)
        if self.first:
            printer.print_string(" first ")
            print_values(printer, self.first)
        printer.print_op_attributes(self.attributes)

    def _set_values(self, values: Sequence[SSAValue]) -> None:
        groups = {
            "value": [self.value], "first": list(self.first), "base": [self.base],
            "indices": list(values),
        }  # fmt: skip
        names = [name for name, _ in self.get_irdl_definition().operands]
        self.operands = [value for name in names for value in groups[name]]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, [len(groups[name]) for name in names]
        )

    def verify_(self) -> None:
        self.check_access()
        assert isinstance(self.base.type, MemRefType)
        indices = self.simple_indices()
        if len(indices) < len(self.map.data.results):
            raise VerifyException("an index of a write is a loop's index or a number")
        loops = [index for index in indices if not isinstance(index, int)]
        # A fused function that is read on its diagonal is computed there alone.
        is_local = isinstance(self.base.owner, LocalOp)
        if len(set(loops)) < len(loops) and not is_local:
            raise VerifyException("the indices of a write are those of different loops")
        for index in self.first:
            if not is_induction_variable(index) or index in loops:
                raise VerifyException(
                    "an element is written in the first trip of loops that do not index it"
                )
        for owner in {index.owner for index in loops}:
            if isinstance(owner, DelinearizeOp) and not set(owner.indices) <= set(loops):
                raise VerifyException("a write has all indices of a joined loop, or none")
        if self.value.type != value_type(self.base.type.element_type):
            raise VerifyException(
                f"an element of {self.base.type} is not of type {self.value.type}"
            )


@irdl_op_definition
class LocalOp(IRDLOperation):
    """A local buffer: holds what a fused function produces for its consumers.

    It is indexed by all of the function's labels, but lives only inside the loop that it is in;
    whether it can be held in tiles is seen once the loops are tiled.
    """

    name = "loop.local"

    function = prop_def(Identifier)
    """The fused function."""
    labels = prop_def(Identifiers)
    """Its labels."""
    result = result_def(MemRefType)
    """The buffer."""

    assembly_format = "$function custom<NamesDirective>($labels) attr-dict `:` type($result)"
    custom_directives = (NamesDirective,)

    def __init__(self, function: str, labels: Sequence[str], type: MemRefType) -> None:
        super().__init__(
            properties={"function": StringAttr(function), "labels": name_array(labels)},
            result_types=[type],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The function's labels."""
        return names(self.labels)

    def verify_(self) -> None:
        assert isinstance(self.result.type, MemRefType)
        if len(self.labels) != self.result.type.get_num_dims():
            raise VerifyException("a local buffer needs a label for each of its axes")
        users = {use.operation for use in self.result.uses}
        if any(not isinstance(op, AccessOp) or op.base is not self.result for op in users):
            raise VerifyException("a local buffer is only read and written")
        writes = sum(isinstance(op, WriteOp) for op in users)
        if writes != 1:
            raise VerifyException(
                f"the local buffer '{self.function.data}' is written {writes} times, not once"
            )
        if not isinstance(self._first_of(users), WriteOp):
            raise VerifyException(
                f"the local buffer '{self.function.data}' is read before it is written"
            )


    def _first_of(self, users: set[Operation]) -> Operation | None:
        """The first of some operations behind this one, in its block and the regions there."""
        op = self.next_op
        while op is not None:
            for inner in operations(op):
                if inner in users:
                    return inner
            op = op.next_op
        return None


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label."""

    name = "loop.size"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IndexType())
    """Its size."""

    assembly_format = "custom<NameDirective>($label) attr-dict"
    custom_directives = (NameDirective,)

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])
