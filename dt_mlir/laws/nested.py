"""Elements that are sums over another label: their terms are the sums of the inner elements' terms.

A sum over two labels is a sum of sums. Where what the outer one is repaired for is the same for all
inner elements, it comes out of the inner sum: of a product with such a factor the factor, of a
polynomial in such a value the sums of its coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.laws.body import Body
from dt_mlir.laws.terms import NotSeparable, Powers, Term, Terms, check_product
from dt_mlir.traversal import captured_by

Centre = Callable[[SSAValue], SSAValue]


class InnerBody(Body):
    """The body of a sum in the body of a loop; what does not depend on its index goes outside.

    Args:
        outer: the body of the loop.
        op: the sum.
    """

    def __init__(self, outer: Body, op: loop.ReduceOp) -> None:
        block = Block(arg_types=[op.iv.type])
        block.args[0].name_hint = op.iv.name_hint
        super().__init__(block, outer.location)
        self.outer, self.op = outer, op
        self.running, self.decomposed = outer.running, outer.decomposed
        self.decomposed.append(block)
        self._extreme: dict[loop.ReduceOp, SSAValue] = {}

    def insert(self, op: Operation) -> Operation:
        used = (*op.operands, *captured_by(op))
        if not any(super(InnerBody, self).contains(value) for value in used):
            return self.outer.insert(op)
        return super().insert(op)

    def contains(self, value: SSAValue) -> bool:
        return super().contains(value) or self.outer.contains(value)

    def sources(self, value: SSAValue) -> frozenset[loop.RunningOp]:
        return super().sources(value) | self.outer.sources(value)

    def varies(self, value: SSAValue) -> bool:
        return super().varies(value) or self.outer.varies(value)

    def is_inside(self, value: SSAValue) -> bool:
        """Returns whether a value differs between the elements of the sum."""
        return super().contains(value)

    def is_extreme_of(self, value: SSAValue, element: SSAValue) -> bool:
        """Returns whether a value is the maximum of an element over the label of the sum."""
        op = value.owner
        if (
            not isinstance(op, loop.ReduceOp)
            or op.kind is None
            or op.named_kind is not ReductionKind.MAXIMUM
            or op.label_name != self.op.label_name
            or op.domain is not None
        ):
            return False
        if op not in self._extreme:
            (self._extreme[op],) = self.copy(op)
        return self._extreme[op] is element

    def copy(self, op: loop.ReduceOp) -> list[SSAValue]:
        """Inserts what a reduction over the label reduces; returns its elements."""
        values: dict[SSAValue, SSAValue] = {op.iv: self.block.args[0]}
        for inner in op.body.block.ops:
            if not isinstance(inner, loop.YieldOp):
                copy = self.clone(inner, values)
                values.update(zip(inner.results, copy.results))
        return [values.get(value, value) for value in op.yielded]

    def reduced(
        self, kind: ReductionKind, elements: Sequence[SSAValue], type: Attribute
    ) -> SSAValue:
        """Inserts a reduction of elements over the label of the sum into the outer body.

        Args:
            kind: the combination.
            elements: the element; two for a dot.
            type: the type of the result.
        """
        values: dict[SSAValue, SSAValue] = {}
        block = Block(arg_types=[self.op.iv.type])
        block.args[0].name_hint = self.op.iv.name_hint
        values[self.block.args[0]] = block.args[0]
        for value in elements:
            self._copy_into(block, value, values)
        last = loop.YieldOp(*(values.get(value, value) for value in elements))
        last.location = self.location
        block.add_op(last)
        result = loop.ReduceOp(
            kind, self.op.label_name, self.op.function_name, type, Region(block)
        )
        result.location = self.op.location
        return self.outer.value(result)

    def _copy_into(
        self, block: Block, value: SSAValue, values: dict[SSAValue, SSAValue]
    ) -> None:
        op = value.owner
        if value in values or not self.is_inside(value) or not isinstance(op, Operation):
            return
        for used in (*op.operands, *captured_by(op)):
            self._copy_into(block, used, values)
        copy = op.clone(dict(values))
        copy.location = op.location
        block.add_op(copy)
        for old, new in zip(op.results, copy.results):
            new.name_hint = old.name_hint
            values[old] = new


def split_sum(
    body: Body, centre: Centre, op: loop.ReduceOp, mask: SSAValue | None
) -> list[Term]:
    """Decomposes an element that is a sum over another label into terms.

    Args:
        body: the body of the loop.
        centre: gives the centre of a polynomial in a running value.
        op: the sum, or the sum of products, in the body.
        mask: where the element counts; None for everywhere.

    Raises:
        NotSeparable: with the part that spoils it.
    """
    if op.domain is not None:
        raise NotSeparable(
            op.result,
            f"it is reduced over '{op.label_name}' under conditions, with a running value in each "
            "element",
        )
    inner = InnerBody(body, op)
    terms = Terms(inner, centre, split_sum)
    factors = [terms.split(value, mask) for value in inner.copy(op)]
    if op.is_dot:
        check_product(factors[0], factors[1], op.result)
    return [_summed(inner, terms, parts) for parts in product(*factors)]


def _summed(inner: InnerBody, terms: Terms, parts: Sequence[Term]) -> Term:
    """Returns the sum of a term, or of the product of two, over the label of a sum."""
    found: dict[Powers, SSAValue] = {}
    for powers, elements in terms.elements(parts).items():
        kind, type = ReductionKind.DOT, inner.op.result.type
        if len(elements) == 1:
            kind, elements = ReductionKind.ADD, [inner.widened(elements[0], type)]
        found[powers] = inner.reduced(kind, elements, type)
    term = replace(terms.joined(parts), coefficients=found)
    # The condition must not differ between the elements of the sum.
    if term.mask is None or not inner.is_inside(term.mask):
        return term
    return replace(term, mask=inner.reduced(ReductionKind.OR, [term.mask], i1))
