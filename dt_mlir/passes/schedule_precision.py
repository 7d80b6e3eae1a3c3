"""`schedule-precision`: how dots multiply operands that are wider than a target's matrix units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.dialects import loop
from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.element_types import compute_type
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Choice
from dt_mlir.traversal import operations_of

NARROW = "narrow"
"""The precision that rounds operands of mixed types."""


@dataclass(frozen=True)
class PrecisionPass(Directive):
    """Sets how `rdot` multiplies f32 operands, and operands of mixed types.

    `ieee` is exact f32; `tf32` rounds the operands to 11 significant bits for the tensor cores;
    `tf32x3` makes three such products for nearly f32's accuracy. `narrow` rounds the wider operand
    of a product of mixed float types to the narrower type, in which tensor cores then multiply: a
    number that is too large for that type becomes infinite. It is the one directive that changes
    results, by rounding.

    ```
    loop.kernel @f_kernel(…)   ->   loop.kernel @f_kernel(…) attributes {precision = "tf32"}
    ```
    """

    name = "schedule-precision"
    phase: ClassVar[Phase] = Phase.HINTS

    precision: str = parameter(Choice(KernelOp.PRECISIONS), "How operands are rounded.")

    def rewrite(self, site: Site) -> None:
        site.set_hint("precision", self.precision)
        if self.precision == NARROW:
            self._narrow(site)

    def _narrow(self, site: Site) -> None:
        found = operations_of(site.kernel, loop.ReduceOp, loop.RunningOp)
        products = [op for op in found if op.is_dot]
        done = [_narrowed(op) for op in products]
        if not any(done):
            raise site.error(
                f"no product in the kernel of '{self.function}' is of operands of mixed float "
                "types", "leave it out, or declare the type of an input as in 'In A : bf16'",
            )  # fmt: skip


def _narrowed(op: loop.ReduceOp | loop.RunningOp) -> bool:
    """Rounds the wider operand of a product; returns whether it has one."""
    user = op if isinstance(op, loop.RunningOp) else op.body.block.last_op
    assert isinstance(user, loop.RunningOp | loop.YieldOp)
    factors = op.terms if isinstance(op, loop.RunningOp) else op.yielded
    types = [_declared(value) for value in factors]
    widths = [type.bitwidth if isinstance(type, AnyFloat) else 0 for type in types]
    narrow = types[widths.index(min(widths))]
    if not all(widths) or widths[0] == widths[1] or compute_type(narrow) != op.result.type:
        return False
    builder = Builder(InsertPoint.before(user))
    operands: list[SSAValue] = []
    for value, type in zip(factors, types):
        owner = value.owner
        if isinstance(owner, arith.ExtFOp):
            value = owner.input
        if type != narrow:
            assert isinstance(narrow, AnyFloat)
            rounded = builder.insert(arith.TruncFOp(value, narrow))
            rounded.location = op.location
            value = rounded.result
        operands.append(value)
    user.operands = [*operands, *list(user.operands)[len(operands) :]]
    return True


def _declared(value: SSAValue) -> Attribute:
    """Returns the type of an operand before a product of mixed types has widened it."""
    return value.owner.input.type if isinstance(value.owner, arith.ExtFOp) else value.type
