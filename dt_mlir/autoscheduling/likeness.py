"""Parts of a program that are alike, of which one is looked at for all.

The layers of a network differ in the names of their functions. What kernels do follows from the
rest: what each function computes, from what, under which directives.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.work import Work
from dt_mlir.dialects import dt
from dt_mlir.dialects.formats import symbol_name

Names = dict[str, int]
"""The names of a part's functions, and of what they read, each with its number."""


class Likeness:
    """Finds parts of a program that are alike.

    Args:
        algorithm: the program.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm
        self._inputs = {
            op.sym_name.data: op for op in algorithm.module.ops if isinstance(op, dt.InputOp)
        }
        self._forms: dict[str, tuple[Hashable, tuple[str, ...]]] = {}

    def key(
        self, functions: Sequence[str], decisions: Sequence[Decision]
    ) -> tuple[Hashable, Names] | None:
        """Returns what is equal for parts that are alike, and their names.

        None if directives copy inputs, which others read, too.

        Args:
            functions: the functions of the part, as for `Algorithm.part`.
            decisions: its directives.
        """
        if any(item.name == "cache_read" for item in decisions):
            return None
        names: Names = {name: number for number, name in enumerate(functions)}
        found: list[Hashable] = []
        for name in functions:
            form, read = self._form(name)
            for other in read:
                names.setdefault(other, len(names))
            found.append((form, tuple(names[other] for other in read)))
        given = tuple(map(self._given, names))
        for item in decisions:
            if item.name == "rfactor":
                # The function of the parts gets its name here.
                names.setdefault(str(item.arguments[1].value), len(names))
        said = tuple(
            (
                item.name, names[item.function],
                tuple((a.key, names.get(str(a.value), a.value), a.factor) for a in item.arguments),
                tuple(names[name] for name in item.stored),
            ) for item in decisions
        )  # fmt: skip
        return (tuple(found), given, said), names

    def _given(self, name: str) -> Hashable:
        """Returns what matters of a tensor or a function to those that read it."""
        given = self._inputs.get(name)
        if given is not None:
            return given.type, given.axes or self.algorithm.axes.get(name)
        op = self.algorithm.functions[name]
        return op.element, op.labels, name in self.algorithm.outputs

    def _form(self, name: str) -> tuple[Hashable, tuple[str, ...]]:
        """Returns what a function computes, whatever the names of what it reads; and these."""
        if name not in self._forms:
            op = self.algorithm.functions[name]
            values: dict[SSAValue, int] = {}
            read: dict[str, int] = {}
            form = _form_of(op.body.block, values, read), op.labels, op.element, op.declared
            self._forms[name] = form, tuple(read)
        return self._forms[name]


def _form_of(block: Block, values: dict[SSAValue, int], read: Names) -> Hashable:
    for value in block.args:
        values[value] = len(values)
    return tuple(_operation(op, values, read) for op in block.ops)


def _operation(op: Operation, values: dict[SSAValue, int], read: Names) -> Hashable:
    operands = tuple(values[value] for value in op.operands)
    properties = dict(op.properties)
    source: int | None = None
    if isinstance(op, dt.ReadOp):
        source = read.setdefault(symbol_name(op.source), len(read))
        properties.pop("source")
    inside = tuple(_form_of(block, values, read) for r in op.regions for block in r.blocks)
    for value in op.results:
        values[value] = len(values)
    types = tuple(value.type for value in op.results)
    marks = tuple(sorted(op.attributes.items()))
    return op.name, operands, tuple(properties.items()), marks, source, inside, types


def renamed(work: Work, names: Mapping[str, str]) -> Work:
    """Returns what a kernel does to tensors of other names.

    Args:
        work: what a kernel does.
        names: the other names of its functions, and of what they read. Names of tensors that
            directives make begin with those of functions.
    """
    return replace(
        work,
        root=_other(work.root, names),
        accesses=[replace(item, tensor=_other(item.tensor, names)) for item in work.accesses],
        tensors={_other(name, names): tensor for name, tensor in work.tensors.items()},
    )


def _other(name: str, names: Mapping[str, str]) -> str:
    """Returns the other name of a tensor, as for `renamed`."""
    found = names.get(name)
    if found is None:
        known = max((other for other in names if name.startswith(f"{other}_")), key=len)
        found = names[known] + name.removeprefix(known)
    return found
