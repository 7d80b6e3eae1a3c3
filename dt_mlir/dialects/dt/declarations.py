"""Declarations of labels and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    f32,
    f64,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.identifiers import (
    Identifiers,
    Symbol,
    check_identifier,
)
from dt_mlir.dialects.sizes import check_size, parse_size, print_size
from dt_mlir.element_types import ELEMENT_TYPES

_STORED = frozenset(ELEMENT_TYPES.values())


@irdl_op_definition
class LabelOp(IRDLOperation):
    """Declares a dimension label.

    `reduction` marks one that is meant for reductions (`RVar`), `axis` one that only names the size
    of an input's axis. A label may have a size of its own, in terms of other sizes: one that the
    program declares, or one that is `inferred` from the reads whose indices the label is in. The
    sizes of all other labels are those of the axes that they index, or the caller gives them.

    `dt.label @p size (len(h) + 2 - len(r)) floordiv 2 + 1`
    """

    name = "dt.label"
    GRAMMAR: ClassVar = (
        "symbol (`reduction`)? (`axis`)? ((`size` | `inferred`) size-expression)? attr-dict"
    )

    sym_name = prop_def(Symbol)
    """The label's name."""
    reduction = opt_prop_def(UnitAttr)
    """True if it was declared for reductions."""
    axis = opt_prop_def(UnitAttr)
    """True if it only names the size of an input's axis, and no program declares it."""
    size = opt_prop_def(AffineMapAttr)
    """The size, the least of several expressions, if it is not that of an axis."""
    sizes = opt_prop_def(Identifiers)
    """The labels whose sizes are symbols of the size."""
    inferred = opt_prop_def(UnitAttr)
    """True if the size follows from reads."""

    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, reduction: bool = False, axis: bool = False) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "reduction": UnitAttr() if reduction else None,
                "axis": UnitAttr() if axis else None,
            }
        )

    def set_size(self, map: AffineMap, sizes: Sequence[str], inferred: bool) -> None:
        """Gives the label a size of its own.

        Args:
            map: the expressions, of which the least is the size.
            sizes: the labels whose sizes are its symbols.
            inferred: whether it follows from reads.
        """
        self.size, self.sizes = AffineMapAttr(map), name_array(sizes)
        self.inferred = UnitAttr() if inferred else None

    @property
    def used_sizes(self) -> tuple[str, ...]:
        """The labels whose sizes the label's own size depends on."""
        return () if self.sizes is None else names(self.sizes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        reduction = parser.parse_optional_keyword("reduction") is not None
        axis = parser.parse_optional_keyword("axis") is not None
        op = cls(name, reduction, axis)
        declared = parser.parse_optional_keyword("size") is not None
        if declared or parser.parse_optional_keyword("inferred"):
            op.size, op.sizes = parse_size(parser)
            op.inferred = None if declared else UnitAttr()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.reduction is not None:
            printer.print_string(" reduction")
        if self.axis is not None:
            printer.print_string(" axis")
        if self.size is not None:
            printer.print_string(" size " if self.inferred is None else " inferred ")
            print_size(printer, self.size.data, self.used_sizes)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if (self.size is None) != (self.sizes is None):
            raise VerifyException("a size is a map and the labels of its symbols")
        if self.size is None:
            if self.inferred is not None:
                raise VerifyException("a label without a size of its own has none that is inferred")
            return
        if self.axis is not None:
            raise VerifyException("the size of an axis is that of its tensor")
        assert self.sizes is not None
        check_size(self.size.data, self.sizes)


@irdl_op_definition
class InputOp(IRDLOperation):
    """Declares an input: a tensor of a rank (or of an unknown one, where nothing reads it) or a
    scalar.

    The labels of a tensor's axes are those that its reads have for indices, unless they are
    written, `_` for an axis that is read at numbers only:
    `dt.input @X[n, X_1] : tensor<?x?xf32>`

    A scalar of floating point whose type the program does not declare is an f32, or an f64 where
    it meets one; one that has its type in any case is `declared`.
    """

    name = "dt.input"
    GRAMMAR: ClassVar = "symbol (`[` label, … `]`)? `declared`? `:` type attr-dict"

    sym_name = prop_def(Symbol)
    """The input's name."""
    type = prop_def(Attribute)
    """`tensor<?x?xf16>`, `tensor<*xf16>`, or a scalar's element type."""

    axes = opt_prop_def(ArrayAttr[StringAttr])
    """The labels of its axes, "" for one that is read at numbers only; None if reads say them."""
    declared = opt_prop_def(UnitAttr)
    """Present on a scalar of f32 or f64 whose type the program declares."""

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        type: Attribute,
        axes: Sequence[str] | None = None,
        declared: bool = False,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "type": type,
                "axes": None if axes is None else name_array(axes),
                "declared": UnitAttr() if declared else None,
            }
        )

    @property
    def axis_labels(self) -> tuple[str, ...] | None:
        """The labels of its axes, if they are written."""
        return None if self.axes is None else names(self.axes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        axes = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_identifier("a label")
        )
        declared = parser.parse_optional_keyword("declared") is not None
        parser.parse_punctuation(":")
        type = parser.parse_type()
        labels = None if axes is None else [a if a != "_" else "" for a in axes]
        op = cls(name, type, labels, declared)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.axes is not None:
            printer.print_string(f"[{', '.join(name or '_' for name in names(self.axes))}]")
        printer.print_string(" : " if self.declared is None else " declared : ")
        printer.print_attribute(self.type)
        printer.print_op_attributes(self.attributes)

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
        if self.declared is not None and self.type not in (f32, f64):
            raise VerifyException("only a scalar of f32 or f64 is 'declared'")
        if self.axes is None:
            return
        if len(self.axes) != self.rank:
            raise VerifyException(f"an input of {self.rank} axes has {len(self.axes)} labels")
        for name in filter(None, names(self.axes)):
            check_identifier(name)
