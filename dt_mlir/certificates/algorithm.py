"""The values that an algorithm defines, as terms."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, ModuleOp, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.certificates.places import placed
from dt_mlir.certificates.scalars import Scalars, Value, as_term, operation
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    Apply,
    Choice,
    Element,
    Number,
    Piece,
    Reduction,
    Term,
    Unknown,
    combined,
)
from dt_mlir.certificates.universe import Integer, Universe, evaluated, least
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float


def widened(value: Term, given: Attribute, type: Attribute) -> Term:
    """Returns a float of a type in a wider one."""
    operand = Block(arg_types=[given]).args[0]
    return Apply(arith.ExtFOp(operand, type), (value,))


def product(a: Term, b: Term, given: Attribute, type: Attribute) -> Term:
    """Returns the product that a dot adds: of two elements of a type, in the type of the sum."""
    if given != type:
        a, b = widened(a, given, type), widened(b, given, type)
    cls = arith.MulfOp if is_float(type) else arith.MuliOp
    return Apply(operation(cls, type, type), (a, b))


def integer_element(tensor: str, indices: Sequence[Integer], type: IntegerType) -> Any:
    """Returns an element of a tensor of integers or of truth values as the solver's."""
    sort = z3.BoolSort() if type == i1 else z3.IntSort()
    function = z3.Function(tensor, *[z3.IntSort()] * len(indices), sort)
    return function(*indices)


def moved_into(kind: str, index: Integer, size: Integer) -> Integer | None:
    """Returns the index that a boundary condition reads in place of another; None if unknown."""
    last = z3.If(size >= 1, size - 1, 0)
    match kind:
        case "repeat_edge":
            return z3.If(index < 0, 0, z3.If(index > last, last, index))
        case _:
            return None


class Algorithm:
    """The functions of a program.

    Args:
        module: the program at the `dt` level.
        scalars: evaluates scalar operations.
        stored: the functions whose elements lie in memory.
        axes: the extent of each axis of each input.
    """

    def __init__(
        self,
        module: ModuleOp,
        scalars: Scalars,
        stored: Sequence[str],
        axes: Mapping[str, Sequence[Integer]],
    ) -> None:
        self._axes = axes
        self.scalars = scalars
        self.universe: Universe = scalars.prover.universe
        self.stored = frozenset(stored)
        self.functions: dict[str, dt.FuncOp] = {}
        for op in module.ops:
            if isinstance(op, dt.FuncOp):
                self.functions[op.sym_name.data] = op
            elif isinstance(op, dt.LabelOp) and op.size is not None:
                self._define(op)

    def _define(self, op: dt.LabelOp) -> None:
        assert op.size is not None
        symbols = [self.universe.size(label) for label in op.used_sizes]
        size = least([evaluated(expr, [], symbols) for expr in op.size.data.results])
        if op.inferred is not None:
            size = z3.If(size > 0, size, 0)
        self.universe.define(op.sym_name.data, size)

    def axes(self, tensor: str) -> list[Integer]:
        """Returns the extent of each axis of a tensor or function."""
        if tensor in self.functions:
            return [self.universe.size(x) for x in self.functions[tensor].label_names]
        return list(self._axes[tensor])

    def value(self, name: str, indices: Sequence[Integer]) -> Term:
        """Returns the element of a function at some indices, as its definition says."""
        function = self.functions[name]
        where = dict(zip(function.label_names, indices, strict=True))
        value = self._region(function.body.block, where)[0]
        return as_term(value, function.value.type)

    def _region(self, block: Any, where: Mapping[str, Integer]) -> list[Value]:
        values: dict[SSAValue, Value] = {}
        for op in block.ops:
            if isinstance(op, dt.YieldOp):
                return [values[value] for value in op.values]
            values[op.results[0]] = self._operation(op, where, values)
        raise AssertionError("a region ends in 'dt.yield'")

    def _operation(
        self, op: Operation, where: Mapping[str, Integer], values: Mapping[SSAValue, Value]
    ) -> Value:
        match op:
            case dt.ReadOp():
                return self._read(op, where, values)
            case dt.IndexOp():
                return where[op.label.data]
            case dt.SizeOp():
                return self.universe.size(op.label.data)
            case dt.ClampOp():
                value = values[op.value]
                if isinstance(value, Term):
                    return Unknown("an index that is computed from data")
                last = self.universe.size(op.label.data) - 1
                below = z3.If(value > last, last, value)
                return z3.If(below < 0, 0, below)
            case dt.ReduceOp():
                return self._reduce(op, where, values)
            case _:
                return self.scalars.apply(op, [values[x] for x in op.operands])

    def _read(
        self, op: dt.ReadOp, where: Mapping[str, Integer], values: Mapping[SSAValue, Value]
    ) -> Value:
        data = [values[x] for x in op.values]
        if any(isinstance(x, Term) for x in data):
            return Unknown("an index that is computed from data")
        dims: list[Integer] = [*(where[label] for label in op.used_labels), *data]
        symbols = [self.universe.size(label) for label in op.size_labels]
        indices = [evaluated(expr, dims, symbols) for expr in op.indices]
        if op.boundary is None:
            return self._element(op, indices)
        known = self.axes(op.source_name)
        if op.boundary.data != CONSTANT:
            kind = op.boundary.data
            moved = [moved_into(kind, i, n) for i, n in zip(indices, known, strict=True)]
            if any(index is None for index in moved):
                return Unknown(f"the boundary condition '{kind}'")
            return self._element(op, moved)
        inside = z3.And(*(z3.And(i >= 0, i < n) for i, n in zip(indices, known, strict=True)))
        found = as_term(self._element(op, indices), op.result.type)
        assert op.exterior is not None
        return Choice(inside, found, Number(op.exterior))

    def _element(self, op: dt.ReadOp, indices: Sequence[Integer]) -> Value:
        name = op.source_name
        if name in self.functions and name not in self.stored:
            return self.value(name, indices)
        if isinstance(op.result.type, IntegerType):
            return integer_element(name, indices, op.result.type)
        return Element(name, tuple(indices), op.result.type)

    def _reduce(
        self, op: dt.ReduceOp, where: Mapping[str, Integer], values: Mapping[SSAValue, Value]
    ) -> Value:
        binders: list[Integer] = []
        inside = dict(where)
        for label in op.label_names:
            size = self.universe.size(label)
            binder = self.universe.variable(label, lambda v, n=size: [v >= 0, v < n])
            inside[label] = binder
            binders.append(binder)
        data = [values[x] for x in op.values]
        if any(isinstance(x, Term) for x in data):
            return Unknown("a domain that depends on computed data")
        dims: list[Integer] = [*(inside[label] for label in op.constrained_labels), *data]
        symbols = [self.universe.size(label) for label in op.size_labels]
        for expr in op.constraints:
            self.universe.know(binders[-1], evaluated(expr, dims, symbols) >= 0)
        kind = op.kind.data
        if kind.is_arg and len(binders) != 1:
            return Unknown("the index of an extreme over several labels")
        last = op.body.block.last_op
        assert isinstance(last, dt.YieldOp)
        found = self._region(op.body.block, inside)
        terms = [as_term(v, x.type) for v, x in zip(found, last.values)]
        if kind is ReductionKind.DOT:
            left, right = terms
            body = product(left, right, last.values[0].type, op.result.type)
            kind = ReductionKind.ADD
        else:
            body = terms[0]
        piece = Piece(tuple(binders), body, tuple(zip(op.label_names, binders)))
        if kind.is_arg:
            return Reduction(kind, op.result.type, (placed(piece, binders[0]),))
        return combined(kind, op.result.type, [piece])


