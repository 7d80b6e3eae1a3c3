"""DT in Python: Python's operators and methods build the syntax tree of a program.

Nothing here needs torch or triton; `dt_mlir.kernels` compiles the programs and calls them.
"""

from dt_mlir.language.arguments import Knob, one_of
from dt_mlir.language.declarations import Func, In, RVar, SIn, Var
from dt_mlir.language.expressions import Expr, cast, reshape, size, where
from dt_mlir.language.program import Program
from dt_mlir.language.schedule import Schedule

__all__ = [
    "Expr", "Func", "In", "Knob", "Program", "RVar", "SIn", "Schedule", "Var", "cast", "one_of",
    "reshape", "size", "where",
]  # fmt: skip
