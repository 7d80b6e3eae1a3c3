"""The elementwise function `softsign(x)`."""

from xdsl.dialects import math
from xdsl.ir import SSAValue

from dt_mlir.builders.scalars import ScalarBuilder
from dt_mlir.elementwise import Domain, Function


def _softsign(build: ScalarBuilder, x: SSAValue) -> SSAValue:
    return build.div(x, build.add(build.constant(1), build.call(math.AbsFOp, x)))


SOFTSIGN = Function(
    "softsign", 1, Domain.FLOAT, "x / (1 + |x|)", float_op=None, expansion=_softsign
)
