"""`loop-fix-sizes`: compiles a program for given sizes of labels."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from dt_mlir.analysis.label_sizes import fixed_sizes
from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects import host
from dt_mlir.scheduling.parameters import ArgumentError, Sizes

_SIZES = Sizes(least=1)


def fix_sizes(function: host.FuncOp, wanted: dict[str, int]) -> dict[str, int]:
    """The sizes of labels, with those of all labels that have the same size.

    Raises:
        CompileError: if there is no such label, or two that have one size are given two.
    """
    labels = function.label_names
    same = function.first_of_same()
    found: dict[str, int] = {}
    for label, size in wanted.items():
        if label not in labels:
            raise CompileError(
                f"nothing that is compiled uses a label '{label}' to fix the size of", function,
                did_you_mean(label, labels),
            )
        first = same.get(label, label)
        for other in labels:
            if same.get(other, other) == first and found.setdefault(other, size) != size:
                raise CompileError(
                    f"'{label}' is fixed at {size}, but '{other}' has the same size and is "
                    f"fixed at {found[other]}", function,
                )
    return found


@dataclass(frozen=True)
class LoopFixSizesPass(ModulePass):
    """Compiles a program for given sizes of labels; the wrapper refuses others.

    What follows from the sizes is decided at compile time: how many trips loops make, which tiles
    can reach beyond the end, how large whole tiles are.

    ```
    host.func @mm(…) attributes {…}   ->   host.func @mm(…) attributes {sizes = {x = 4096}, …}
    ```
    """

    name = "loop-fix-sizes"

    sizes: tuple[str, ...]
    """Labels with their sizes: `"x:4096"`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        program = LoopProgram(op)
        try:
            wanted = dict(_SIZES.items(self.sizes))
        except ArgumentError as error:
            raise CompileError(f"loop-fix-sizes: {error}", op, error.hint) from None
        fixed = fix_sizes(program.host, {**fixed_sizes(op), **wanted})
        program.host.sizes = DictionaryAttr(
            {label: IntegerAttr(size, i64) for label, size in fixed.items()}
        )
