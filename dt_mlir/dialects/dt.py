"""The `dt` dialect: an algorithm, free of loops, tiles and memory.

Each function's body computes one element of it from scalars. Labels are the dimensions of the
index space; what a label's size is, the inputs' shapes say at the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from dt_mlir.diagnostics import MalformedError
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.formats import (
    NameDirective,
    NamesDirective,
    index_map,
    is_supported_index,
    name_array,
    names,
    parse_indices,
    print_indices,
    symbol,
    symbols_in,
)
from dt_mlir.dialects.identifiers import Identifier, IdentifierRef, Identifiers, Symbol
from dt_mlir.element_types import ELEMENT_TYPES, compute_type, is_bool, value_type

_STORED = frozenset(ELEMENT_TYPES.values())


@irdl_custom_directive
class LabelIndices(CustomDirective):
    """Indices over labels: `[x, 0]`."""

    labels: AttributeVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        map, dims = parse_indices(parser, parser.parse_optional_identifier)
        self.map.set(state, AffineMapAttr(map))
        self.labels.set(state, name_array([str(dim) for dim in dims]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map, labels = self.map.get(op), self.labels.get(op)
        assert isinstance(map, AffineMapAttr)
        assert isinstance(labels, ArrayAttr)
        shown = [str(label.data) for label in labels]  # pyright: ignore
        print_indices(printer, map.data, lambda i: printer.print_string(shown[i]))
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class LabelOp(IRDLOperation):
    """Declares a dimension label. `reduction` marks one that is meant for reductions (`RVar`)."""

    name = "dt.label"

    sym_name = prop_def(Symbol)
    """The label's name."""
    reduction = opt_prop_def(UnitAttr)
    """True if it was declared for reductions."""

    assembly_format = "$sym_name (`reduction` $reduction^)? attr-dict"
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, reduction: bool = False) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "reduction": UnitAttr() if reduction else None,
            }
        )


@irdl_op_definition
class InputOp(IRDLOperation):
    """Declares an input: a tensor of a rank (or of an unknown one, where nothing reads it) or a
    scalar."""

    name = "dt.input"

    sym_name = prop_def(Symbol)
    """The input's name."""
    type = prop_def(Attribute)
    """`tensor<?x?xf16>`, `tensor<*xf16>`, or a scalar's element type."""

    assembly_format = "$sym_name `:` $type attr-dict"
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, type: Attribute) -> None:
        super().__init__(properties={"sym_name": StringAttr(name), "type": type})

    @property
    def element(self) -> Attribute:
        """The element type in memory."""
        if isinstance(self.type, TensorType | UnrankedTensorType):
            return self.type.element_type
        return self.type

    @property
    def is_scalar(self) -> bool:
        """True if the input is a scalar."""
        return not isinstance(self.type, TensorType | UnrankedTensorType)

    @property
    def rank(self) -> int | None:
        """The number of axes; None if nothing says."""
        if isinstance(self.type, UnrankedTensorType):
            return None
        return len(self.type.get_shape()) if isinstance(self.type, TensorType) else 0

    def verify_(self) -> None:
        if self.element not in _STORED:
            raise VerifyException(f"an input cannot have elements of {self.element}")
        if isinstance(self.type, TensorType) and set(self.type.get_shape()) - {DYNAMIC_INDEX}:
            raise VerifyException("the extents of an input are unknown: write '?'")


