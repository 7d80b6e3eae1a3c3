"""The `host` dialect: launches of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Operation,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import is_name_array, name_array, names
from dt_mlir.dialects.host.tensors import AllocOp
from dt_mlir.dialects.identifiers import IdentifierRef
from dt_mlir.dialects.values import parse_value

_WRITES = ("loop.write", "tile.store")
"""The operations that write elements of a kernel's arguments."""


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Launches a kernel on tensors and scalars, in stream order.

    `host.launch @mm_kernel(%A, %B, %mm) specialized @mm_kernel_warp`: the second kernel computes
    the same, and is launched in its place where the device and the tensors are as it needs them.
    `where [c = X_3, d = 64]` says which labels must have one size for that, and which sizes some
    must have. Interpreters run it.
    """

    name = "host.launch"
    GRAMMAR: ClassVar = (
        "symbol `(` values `)` (`specialized` symbol)? "
        "(`where` `[` (label `=` (label | number)), … `]`)? attr-dict"
    )

    kernel = prop_def(IdentifierRef)
    """The kernel."""
    specialized = opt_prop_def(IdentifierRef)
    """The kernel that is launched in its place where it can be."""
    equal = opt_prop_def(ArrayAttr[ArrayAttr[StringAttr]])
    """The pairs of labels that have one size where the specialized kernel can be launched."""
    sizes = opt_prop_def(DictionaryAttr)
    """The sizes of labels for which the specialized kernel is."""
    arguments = var_operand_def()
    """Its arguments, in its order."""

    def __init__(self, kernel: str, arguments: Sequence[SSAValue]) -> None:
        super().__init__(operands=[arguments], properties={"kernel": SymbolRefAttr(kernel)})

    @property
    def kernel_name(self) -> str:
        """The name of the kernel."""
        return self.kernel.root_reference.data

    @property
    def specialized_name(self) -> str | None:
        """The name of the kernel that is launched in its place; None if there is none."""
        return None if self.specialized is None else self.specialized.root_reference.data

    @property
    def preferred(self) -> SymbolRefAttr:
        """The kernel that is launched where it can be."""
        return self.kernel if self.specialized is None else self.specialized

    def specialize(
        self, kernel: str, equal: Sequence[tuple[str, str]] = (), sizes: Mapping[str, int] = {}
    ) -> None:
        """Lets another kernel be launched where it can be.

        Args:
            kernel: its name.
            equal: the pairs of labels that must have one size.
            sizes: the sizes that labels must have.
        """
        self.specialized = SymbolRefAttr(kernel)
        self.equal = ArrayAttr(map(name_array, equal)) if equal else None
        numbers = {label: IntegerAttr(size, i64) for label, size in sizes.items()}
        self.sizes = DictionaryAttr(numbers) if numbers else None

    @property
    def equal_labels(self) -> list[tuple[str, str]]:
        """The pairs of labels that have one size where the specialized kernel can be launched."""
        pairs = [] if self.equal is None else map(names, self.equal)
        return [(one, other) for one, other in pairs]

    @property
    def known_sizes(self) -> dict[str, int]:
        """The sizes that labels have where the specialized kernel can be launched."""
        items = self.sizes.data.items() if self.sizes is not None else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    def kernel_op(self) -> Operation | None:
        """The kernel, whatever level it is at."""
        return SymbolTable.lookup_symbol(self, self.kernel)

    def kernel_ops(self) -> list[Operation]:
        """The kernel, and the one that is launched in its place, as far as there are such."""
        found = [self.kernel] if self.specialized is None else [self.kernel, self.specialized]
        ops = (SymbolTable.lookup_symbol(self, name) for name in found)
        return [op for op in ops if op is not None]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kernel = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_value(parser)
        )
        op = cls(kernel, arguments)
        if parser.parse_optional_keyword("specialized"):
            op.specialize(parser.parse_symbol_name().data)
        if parser.parse_optional_keyword("where"):
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_pair(parser)
            )
            equal = [name_array([one, other]) for one, other in pairs if isinstance(other, str)]
            sizes = {x: IntegerAttr(n, i64) for x, n in pairs if isinstance(n, int)}
            op.equal = ArrayAttr(equal) if equal else None
            op.sizes = DictionaryAttr(sizes) if sizes else None
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name)
        printer.print_string("(")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_string(")")
        if self.specialized_name is not None:
            printer.print_string(" specialized ")
            printer.print_symbol_name(self.specialized_name)
        conditions = [*self.equal_labels, *self.known_sizes.items()]
        if conditions:
            shown = ", ".join(f"{one} = {other}" for one, other in conditions)
            printer.print_string(f" where [{shown}]")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.equal is not None and any(len(pair) != 2 for pair in self.equal):
            raise VerifyException("labels of one size are given in pairs")
        if any(size < 1 for size in self.known_sizes.values()):
            raise VerifyException("the size that a label must have is positive")
        for symbol in (self.kernel, self.preferred):
            kernel = SymbolTable.lookup_symbol(self, symbol)
            name = symbol.root_reference.data
            if kernel is None or not kernel.name.endswith(".kernel"):
                raise VerifyException(f"'{name}' is not a kernel")
            expected = [arg.type for arg in kernel.regions[0].block.args]
            if expected != [value.type for value in self.arguments]:
                raise VerifyException(f"the arguments do not fit those of '{name}'")
        kernel = self.kernel_op()
        assert kernel is not None
        self._verify_sums(kernel)

    def _verify_sums(self, kernel: Operation) -> None:
        """Checks that a kernel adds to what is allocated as a sum, and to nothing else."""
        attr = kernel.properties.get("summed")
        added = names(attr) if is_name_array(attr) else ()
        for value, arg in zip(self.arguments, kernel.regions[0].block.args):
            alloc = value.owner
            if not isinstance(alloc, AllocOp):
                continue
            name = alloc.tensor.data
            written = any(use.operation.name in _WRITES for use in arg.uses)
            if (name in added) != (written and alloc.summed is not None):
                raise VerifyException(
                    f"'{self.kernel_name}' adds to '{name}', which is not allocated as a sum"
                    if name in added else
                    f"'{name}' is allocated as a sum, and '{self.kernel_name}' does not add to it"
                )  # fmt: skip


def _parse_pair(parser: Parser) -> tuple[str, str | int]:
    one = parser.parse_identifier("a label")
    parser.parse_punctuation("=")
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    return one, parser.parse_identifier("a label, or a size") if number is None else number
