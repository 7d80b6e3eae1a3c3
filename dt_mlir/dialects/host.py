"""The `host` dialect: what the wrapper around the kernels does, at every level.

The wrapper is a `func.func` beside the kernels. It takes the inputs as memrefs and scalars,
allocates outputs and intermediates with `memref.alloc`, launches the kernels in order and returns
the outputs. Its attributes and those of its arguments (`host.…`) hold what the checks need.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import NameDirective
from dt_mlir.dialects.identifiers import Identifier, IdentifierRef

NAME = "host.name"
"""Argument and allocation attribute: the tensor's or scalar's name in the source."""
AXES = "host.axes"
"""Argument and allocation attribute: each axis' label, "" if it is read by numbers only."""
MINIMUMS = "host.minimums"
"""Argument attribute: the least extent of each axis that reading by numbers needs."""
LABELS = "host.labels"
"""Function attribute: the labels that the algorithm uses, in declared order. The wrapper takes the
sizes of those that no input's axis has, whatever the schedule makes of them."""
SAME = "host.same"
"""Function attribute: groups of labels that have one size."""
ALGORITHM = "host.algorithm"
"""Function attribute: the algorithm in canonical DT, a statement each."""
SCHEDULE = "host.schedule"
"""Function attribute: the directives that were applied, in canonical DT."""
OUTPUTS = "host.outputs"
"""Function attribute: the directives that say what is compiled, in canonical DT."""
NONEMPTY = "host.nonempty"
"""Function attribute: the least sizes of labels, each with what needs it."""
SIZES = "host.sizes"
"""Function attribute: the sizes of labels that the program is compiled for."""
KERNEL_ONLY = "host.kernel_only"
"""Function attribute: only the kernels are wanted."""


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label, as the inputs' shapes (or the caller) say."""

    name = "host.size"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IndexType)
    """Its size."""

    assembly_format = "custom<NameDirective>($label) attr-dict `:` type($result)"
    custom_directives = (NameDirective,)
    traits = traits_def(Pure())

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])


@irdl_op_definition
class RoundUpOp(IRDLOperation):
    """The least multiple of a number that is no less than a size: an extent of aligned storage."""

    name = "host.round_up"

    size = operand_def(IndexType())
    """The size."""
    multiple = prop_def(IntegerAttr.constr(i64))
    """The number."""
    result = result_def(IndexType)
    """The extent."""

    assembly_format = "$size `to` $multiple attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, size: SSAValue, multiple: int) -> None:
        super().__init__(
            operands=[size],
            properties={"multiple": IntegerAttr(multiple, i64)},
            result_types=[IndexType()],
        )

    def verify_(self) -> None:
        if self.multiple.value.data < 1:
            raise VerifyException("a size is rounded up to a multiple of a positive number")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Launches a kernel on tensors and scalars, in stream order."""

    name = "host.launch"

    kernel = prop_def(IdentifierRef)
    """The kernel."""
    arguments = var_operand_def()
    """Its arguments, in its order."""

    assembly_format = "$kernel `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(self, kernel: str, arguments: Sequence[SSAValue]) -> None:
        super().__init__(operands=[arguments], properties={"kernel": SymbolRefAttr(kernel)})

    @property
    def kernel_name(self) -> str:
        """The name of the kernel."""
        return self.kernel.root_reference.data

    def kernel_op(self) -> Operation | None:
        """The kernel, whatever level it is at."""
        return SymbolTable.lookup_symbol(self, self.kernel)

    def verify_(self) -> None:
        kernel = self.kernel_op()
        if kernel is None or not kernel.name.endswith(".kernel"):
            raise VerifyException(f"'{self.kernel_name}' is not a kernel")
        expected = [arg.type for arg in kernel.regions[0].block.args]
        if expected != [value.type for value in self.arguments]:
            raise VerifyException(f"the arguments do not fit those of '{self.kernel_name}'")


Host = Dialect("host", [SizeOp, RoundUpOp, LaunchOp], [])
