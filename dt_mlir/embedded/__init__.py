"""DT in Python: programs written with Python's operators, called on PyTorch's tensors."""

from dt_mlir.diagnostics import CompileError
from dt_mlir.embedded import functions
from dt_mlir.embedded.arguments import Knob, one_of
from dt_mlir.embedded.declarations import Func, In, RVar, SIn, Var
from dt_mlir.embedded.expressions import Expr, cast, reshape, where
from dt_mlir.embedded.expressions import length as len
from dt_mlir.embedded.functions import *  # noqa: F403
from dt_mlir.embedded.kernel import Kernel, interpret
from dt_mlir.embedded.program import Program, compile, parse
from dt_mlir.embedded.schedule import Schedule
from dt_mlir.embedded.tuning import Autotuned, Tuned, best, tune

__all__ = [
    "Autotuned", "CompileError", "Expr", "Func", "In", "Kernel", "Knob", "Program", "RVar", "SIn",
    "Schedule", "Tuned", "Var", "best", "cast", "compile", "interpret", "len", "one_of", "parse",
    "reshape", "tune", "where",
]  # fmt: skip
__all__ += functions.__all__
