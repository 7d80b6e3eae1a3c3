"""Kernels: programs compiled, tuned and called on PyTorch's tensors; all of `import dt_mlir`."""

from dt_mlir.diagnostics import CompileError
from dt_mlir.kernels.dispatched import Dispatched, TunedForSizes
from dt_mlir.kernels.kernel import Kernel, interpret
from dt_mlir.kernels.programs import (
    Automatic,
    Autotuned,
    Func,
    Program,
    Tuned,
    auto,
    best,
    compile,
    parse,
    tune,
)
from dt_mlir.language import functions
from dt_mlir.language.arguments import Knob, one_of
from dt_mlir.language.declarations import In, RVar, SIn, Var
from dt_mlir.language.expressions import Expr, cast, reshape, size, where
from dt_mlir.language.expressions import length as len
from dt_mlir.language.functions import *  # noqa: F403
from dt_mlir.language.schedule import Schedule
from dt_mlir.loading import load_file as load

__all__ = [
    "Automatic", "Autotuned", "CompileError", "Dispatched", "Expr", "Func", "In", "Kernel", "Knob",
    "Program", "RVar", "SIn", "Schedule", "Tuned", "TunedForSizes", "Var", "auto", "best", "cast",
    "compile", "interpret", "len", "load", "one_of", "parse", "reshape", "size", "tune", "where",
]  # fmt: skip
__all__ += functions.__all__
