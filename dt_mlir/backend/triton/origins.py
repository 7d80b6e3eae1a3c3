"""The operations that emitted code comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xdsl.ir import Operation


class Origins:
    """Notes which operation each node of emitted syntax trees was made for.

    An expression may stand far from where its operation is printed, inside another's; so each node
    is noted when it is made. Nodes below a noted one are noted already.
    """

    def __init__(self) -> None:
        self.functions: list[ast.FunctionDef] = []
        """The functions that were printed."""
        self._operations: dict[ast.AST, Operation] = {}

    def of(self, node: ast.AST) -> Operation | None:
        """Returns the operation that a node was made for, if one is known."""
        return self._operations.get(node)

    def note(self, op: Operation, nodes: Iterable[ast.AST]) -> None:
        """Notes that the nodes which are not noted yet were made for an operation."""
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if node not in self._operations:
                self._operations[node] = op
                pending += ast.iter_child_nodes(node)