@irdl_op_definition
class FuncOp(IRDLOperation):
    """Defines every element of a function, once: the body yields the element at the labels."""

    name = "dt.func"

    sym_name = prop_def(Symbol)
    """The function's name."""
    labels = prop_def(Identifiers)
    """The labels of its axes, all different."""
    element = prop_def(Attribute)
    """Its element type: what the value is rounded to where it is defined."""
    declared = opt_prop_def(UnitAttr)
    """True if the program declares the element type (else it is the expression's)."""
    body = region_def("single_block")
    """Computes one element."""

    assembly_format = (
        "$sym_name custom<NamesDirective>($labels) (`declared` $declared^)? `:` $element "
        "attr-dict-with-keyword $body"
    )
    custom_directives = (NamesDirective,)
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        element: Attribute,
        body: Region,
        declared: bool = False,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "labels": name_array(labels),
                "element": element,
                "declared": UnitAttr() if declared else None,
            },
            regions=[body],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of the axes."""
        return names(self.labels)

    @property
    def value(self) -> SSAValue:
        """The operands of the body's terminator."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values[0]

    def verify_(self) -> None:
        if self.element not in _STORED:
            raise VerifyException(f"a function cannot have elements of {self.element}")
        labels = self.label_names
        if len(set(labels)) != len(labels):
            raise VerifyException("the labels of a function must differ")
        table = self.parent_op()
        # Looking symbols up for each operation would take time in proportion to the program.
        symbols = {} if table is None else symbols_in(table)
        check_labels(self, labels, symbols)
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or len(last.values) != 1:
            raise VerifyException("the body of a function must end in a 'dt.yield' of one value")
        if last.values[0].type != value_type(self.element):
            raise VerifyException(
                f"the body yields {last.values[0].type} but the function has {self.element}"
            )
        for op in self.body.block.walk():
            if isinstance(op, ReadOp | IndexOp | SizeOp | ReduceOp):
                check_labels(op, op.used_labels, symbols)
            if isinstance(op, ReadOp):
                op.check_source(symbols)
            if isinstance(op, ReadOp | IndexOp):
                for label in op.used_labels:
                    if label not in labels and label not in _reduced_around(op):
                        raise MalformedError(
                            f"label '{label}' is neither an axis of '{self.sym_name.data}' "
                            "nor reduced", op,
                        )  # fmt: skip


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Reads one element of an input or of another function."""

    name = "dt.read"

    source = prop_def(IdentifierRef)
    """The tensor, function or scalar that is read."""
    labels = prop_def(Identifiers)
    """The labels that the indices are made of."""
    map = prop_def(AffineMapAttr)
    """From the labels to an index for each axis: today a label or a number."""
    result = result_def()
    """The element as it lies in memory, signless."""

    assembly_format = (
        "$source custom<LabelIndices>($labels, $map) attr-dict `:` type($result)"
    )
    custom_directives = (LabelIndices,)
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
                "map": index_map(places),
            },
            result_types=[type],
        )

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The labels among the indices."""
        return names(self.labels)

    @property
    def source_name(self) -> str:
        """The name of what is read."""
        return symbol(self.source)

    def verify_(self) -> None:
        if self.map.data.num_dims != len(self.labels):
            raise VerifyException("one label is needed for each dimension of the index map")
        for expr in self.map.data.results:
            if not is_supported_index(expr):
                raise VerifyException("an index must be a label or a number that is not negative")

    def check_source(self, symbols: Mapping[str, Operation]) -> None:
        """Checks the operation against what it reads.

        Raises:
            MalformedError: where its rank or its element type is another.
        """
        source = symbols.get(self.source_name)
        rank = len(self.map.data.results)
        match source:
            case InputOp():
                known, element = source.rank, source.element
            case FuncOp():
                known, element = len(source.labels), source.element
            case _:
                raise MalformedError(
                    f"'{self.source_name}' is neither an input nor a function", self
                )
        if known != rank:
            raise MalformedError(
                f"'{self.source_name}' has {known} axes but is read with {rank} indices", self
            )
        if self.result.type != value_type(element):
            raise MalformedError(
                f"'{self.source_name}' has elements of {element}, not {self.result.type}", self
            )


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


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduces the yielded value over one label or several.

    `dot` takes two yielded values of one type, which it multiplies as they are and sums in the
    result's type. `argmax` and `argmin` give the index of the first extreme element as i64.
    """

    name = "dt.reduce"

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements."""
    labels = prop_def(Identifiers)
    """The labels that are reduced."""
    body = region_def("single_block")
    """Computes one element."""
    result = result_def()
    """The reduced value."""

    assembly_format = (
        "$kind `over` ` ` custom<NamesDirective>($labels) `:` type($result) "
        "attr-dict-with-keyword $body"
    )
    custom_directives = (NamesDirective,)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, kind: ReductionKind, labels: Sequence[str], type: Attribute, body: Region
    ) -> None:
        super().__init__(
            properties={"kind": ReductionKindAttr(kind), "labels": name_array(labels)},
            regions=[body],
            result_types=[type],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that are reduced."""
        return names(self.labels)

    @property
    def used_labels(self) -> tuple[str, ...]:
        """The labels that are reduced."""
        return self.label_names

    def verify_(self) -> None:
        if not self.labels.data:
            raise VerifyException("a reduction needs a label")
        if len(set(self.label_names)) != len(self.labels):
            raise VerifyException("the labels of a reduction must differ")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body of a reduction must end in a 'dt.yield'")
        check_reduction(self.kind.data, [v.type for v in last.values], self.result.type)


def check_reduction(
    kind: ReductionKind, operands: Sequence[Attribute], result: Attribute
) -> None:
    """Checks the types of a reduction, at any level.

    Raises:
        VerifyException: where they do not fit the kind.
    """
    expected = 2 if kind is ReductionKind.DOT else 1
    if len(operands) != expected:
        raise VerifyException(f"'{kind}' reduces {expected} operands but has {len(operands)}")
    if kind is ReductionKind.DOT:
        if operands[0] != operands[1]:
            raise VerifyException(
                f"'dot' multiplies operands of one type, not {operands[0]} and {operands[1]}"
            )
        if result != compute_type(operands[0]) or is_bool(result):
            raise VerifyException(f"'dot' of {operands[0]} cannot have the type {result}")
    elif kind.is_arg:
        if result != i64:
            raise VerifyException(f"'{kind}' gives an i64, not {result}")
    elif operands[0] != result:
        raise VerifyException(f"'{kind}' of {operands[0]} cannot have the type {result}")
    elif result != compute_type(result):
        raise VerifyException(f"a reduction accumulates in f32, f64, i32 or i64, not in {result}")
    elif (kind in (ReductionKind.AND, ReductionKind.OR)) != is_bool(result):
        raise VerifyException(f"'{kind}' does not reduce values of {result}")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a function or of a reduction with its element."""

    name = "dt.yield"

    values = var_operand_def()
    """The element; two for a dot."""

    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator(), HasParent(FuncOp, ReduceOp))

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])


