"""Reductions over domains in which infinities can arise where elements are finite, or pass on.

The terms of a certificate are real numbers. A maximum of no elements is minus infinity, and what a
program computes of that, no expression of real numbers says. Nor does one say whether a factor that
is infinite, and excluded from a sum of products, was multiplied by zero.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isinf

from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Operation

from dt_mlir.certificates.proving import Prover
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.universe import Condition, Integer, Universe, evaluated
from dt_mlir.certificates.walks import linear_form
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.traversal import operations, operations_of

_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)


@dataclass(frozen=True)
class Extreme:
    """A maximum or a minimum that may be infinite, or the place of one."""

    function: str
    """The function that it is in."""
    kind: ReductionKind
    """A maximum or a minimum."""
    labels: tuple[str, ...]
    """The labels that it reduces."""
    has_elements: bool
    """True if it is proved to be over a finite element, for all sizes above 0 and all indices."""


def extremes_of(source: ModuleOp, prover: Prover) -> Iterator[Extreme]:
    """Yields the maxima and minima of an algorithm that may be over no finite element.

    They are over domains, or infinities are among the constants that their elements depend on.

    Args:
        source: the algorithm at the `dt` level.
        prover: decides claims about indices.
    """
    functions = {op.sym_name.data: op for op in source.ops if isinstance(op, dt.FuncOp)}
    for name, function in functions.items():
        for op in operations_of(function, dt.ReduceOp):
            if not (op.kind.data in _EXTREMES or op.kind.data.is_arg):
                continue
            if _names_infinity(op, functions):
                yield Extreme(name, op.kind.data, tuple(op.label_names), False)
            elif op.constraints:
                elements = not op.values and _has_element(op, function, prover)
                yield Extreme(name, op.kind.data, tuple(op.label_names), elements)


def _names_infinity(op: dt.ReduceOp, functions: Mapping[str, dt.FuncOp]) -> bool:
    """Returns whether an infinity is among the constants that a reduction's elements depend on."""
    pending: list[Operation] = [op]
    seen = set[str]()
    while pending:
        for inner in operations(pending.pop()):
            numbers = [*inner.properties.values(), *inner.attributes.values()]
            if any(isinstance(x, FloatAttr) and isinf(x.value.data) for x in numbers):
                return True
            if isinstance(inner, dt.ReadOp) and inner.source_name not in seen:
                seen.add(inner.source_name)
                if inner.source_name in functions:
                    pending.append(functions[inner.source_name])
    return False


def products_over_domains(source: ModuleOp) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the functions with sums of products over domains, with the labels of each."""
    for function in source.ops:
        if not isinstance(function, dt.FuncOp):
            continue
        for op in operations_of(function, dt.ReduceOp):
            if op.constraints and op.kind.data is ReductionKind.DOT:
                yield function.sym_name.data, tuple(op.label_names)


def _has_element(op: dt.ReduceOp, function: dt.FuncOp, prover: Prover) -> bool:
    """Returns whether the domain of a reduction has a point wherever it is computed.

    Points are tried at which its label is 0, the last index, or at the bound of a constraint.
    """
    universe = prover.universe
    where = {label: _index(label, universe) for label in function.label_names}
    given: list[Condition] = []
    around: list[dt.ReduceOp] = []
    parent: Operation | None = op.parent_op()
    while parent is not None and parent is not function:
        if isinstance(parent, dt.ReduceOp):
            around.insert(0, parent)
        parent = parent.parent_op()
    for outer in around:
        where.update((label, _index(label, universe)) for label in outer.label_names)
        if not outer.values:
            given += _constraints(outer, where, universe)
    binders = [_index(label, universe) for label in op.label_names]
    where.update(zip(op.label_names, binders, strict=True))
    claims = _constraints(op, where, universe)
    given += universe.closure(claims)
    # What is known of the label's own index is to be shown of a point.
    own = {fact.get_id() for binder in binders for fact in universe.facts(binder)}
    given = [fact for fact in given if fact.get_id() not in own]
    sizes = [universe.size(label) for label in op.label_names]
    given += [size > 0 for size in sizes]
    last = binders[-1]
    points = [z3.IntVal(0), sizes[-1] - 1]
    for claim in claims:
        form = linear_form(claim.arg(0), [last])
        if form is None:
            continue
        factor, rest = form[0][last.get_id()], form[1]
        # From `factor * last + rest >= 0`.
        points.append(-(rest / factor) if factor > 0 else rest / -factor)
    inside = z3.And(*claims, *(fact for binder in binders for fact in universe.facts(binder)))
    firsts = [(binder, z3.IntVal(0)) for binder in binders[:-1]]
    found = [z3.substitute(inside, *firsts, (last, point)) for point in points]
    return prover.implied(given, z3.Or(*found))


def _index(label: str, universe: Universe) -> Integer:
    size = universe.size(label)
    return universe.variable(label, lambda v: [v >= 0, v < size])


def _constraints(
    op: dt.ReduceOp, where: dict[str, Integer], universe: Universe
) -> list[Condition]:
    """Returns the constraints of a domain, as conditions that its expressions are at least 0."""
    dims = [where[label] for label in op.constrained_labels]
    symbols = [universe.size(label) for label in op.size_labels]
    return [evaluated(expr, dims, symbols) >= 0 for expr in op.constraints]
