"""The `host` dialect: sizes that follow from others, and what they must satisfy."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import AffineMapAttr, StringAttr, UnitAttr
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names, parse_names
from dt_mlir.dialects.identifiers import Identifier, Identifiers
from dt_mlir.dialects.indices import (
    IndexParser,
    check_index,
    dimension,
    print_index,
    substitute,
    symbol,
)
from dt_mlir.dialects.sizes import Bound, Definition, check_size, parse_size, print_size


@irdl_op_definition
class DefineOp(IRDLOperation):
    """Gives a label a size that follows from those of others.

    A size that the program declares must not be negative; one that is `inferred` from reads is 0
    where the expression is negative, as a tensor is too small for any.

    `host.define p size (len(h) + 2 - len(r)) floordiv 2 + 1`
    """

    name = "host.define"
    GRAMMAR: ClassVar = "label (`size` | `inferred`) size-expression attr-dict"

    label = prop_def(Identifier)
    """The label."""
    size = prop_def(AffineMapAttr)
    """The expressions, of which the least is the size."""
    sizes = prop_def(Identifiers)
    """The labels whose sizes are symbols of the expressions."""
    inferred = opt_prop_def(UnitAttr)
    """True if the size follows from reads."""

    def __init__(self, definition: Definition) -> None:
        super().__init__(
            properties={
                "label": StringAttr(definition.label),
                "size": AffineMapAttr(definition.map),
                "sizes": name_array(definition.sizes),
                "inferred": UnitAttr() if definition.inferred else None,
            }
        )

    @property
    def definition(self) -> Definition:
        """The size."""
        inferred = self.inferred is not None
        return Definition(self.label.data, self.size.data, names(self.sizes), inferred)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parser.parse_identifier("a label")
        inferred = parser.parse_optional_keyword("inferred") is not None
        if not inferred:
            parser.parse_keyword("size")
        map, sizes = parse_size(parser)
        op = cls(Definition(label, map.data, names(sizes), inferred))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        kind = "size" if self.inferred is None else "inferred"
        printer.print_string(f" {self.label.data} {kind} ")
        print_size(printer, self.size.data, names(self.sizes))
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        check_size(self.size.data, self.sizes)


@irdl_op_definition
class InBoundsOp(IRDLOperation):
    """Checks that an index does not leave an axis, wherever it is evaluated.

    It is evaluated for all indices of some labels, so that a label of size 0 leaves nothing to
    check. A divisor that is 0 is an error as an index out of bounds is. It is evaluated only where
    other expressions are not negative.

    `host.in_bounds x - k below A_0 over [x, k] where [x - k >= 0] "reading A[x - k]"`
    """

    name = "host.in_bounds"
    GRAMMAR: ClassVar = (
        "index `below` label `over` `[` label, … `]` (`where` `[` (index `>=` `0`), … `]`)? "
        "string attr-dict"
    )

    index = prop_def(AffineMapAttr)
    """From indices of the labels, with sizes as symbols, to the index, and to the expressions that
    are not negative where it is evaluated."""
    over = prop_def(Identifiers)
    """The labels for whose indices it is evaluated."""
    sizes = prop_def(Identifiers)
    """The labels whose sizes the index depends on."""
    label = prop_def(Identifier)
    """The label of the axis."""
    reason = prop_def(StringAttr)
    """The access that needs it."""

    def __init__(self, bound: Bound) -> None:
        results = (bound.expr, *bound.constraints)
        super().__init__(
            properties={
                "index": AffineMapAttr(AffineMap(len(bound.over), len(bound.sizes), results)),
                "over": name_array(bound.over),
                "sizes": name_array(bound.sizes),
                "label": StringAttr(bound.label),
                "reason": StringAttr(bound.reason),
            }
        )

    @property
    def bound(self) -> Bound:
        """The index, and the axis that it must not leave."""
        index, *constraints = self.index.data.results
        return Bound(
            index, names(self.over), names(self.sizes), self.label.data, self.reason.data,
            tuple(constraints),
        )  # fmt: skip

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found = IndexParser(parser, parser.parse_optional_identifier)
        expr = found.expression()
        parser.parse_keyword("below")
        label = parser.parse_identifier("a label")
        parser.parse_keyword("over")
        place = parser.pos
        over = names(parse_names(parser))
        constraints: list[AffineExpr] = []
        if parser.parse_optional_keyword("where"):
            constraints = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, found.not_negative
            )
        if not set(found.dims) <= set(over):
            parser.raise_error("the index depends on a label that it is not evaluated for", place)
        dims = [dimension(over.index(str(dim))) for dim in found.dims]
        symbols = [symbol(i) for i in range(len(found.sizes))]
        expr, *rest = (substitute(e, dims, symbols) for e in (expr, *constraints))
        reason = parser.parse_str_literal()
        op = cls(Bound(expr, over, tuple(found.sizes), label, reason, tuple(rest)))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        bound = self.bound

        def show(expr: AffineExpr) -> None:
            dims = bound.over
            print_index(printer, expr, lambda i: printer.print_string(dims[i]), bound.sizes)

        def show_constraint(expr: AffineExpr) -> None:
            show(expr)
            printer.print_string(" >= 0")

        printer.print_string(" ")
        show(bound.expr)
        printer.print_string(f" below {bound.label} over [{', '.join(bound.over)}] ")
        if bound.constraints:
            printer.print_string("where ")
            with printer.in_square_brackets():
                printer.print_list(bound.constraints, show_constraint)
            printer.print_string(" ")
        printer.print_attribute(self.reason)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        map = self.index.data
        if not map.results:
            raise VerifyException("an index is checked")
        if map.num_dims != len(self.over) or map.num_symbols != len(self.sizes):
            raise VerifyException("each dimension and symbol of the index needs a label")
        if len(set(self.over)) != len(self.over):
            raise VerifyException("the labels that the index is evaluated for must differ")
        for expr in map.results:
            check_index(expr)