@irdl_op_definition
class OutputOp(IRDLOperation):
    """A function that the program is compiled for.

    `kernel_only` asks for the kernels without a wrapper, `dynamic` for sizes and strides as
    run-time arguments.
    """

    name = "dt.output"

    function = prop_def(IdentifierRef)
    """The function."""
    kernel_only = opt_prop_def(UnitAttr)
    """True if there is to be no wrapper."""
    dynamic = opt_prop_def(UnitAttr)
    """True if sizes and strides are run-time arguments."""

    assembly_format = (
        "$function (`kernel_only` $kernel_only^)? (`dynamic` $dynamic^)? attr-dict"
    )

    def __init__(self, function: str, kernel_only: bool = False, dynamic: bool = False) -> None:
        super().__init__(
            properties={
                "function": SymbolRefAttr(function),
                "kernel_only": UnitAttr() if kernel_only else None,
                "dynamic": UnitAttr() if dynamic else None,
            }
        )

    def verify_(self) -> None:
        if not isinstance(SymbolTable.lookup_symbol(self, self.function), FuncOp):
            raise VerifyException(f"'{symbol(self.function)}' is not a function")


def check_labels(
    op: Operation, labels: Sequence[str], symbols: Mapping[str, Operation]
) -> None:
    """Checks that what an operation takes for labels are labels.

    Raises:
        MalformedError: at the first that is not.
    """
    for label in labels:
        if not isinstance(symbols.get(label), LabelOp):
            raise MalformedError(f"'{label}' is not a label", op)


def _reduced_around(op: Operation) -> set[str]:
    found: set[str] = set()
    parent = op.parent_op()
    while isinstance(parent, ReduceOp):
        found.update(parent.label_names)
        parent = parent.parent_op()
    return found


Dt = Dialect(
    "dt",
    [LabelOp, InputOp, FuncOp, ReadOp, IndexOp, SizeOp, ReduceOp, YieldOp, OutputOp],
    [],
)
