"""Smaller modules: with fewer operations, fewer directives, smaller numbers and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from dt_mlir.dialects import loop, sched
from dt_mlir.printing import module_text
from dt_mlir.reducer.programs import smaller_passes, smaller_sizes
from dt_mlir.traversal import operations


@dataclass(frozen=True)
class ModuleCase:
    """A module, the sizes that it is run at, and how many passes of the pipeline are run."""

    module: ModuleOp
    sizes: Mapping[str, int]
    passes: tuple[int, ...]
    """The numbers of the passes that are run."""

    def text(self) -> str:
        """The module's text, with locations."""
        return module_text(self.module, debuginfo=True) + "\n"

    def key(self) -> object:
        """The identity of a case."""
        return self.text(), tuple(sorted(self.sizes.items())), self.passes


def smaller_modules(case: ModuleCase) -> Iterator[ModuleCase]:
    """Smaller cases, the largest steps first."""
    for passes in smaller_passes(case.passes):
        yield replace(case, passes=passes)
    count = sum(1 for _ in operations(case.module))
    for change in (_erased, _settled, _bypassed, _narrowed):
        # Users stand behind what they use, so the last operations go first.
        for number in reversed(range(1, count)):
            yield from _changed(case, number, change)
    for sizes in smaller_sizes(case.sizes):
        yield replace(case, sizes=sizes)


def _changed(
    case: ModuleCase, number: int, change: Callable[[Operation], bool]
) -> Iterator[ModuleCase]:
    copy = case.module.clone()
    op = next((op for i, op in enumerate(copy.walk()) if i == number), None)
    if op is not None and change(op):
        yield replace(case, module=copy)


def _erased(op: Operation) -> bool:
    """Erase an operation that nothing uses."""
    if op.has_trait(IsTerminator) or any(result.uses for result in op.results):
        return False
    if op.parent_op() is None or isinstance(op, loop.GridOp | sched.ScheduleOp):
        return False
    Rewriter.erase_op(op)
    return True


def _settled(op: Operation) -> bool:
    """Replaces the scalar result of an operation by the number 1."""
    if len(op.results) != 1 or isinstance(op, arith.ConstantOp) or not op.results[0].uses:
        return False
    type = op.results[0].type
    if isinstance(type, AnyFloat):
        one = arith.ConstantOp(FloatAttr(1.0, type))
    elif isinstance(type, IntegerType):
        one = arith.ConstantOp(IntegerAttr(1, type))
    else:
        return False
    block = op.parent_block()
    assert block is not None
    one.location = op.location
    block.insert_op_before(one, op)
    op.results[0].replace_all_uses_with(one.result)
    Rewriter.erase_op(op)
    return True


def _bypassed(op: Operation) -> bool:
    """Replaces the result of an operation by an operand of the same type."""
    if len(op.results) != 1 or op.regions:
        return False
    result = op.results[0]
    operand = next((value for value in op.operands if value.type == result.type), None)
    if operand is None or not result.uses:
        return False
    result.replace_all_uses_with(operand)
    Rewriter.erase_op(op)
    return True


def _narrowed(op: Operation) -> bool:
    """Halve the steps and extents of a loop, or the numbers of a directive."""
    match op:
        case loop.LoopLike():
            numbers = [name for name in ("step", "extent") if _number(op, name) > 1]
            for name in numbers:
                attr = op.properties[name]
                assert isinstance(attr, IntegerAttr)
                op.properties[name] = IntegerAttr(attr.value.data // 2, attr.type)
            return bool(numbers)
        case sched.DirectiveOp():
            arguments = op.argument_list
            if not any(isinstance(a.value, int) and a.value > 1 for a in arguments):
                return False
            halved = [
                a._replace(value=max(1, a.value // 2)) if isinstance(a.value, int) else a
                for a in arguments
            ]
            new = sched.DirectiveOp.make(op.directive_name, op.function_name, halved)
            new.location = op.location
            block = op.parent_block()
            assert block is not None
            block.insert_op_before(new, op)
            Rewriter.erase_op(op)
            return True
        case _:
            return False


def _number(op: Operation, name: str) -> int:
    attr = op.properties.get(name)
    return attr.value.data if isinstance(attr, IntegerAttr) else 0
