"""Functions, the reductions in their bodies, and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import AffineMapAttr, IndexType, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
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
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from dt_mlir.diagnostics import MalformedError
from dt_mlir.dialects.dt.access import ClampOp, IndexOp, ReadOp, SizeOp
from dt_mlir.dialects.dt.declarations import InputOp, LabelOp
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.formats import (
    NamesDirective,
    name_array,
    names,
    parse_names,
    print_names,
    symbol_name,
    symbols_in,
)
from dt_mlir.dialects.identifiers import IdentifierRef, Identifiers, Symbol
from dt_mlir.dialects.index_ranges import is_in_sum
from dt_mlir.dialects.indices import (
    IndexParser,
    check_index,
    has_size_factor,
    print_index,
    substitute,
    symbol,
)
from dt_mlir.dialects.values import parse_optional_value
from dt_mlir.element_types import ELEMENT_TYPES, compute_type, is_bool, value_type

_STORED = frozenset(ELEMENT_TYPES.values())


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
            if isinstance(op, ReadOp | IndexOp | SizeOp | ClampOp | ReduceOp):
                check_labels(op, op.used_labels, symbols)
            if isinstance(op, ReadOp):
                check_labels(op, op.size_labels, symbols)
                _check_source(op, symbols)
            if isinstance(op, ReadOp | IndexOp | ReduceOp):
                used = op.constrained_labels if isinstance(op, ReduceOp) else op.used_labels
                inside = op.label_names if isinstance(op, ReduceOp) else ()
                for label in used:
                    if label in inside:
                        continue
                    if label not in labels and label not in _reduced_around(op):
                        raise MalformedError(
                            f"label '{label}' is neither an axis of '{self.sym_name.data}' "
                            "nor reduced", op,
                        )  # fmt: skip


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduces the yielded value over one label or several.

    `dot` takes two yielded values of one type, which it multiplies as they are and sums in the
    result's type. `argmax` and `argmin` give the index of the first extreme element as i64.

    A domain restricts the reduction to the points at which affine expressions are not negative. The
    body is not evaluated at others, and reducing no point at all gives the neutral element. One
    value, i64, may stand in an expression that is otherwise a sum of multiples of labels and sizes.

    `%0 = dt.reduce add over [k] where [x - k >= 0, %n - k - 1 >= 0] : f32 {…}`
    """

    name = "dt.reduce"
    GRAMMAR: ClassVar = (
        "kind `over` `[` label, … `]` (`where` `[` (index `>=` `0`), … `]`)? `:` type "
        "(`attributes` attr-dict)? region"
    )

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements."""
    labels = prop_def(Identifiers)
    """The labels that are reduced."""
    domain = opt_prop_def(AffineMapAttr)
    """Expressions that are not negative at the points that are reduced; all are without it."""
    domain_labels = opt_prop_def(Identifiers)
    """The labels that are dimensions of the domain."""
    values = var_operand_def(i64)
    """The values that are its dimensions behind the labels."""
    domain_sizes = opt_prop_def(Identifiers)
    """The labels whose sizes are symbols of the domain."""
    body = region_def("single_block")
    """Computes one element."""
    result = result_def()
    """The reduced value."""

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, kind: ReductionKind, labels: Sequence[str], type: Attribute, body: Region
    ) -> None:
        super().__init__(
            operands=[[]],
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
        """The labels that are reduced, and those of the domain."""
        return (*self.label_names, *self.constrained_labels, *self.size_labels)

    @property
    def constraints(self) -> tuple[AffineExpr, ...]:
        """The expressions that are not negative in the domain."""
        return () if self.domain is None else self.domain.data.results

    @property
    def constrained_labels(self) -> tuple[str, ...]:
        """The labels that are dimensions of the domain."""
        return () if self.domain_labels is None else names(self.domain_labels)

    @property
    def size_labels(self) -> tuple[str, ...]:
        """The labels whose sizes are symbols of the domain."""
        return () if self.domain_sizes is None else names(self.domain_sizes)

    @property
    def needs_elements(self) -> bool:
        """True if the reduced labels must not be empty: the result has no neutral element."""
        return self.kind.data.needs_elements and self.domain is None

    def set_domain(
        self,
        constraints: Sequence[AffineExpr],
        labels: Sequence[str],
        values: Sequence[SSAValue],
        sizes: Sequence[str],
    ) -> None:
        """Restricts the reduction.

        Args:
            constraints: expressions that are not negative in the domain.
            labels: the labels that are their first dimensions.
            values: the values that are the others.
            sizes: the labels whose sizes are their symbols.
        """
        dims = len(labels) + len(values)
        self.domain = AffineMapAttr(AffineMap(dims, len(sizes), tuple(constraints)))
        self.operands = values
        self.domain_labels, self.domain_sizes = name_array(labels), name_array(sizes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = ReductionKindAttr.parse_parameter(parser)
        parser.parse_keyword("over")
        labels = names(parse_names(parser))
        found = IndexParser(
            parser, lambda: parse_optional_value(parser) or parser.parse_optional_identifier()
        )
        domain: list[AffineExpr] | None = None
        if parser.parse_optional_keyword("where"):
            domain = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, found.not_negative
            )
        parser.parse_punctuation(":")
        type = parser.parse_type()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(kind, labels, type, parser.parse_region())
        if domain is not None:
            used, values, dims = found.labels_first()
            symbols = [symbol(position) for position in range(len(found.sizes))]
            results = [substitute(expr, dims, symbols) for expr in domain]
            op.set_domain(results, used, values, found.sizes)
        op.attributes.update(attributes.data if attributes else {})
        return op

    def print(self, printer: Printer) -> None:
        labels, sizes = self.constrained_labels, self.size_labels

        def dim(position: int) -> None:
            if position < len(labels):
                printer.print_string(labels[position])
            else:
                printer.print_ssa_value(self.values[position - len(labels)])

        def show(expr: AffineExpr) -> None:
            print_index(printer, expr, dim, sizes)
            printer.print_string(" >= 0")

        printer.print_string(f" {self.kind.data} over ")
        print_names(printer, self.labels)
        if self.domain is not None:
            printer.print_string(" where ")
            with printer.in_square_brackets():
                printer.print_list(self.constraints, show)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        if len({self.domain is None, self.domain_labels is None, self.domain_sizes is None}) > 1:
            raise VerifyException("a domain is a map, its labels and the labels of its sizes")
        if self.domain is None and self.values:
            raise VerifyException("only a domain has values")
        if self.domain is not None:
            map = self.domain.data
            labels = len(self.constrained_labels)
            counts = labels + len(self.values), len(self.size_labels)
            if (map.num_dims, map.num_symbols) != counts:
                raise VerifyException(
                    "each dimension of a domain needs a label or a value, each symbol a label"
                )
            for expr in map.results:
                check_index(expr)
                if has_size_factor(expr):
                    raise VerifyException("numbers are the only factors and divisors of a domain")
                _check_value_in(expr, labels)
            if self.kind.data.is_arg:
                raise VerifyException(f"'{self.kind.data}' has no domain")
        if not self.labels.data:
            raise VerifyException("a reduction needs a label")
        if len(set(self.label_names)) != len(self.labels):
            raise VerifyException("the labels of a reduction must differ")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body of a reduction must end in a 'dt.yield'")
        check_reduction(self.kind.data, [v.type for v in last.values], self.result.type)


def _check_value_in(expr: AffineExpr, labels: int) -> None:
    """Checks that an expression of a domain has one value at most, added to a sum or taken from it.

    Raises:
        VerifyException: if it has several, or one in another way.
    """
    used = [position for position in expr.used_dims() if position >= labels]
    if not used:
        return
    if len(used) > 1 or not is_in_sum(expr, used[0]):
        raise VerifyException(
            "a value of a domain is added to a sum of multiples of labels and sizes, or taken "
            "from it"
        )


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
    for type in (*operands, result):
        if isinstance(type, IndexType):
            raise VerifyException(f"'{kind}' reduces no values of {type}: cast them to i64")
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
            raise VerifyException(f"'{symbol_name(self.function)}' is not a function")


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


def _check_source(read: ReadOp, symbols: Mapping[str, Operation]) -> None:
    """Checks a read against what it reads.

    Raises:
        MalformedError: where its rank or its element type is another.
    """
    source = symbols.get(read.source_name)
    rank = len(read.indices)
    match source:
        case InputOp():
            known, element = source.rank, source.element
        case FuncOp():
            known, element = len(source.labels), source.element
        case _:
            raise MalformedError(f"'{read.source_name}' is neither an input nor a function", read)
    if known != rank:
        raise MalformedError(
            f"'{read.source_name}' has {known} axes but is read with {rank} indices", read
        )
    if read.result.type != value_type(element):
        raise MalformedError(
            f"'{read.source_name}' has elements of {element}, not {read.result.type}", read
        )
