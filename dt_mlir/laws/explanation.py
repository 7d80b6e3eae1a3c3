"""Laws in words: what each reduction of one pass adds in a step, and how it is repaired."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    UnrealizedConversionCastOp,
    i1,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from dt_mlir.dialects import elem, host, loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.indices import print_index_text
from dt_mlir.traversal import operations_of

_REDUCTIONS = {
    ReductionKind.ADD: "rsum", ReductionKind.DOT: "rdot", ReductionKind.MUL: "rprod",
    ReductionKind.MAXIMUM: "rmax", ReductionKind.MINIMUM: "rmin", ReductionKind.OR: "rany",
    ReductionKind.AND: "rall", ReductionKind.ARGMAX: "rargmax", ReductionKind.ARGMIN: "rargmin",
}  # fmt: skip
_INFIX: dict[type[Operation], tuple[str, int]] = {
    arith.AddfOp: ("+", 1), arith.AddiOp: ("+", 1), arith.SubfOp: ("-", 1), arith.SubiOp: ("-", 1),
    arith.MulfOp: ("*", 2), arith.MuliOp: ("*", 2), arith.DivfOp: ("/", 2), arith.AndIOp: ("&", 0),
    arith.OrIOp: ("|", 0), math_ops.PowFOp: ("**", 4),
}  # fmt: skip
"""Operators, with how strongly they bind."""
_SAME = (
    arith.ExtFOp, arith.TruncFOp, arith.IndexCastOp, arith.SIToFPOp, arith.FPToSIOp, arith.ExtSIOp,
    arith.TruncIOp, UnrealizedConversionCastOp,
)  # fmt: skip
"""Conversions of types, which are not shown."""
_COMBINED = {
    ReductionKind.ADD: "+", ReductionKind.MUL: "*", ReductionKind.OR: "|", ReductionKind.AND: "&",
}  # fmt: skip
"""Operators that combine two elements of a reduction."""
_LONG = 16
"""The least length of an expression that gets a name where it occurs several times."""
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def explain(module: ModuleOp) -> str:
    """Describes the reductions in one pass of a module.

    Args:
        module: a module of the `loop` level.

    Returns:
        For each loop the value that each reduction adds in a step, and where that depends on other
        reductions, the law by which what came before is repaired, a line each; for each scan what
        a trip makes of the value before it.
    """
    lines: list[str] = []
    functions = _functions(module)
    for kernel in operations_of(module, loop.KernelOp):
        for op in operations_of(kernel, loop.OnlineOp):
            lines += _Online(kernel, op, functions).lines()
        for op in operations_of(kernel, loop.ForOp):
            if loop.prefixes_of(op):
                lines += _Scan(kernel, op, functions).lines()
    if not lines:
        return (
            "no reductions are computed in one pass: no directive 'online' or 'scan' is applied\n"
        )
    return "\n".join(lines) + "\n"


def _functions(module: ModuleOp) -> set[str]:
    """Returns the names that the algorithm defines."""
    found: set[str] = set()
    for op in operations_of(module, host.FuncOp):
        texts = [item.data for item in op.algorithm]
        found.update(text.partition("[")[0] for text in texts if " = " in text)
    return found


class _Explanation:
    """The reductions of one loop.

    Args:
        kernel: the kernel of the loop.
        functions: the names that the algorithm defines.
    """

    def __init__(self, kernel: loop.KernelOp, functions: set[str]) -> None:
        self.kernel = kernel
        self.functions = functions
        self.names: dict[SSAValue, str] = {}
        self.definitions: dict[str, str] = {}
        """The definitions of functions of the algorithm that are shown by their names."""
        self.parts: dict[str, None] = {}
        """The calls and the expressions in parentheses that occur."""

    def _shortened(self, lines: list[str]) -> list[str]:
        """Gives names to what occurs several times, the longest first."""
        named: list[str] = []
        for part in sorted(self.parts, key=len, reverse=True):
            place = re.compile(rf"(?<![\w.]){re.escape(part)}")
            if len(part) < _LONG or sum(len(place.findall(line)) for line in lines + named) < 2:
                continue
            name = f"v{len(named) + 1}"
            lines = [place.sub(name, line) for line in lines]
            named = [place.sub(name, line) for line in named]
            text = part[1:-1] if part.startswith("(") else part
            named.append(f"  {name} = {text}")
        return [*lines[: len(self.definitions)], *reversed(named), *lines[len(self.definitions) :]]

    def show(
        self, value: SSAValue, binding: int = 0, args: Mapping[BlockArgument, str] | None = None
    ) -> str:
        """Returns a value as an expression of DT.

        Args:
            value: the value.
            binding: how strongly what is around binds.
            args: the names of a region's arguments.
        """
        known = self.names.get(value)
        if known is not None:
            return known
        owner = value.owner
        if isinstance(owner, Block):
            return self._argument(value, args or {})
        hint = value.name_hint
        own = not isinstance(owner, loop.ReadOp) and args is None
        if own and hint in self.functions and hint not in self.names.values():
            if hint not in self.definitions:
                self.definitions[hint] = ""
                self.definitions[hint] = self._expression(owner, 0, args)
            return hint
        return self._expression(owner, binding, args)

    def _argument(self, value: SSAValue, args: Mapping[BlockArgument, str]) -> str:
        assert isinstance(value, BlockArgument)
        if value in args:
            return args[value]
        if value in self.kernel.args:
            return self.kernel.argument_names[value.index]
        parent = value.owner.parent_op()
        return parent.label_name if isinstance(parent, loop.LoopLike) else "?"

    def _expression(
        self, op: Operation, binding: int, args: Mapping[BlockArgument, str] | None
    ) -> str:
        def show(value: SSAValue, around: int = 0) -> str:
            return self.show(value, around, args)

        infix = _INFIX.get(type(op))
        if infix is not None:
            sign, strength = infix
            text = f"{show(op.operands[0], strength)} {sign} {show(op.operands[1], strength + 1)}"
            return self._part(f"({text})") if strength < binding else text
        match op:
            case arith.ConstantOp():
                return _number(op)
            case arith.NegfOp():
                return f"-{show(op.operand, 3)}"
            case arith.CmpfOp() | arith.CmpiOp():
                return self._comparison(op, binding, show)
            case arith.SelectOp():
                return self._part(f"where({show(op.cond)}, {show(op.lhs)}, {show(op.rhs)})")
            case loop.ReadOp():
                return self._read(op)
            case loop.SizeOp():
                return f"len({op.label.data})"
            case loop.ReduceOp() if op.kind is not None:
                terms = ", ".join(map(show, op.yielded))
                return f"{_REDUCTIONS[op.named_kind]}({terms}, {op.label_name})"
            case elem.ApplyOp():
                return f"{op.function.data}({', '.join(map(show, op.operands))})"
            case _:
                if isinstance(op, _SAME):
                    return show(op.operands[0], binding)
                name = op.name.split(".")[-1].removesuffix("f")
                return self._part(f"{name}({', '.join(map(show, op.operands))})")

    def _part(self, text: str) -> str:
        self.parts[text] = None
        return text

    def _comparison(
        self, op: arith.CmpfOp | arith.CmpiOp, binding: int, show: Callable[[SSAValue, int], str]
    ) -> str:
        names = arith.CMPF_COMPARISON_OPERATIONS
        if isinstance(op, arith.CmpiOp):
            names = arith.CMPI_COMPARISON_OPERATIONS
        predicate = names[op.predicate.value.data]
        sign = _COMPARISONS.get(predicate[-2:], predicate)
        text = f"{show(op.operands[0], 1)} {sign} {show(op.operands[1], 1)}"
        return f"({text})" if binding else text

    def _read(self, op: loop.ReadOp) -> str:
        base = op.base
        name = base.name_hint or "?"
        if isinstance(base, BlockArgument) and base in self.kernel.args:
            name = self.kernel.argument_names[base.index]
        dims = [self.show(value) for value in op.indices]
        indices = [print_index_text(e, dims, list(op.size_labels)) for e in op.map.data.results]
        return f"{name}[{', '.join(indices)}]"


class _Online(_Explanation):
    """The reductions of a `loop.online`.

    Args:
        kernel: the kernel of the loop.
        op: the loop.
        functions: the names that the algorithm defines.
    """

    def __init__(self, kernel: loop.KernelOp, op: loop.OnlineOp, functions: set[str]) -> None:
        super().__init__(kernel, functions)
        self.op = op
        taken: set[str] = set()
        for running in op.running:
            for result, out in zip(running.results, op.outs[len(self.names) :]):
                name = out.name_hint or _REDUCTIONS[running.kind.data].removeprefix("r")
                number, numbered = 1, name
                while numbered in taken:
                    number += 1
                    numbered = f"{name}_{number}"
                taken.add(numbered)
                self.names[result] = numbered

    def lines(self) -> list[str]:
        op = self.op
        where = ""
        if op.domain is not None:
            where = ", where " + " and ".join(self._constraints())
        found: list[str] = []
        for running in op.running:
            found += self._running(running)
        head = f"{self.kernel.root.data}: one pass over {op.label_name}{where}"
        own = [f"  {name} = {text}" for name, text in self.definitions.items()]
        return [head, *self._shortened([*own, *found])]

    def _constraints(self) -> list[str]:
        op = self.op
        assert op.domain is not None
        count = op.domain.data.num_dims - 1
        dims = [op.label_name, *(self.show(value) for value in op.bounds[:count])]
        sizes = [self.show(value) for value in op.bounds[count:]]
        names = [size.removeprefix("len(").removesuffix(")") for size in sizes]
        return [f"{print_index_text(expr, dims, names)} >= 0" for expr in op.constraints]

    def _running(self, op: loop.RunningOp) -> list[str]:
        kind = op.kind.data
        terms = op.terms[:1] if kind.is_arg else op.terms
        shown = ", ".join(self.show(value) for value in terms)
        name = self.names[op.result]
        lines = [f"  {name} = {_REDUCTIONS[kind]}({shown}, {self.op.label_name})"]
        if op.repair is None:
            return lines
        before = [f"{self.names[source]}_before" for source in op.sources]
        args = dict(zip(op.repair.block.args, [name, *before]))
        assert op.law is not None
        law = op.law.data
        lines.append(f"    law {law}: {loop.LAWS[law]}")
        lines.append(f"    {name} becomes {self.show(op.repaired, args=args)}")
        return lines


class _Scan(_Explanation):
    """The combinations up to each index of a loop.

    Args:
        kernel: the kernel of the loop.
        op: the loop.
        functions: the names that the algorithm defines.
    """

    def __init__(self, kernel: loop.KernelOp, op: loop.ForOp, functions: set[str]) -> None:
        super().__init__(kernel, functions)
        self.op = op

    def lines(self) -> list[str]:
        op, found = self.op, list[str]()
        root, prefixes = self.kernel.root.data, loop.prefixes_of(op)
        for number, prefix in enumerate(prefixes):
            hint = prefix.result.name_hint or (root if len(prefixes) == 1 else None)
            known = {*self.names.values()}
            name = hint if hint and hint not in known else f"scan_{number + 1}"
            element, kind = self.show(prefix.value, 2), prefix.kind.data
            before = f"{name}_before"
            if prefix.factor is not None:
                before = f"{before} * {self.show(prefix.factor, 3)}"
            if kind in _COMBINED:
                text = f"{before} {_COMBINED[kind]} {element}"
            else:
                text = f"{kind}({before}, {self.show(prefix.value)})"
            found.append(f"  {name} = {text}")
            self.names[prefix.result] = name
        down = any(prefix.descending is not None for prefix in prefixes)
        end = ", from the end" if down else ""
        own = [f"  {name} = {text}" for name, text in self.definitions.items()]
        head = f"{root}: scanned over {op.label_name}{end}"
        return [head, *self._shortened([*own, *found])]


def _number(op: arith.ConstantOp) -> str:
    value = op.value
    if op.result.type == i1:
        return "true" if isinstance(value, IntegerAttr) and value.value.data else "false"
    if isinstance(value, FloatAttr | IntegerAttr):
        number = value.value.data
        return str(int(number)) if abs(number) < 2**53 and number == int(number) else str(number)
    return str(value)
