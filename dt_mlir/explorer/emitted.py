"""The emitted module, its lines linked to the operations that they were printed for."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from dt_mlir.backend.python_module import emit_module
from dt_mlir.backend.triton.origins import Origins


@dataclass(frozen=True)
class Emitted:
    """A module as it was emitted."""

    source: str
    operations: dict[int, list[Operation]]
    """The operations that each line was printed for, by its number from 1."""

    @staticmethod
    def of(module: ModuleOp) -> Emitted:
        """Emits a module of kernels.

        Raises:
            CompileError: if the module is not of the `tile` or the `warp` level.
        """
        origins = Origins()
        source = emit_module(module, wrapped=True, origins=origins)
        found: dict[int, dict[Operation, None]] = defaultdict(dict)
        printed = {
            node.name: node for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
        }  # fmt: skip
        for function in origins.functions:
            for made, node in _pairs(function, printed[function.name]):
                op = origins.of(made)
                if op is not None:
                    for line in _lines(node):
                        found[line].setdefault(op)
        return Emitted(source, {line: list(ops) for line, ops in sorted(found.items())})


def _pairs(made: ast.AST, read: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Pairs the nodes of a tree that was printed with those of its text, as far as they agree."""
    pending = [(made, read)]
    while pending:
        a, b = pending.pop()
        yield a, b
        if type(a) is type(b):
            left, right = list(ast.iter_child_nodes(a)), list(ast.iter_child_nodes(b))
            if len(left) == len(right):
                pending += zip(left, right)


def _lines(node: ast.AST) -> range:
    """The lines of a node: of a statement with a body only the first."""
    if not isinstance(node, ast.expr | ast.stmt) or isinstance(node, ast.Name | ast.Constant):
        # The use of a variable is not what computes it.
        return range(0)
    if isinstance(node, ast.For | ast.If | ast.With | ast.FunctionDef | ast.expr):
        return range(node.lineno, node.lineno + 1)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
