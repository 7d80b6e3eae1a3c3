"""Accesses to tensors, local buffers and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import (
    NamesDirective,
    index_map,
    is_supported_index,
    linear_form,
    name_array,
    names,
    parse_indices,
    print_indices,
)
from dt_mlir.dialects.identifiers import Identifier, Identifiers
from dt_mlir.dialects.loop.nests import LoopLike
from dt_mlir.dialects.values import parse_optional_value, parse_value
from dt_mlir.element_types import value_type
from dt_mlir.traversal import operations


class AccessOp(IRDLOperation):
    """The common part of `loop.read` and `loop.write`: an element of a tensor or buffer."""

    base = operand_def(MemRefType)
    """The tensor or the local buffer."""
    indices = var_operand_def(IndexType())
    """The loop indices that the indices are made of."""
    map = prop_def(AffineMapAttr)
    """From those to an index for each axis: today a loop index or a number."""

    def index_values(self) -> list[SSAValue | int]:
        """The induction variable or the number that indexes each axis."""
        result: list[SSAValue | int] = []
        for expr in self.map.data.results:
            form = linear_form(expr)
            assert form is not None
            factors, constant = form
            result.append(self.indices[next(iter(factors))] if factors else constant)
        return result

    def set_index_values(self, values: Sequence[SSAValue | int]) -> None:
        """Index the axes with these loop indices and numbers."""
        map, operands = index_map_of(values)
        self.map = map
        self.operands = [self.base, *operands]

    def print_access(self, printer: Printer) -> None:
        """Prints ` %A[%x, 0] {…}`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.base)
        values = self.indices
        print_indices(printer, self.map.data, lambda i: _print_value(printer, values[i]))
        printer.print_op_attributes(self.attributes)

    def check_access(self) -> None:
        """Checks the indices against the base.

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
        for expr in self.map.data.results:
            if not is_supported_index(expr):
                raise VerifyException(
                    "an index must be a loop's index or a number that is not negative"
                )
        for index in self.indices:
            owner = index.owner
            if not (isinstance(owner, Block) and isinstance(owner.parent_op(), LoopLike)):
                raise VerifyException("an index must be the index of a loop")


def _print_value(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)


def _parse_access(parser: Parser) -> tuple[SSAValue, AffineMapAttr, list[SSAValue]]:
    """Parses `%A[%x, 0]`: the base, the map of the indices and its operands."""
    place = parser.pos
    base = parse_value(parser)
    if not isinstance(base.type, MemRefType):
        parser.raise_error(f"expected a tensor or a buffer, not a value of {base.type}", place)
    map, dims = parse_indices(parser, lambda: parse_optional_value(parser))
    indices = [dim for dim in dims if isinstance(dim, SSAValue)]
    return base, AffineMapAttr(map), indices


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
    """Reads an element of a tensor or of a local buffer."""

    name = "loop.read"
    GRAMMAR: ClassVar = "value `[` index, … `]` attr-dict"

    result = result_def()
    """The element, signless."""

    def __init__(self, base: SSAValue, indices: Sequence[SSAValue | int]) -> None:
        map, operands = index_map_of(indices)
        assert isinstance(base.type, MemRefType)
        # A variadic segment needs no sizes where it is the only one.
        Operation.__init__(
            self,
            operands=[base, *operands],
            properties={"map": map},
            result_types=[value_type(base.type.element_type)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        base, map, indices = _parse_access(parser)
        op = cls(base, [])
        op.map, op.operands = map, [base, *indices]
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        self.print_access(printer)

    def verify_(self) -> None:
        self.check_access()
        assert isinstance(self.base.type, MemRefType)
        if self.result.type != value_type(self.base.type.element_type):
            raise VerifyException(
                f"an element of {self.base.type} is not of type {self.result.type}"
            )


@irdl_op_definition
class WriteOp(AccessOp):
    """Writes an element of a tensor or of a local buffer.

    Each index walks one loop over the axis, so that each element is written once.
    """

    name = "loop.write"
    GRAMMAR: ClassVar = "value `,` value `[` index, … `]` attr-dict"

    value = operand_def()
    """The element, signless."""

    def __init__(
        self, value: SSAValue, base: SSAValue, indices: Sequence[SSAValue | int]
    ) -> None:
        map, operands = index_map_of(indices)
        super().__init__(
            operands=[value, base, operands], properties={"map": map}
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_punctuation(",")
        base, map, indices = _parse_access(parser)
        op = cls(value, base, [])
        op.map, op.operands = map, [value, base, *indices]
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(",")
        self.print_access(printer)

    def set_index_values(self, values: Sequence[SSAValue | int]) -> None:
        map, operands = index_map_of(values)
        self.map = map
        self.operands = [self.value, self.base, *operands]

    def verify_(self) -> None:
        self.check_access()
        assert isinstance(self.base.type, MemRefType)
        loops = [index for index in self.index_values() if not isinstance(index, int)]
        # A fused function that is read on its diagonal is computed there alone.
        is_local = isinstance(self.base.owner, LocalOp)
        if len(set(loops)) < len(loops) and not is_local:
            raise VerifyException("the indices of a write are those of different loops")
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
    result = result_def(IndexType)
    """Its size."""

    assembly_format = "$label attr-dict `:` type($result)"

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])
