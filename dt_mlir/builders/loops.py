"""Changes nests of loops of the `loop` level: their order, and loops that become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import loop
from dt_mlir.dialects.identifiers import value_hint

Place = Callable[[LocationAttr], LocationAttr]
"""Gives the location of a loop that has changed, from its own."""


def interchange(
    nest: Sequence[loop.LoopLike],
    wanted: Sequence[loop.LoopLike],
    place: Place = lambda location: location,
) -> None:
    """Gives each loop of a nest the range, the attributes and the uses of the one wanted there.

    What a reduction combines stays at its place in the nest.

    Args:
        nest: loops that are nested directly in one another, outermost first.
        wanted: the same loops in another order.
        place: gives the location of a moved loop.
    """
    if list(nest) == list(wanted):
        return
    state = {op: _State.of(op, nest) for op in nest}
    moved: dict[SSAValue, SSAValue] = {source.iv: op.iv for op, source in zip(nest, wanted)}
    for op, source in zip(nest, wanted):
        found = state[source]
        kept = {"kind": op.properties["kind"]} if "kind" in op.properties else {}
        op.properties = {**found.properties, **kept}
        op.attributes = found.attributes
        op.operands = [moved.get(value, value) for value in found.operands]
        op.iv.name_hint, op.location = found.hint, place(found.location)
        for user, index in found.uses:
            user.operands[index] = op.iv


@dataclass
class _State:
    """The parts of a loop that move with it."""

    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    operands: list[SSAValue]
    hint: str | None
    location: LocationAttr
    uses: list[tuple[Operation, int]]

    @staticmethod
    def of(op: loop.LoopLike, nest: Sequence[loop.LoopLike]) -> _State:
        uses = [(u.operation, u.index) for u in op.iv.uses if u.operation not in nest]
        return _State(
            dict(op.properties), dict(op.attributes), list(op.operands), op.iv.name_hint,
            op.location, uses,
        )  # fmt: skip


def sink_between(nest: Sequence[loop.LoopLike]) -> None:
    """Moves what stands between the loops of a nest into the innermost one.

    Args:
        nest: loops, outermost first, with nothing but scalar operations between them.
    """
    inside = nest[-1].body.block
    first = inside.first_op
    assert first is not None
    for outer, inner in zip(nest, nest[1:]):
        for op in list(outer.body.block.ops):
            if op is not inner and not isinstance(op, loop.YieldOp):
                op.detach()
                inside.insert_op_before(op, first)


def join(nest: Sequence[loop.LoopLike], label: str) -> loop.LoopLike:
    """Makes one loop of a nest, which walks all of its points in order.

    Args:
        nest: loops over whole labels, nested directly in one another, outermost first.
        label: the label of the joined loop.

    Returns:
        The joined loop, which takes its index apart into those of the nest.
    """
    outer, inner = nest[0], nest[-1]
    ivs = [op.iv for op in nest]
    labels = [op.label_name for op in nest]
    assert outer.parent is not None
    inner.detach()
    outer.parent.insert_op_before(inner, outer)
    parts = loop.DelinearizeOp(inner.iv, labels)
    parts.location = inner.location
    first = inner.body.block.first_op
    assert first is not None
    inner.body.block.insert_op_before(parts, first)
    for iv, part in zip(ivs, parts.indices):
        part.name_hint = iv.name_hint
        iv.replace_uses_with_if(part, lambda use: use.operation is not parts)
    inner.label = StringAttr(label)
    inner.iv.name_hint = value_hint(label)
    for old, new in zip(outer.results, inner.results):
        old.replace_all_uses_with(new)
    Rewriter.erase_op(outer)
    return inner
