"""Reductions over labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    AffineSetAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, OpResult, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineSet,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    opt_region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import add, multiply, number
from dt_mlir.dialects.loop.nests import LoopLike
from dt_mlir.dialects.numbers import Number, constant, parse_optional_number, print_number


class ReductionLoop(LoopLike):
    """The common part of `loop.reduce` and `loop.online`: a loop that may have a domain."""

    bounds = var_operand_def(IndexType())
    """The values of the domain's other dimensions, and of its symbols."""
    domain = opt_prop_def(AffineSetAttr)
    """The constraints on the indices that are reduced; all are without it."""

    @property
    def constraints(self) -> list[AffineExpr]:
        """Expressions that are not negative in the domain; none without one."""
        found: list[AffineExpr] = []
        for item in () if self.domain is None else self.domain.data.constraints:
            difference = collected(add(item.lhs, multiply(item.rhs, number(-1))))
            if item.kind is not AffineConstraintKind.le:
                found.append(difference)
            if item.kind is not AffineConstraintKind.ge:
                found.append(collected(multiply(difference, number(-1))))
        return found

    def _set_ends(self, origin: SSAValue | None, limit: SSAValue | None) -> None:
        self._set_operands(self.bounds, origin, limit)

    def _set_operands(
        self, bounds: Sequence[SSAValue], origin: SSAValue | None, limit: SSAValue | None
    ) -> None:
        values = {"bounds": list(bounds), "origin": [origin], "limit": [limit]}
        found = {name: [v for v in group if v is not None] for name, group in values.items()}
        names = [name for name, _ in self.get_irdl_definition().operands]
        self.operands = [value for name in names for value in found[name]]
        self.properties["operandSegmentSizes"] = segments(
            len(found["bounds"]), origin is not None, limit is not None
        )

    def set_domain(
        self,
        constraints: Sequence[AffineExpr],
        values: Sequence[SSAValue],
        sizes: Sequence[SSAValue],
    ) -> None:
        """Restricts the reduction to the indices at which expressions are not negative.

        Args:
            constraints: the expressions; the first dimension is the loop's own index.
            values: the values of the other dimensions.
            sizes: the values of the symbols.
        """
        at_least = AffineConstraintKind.ge
        found = [AffineConstraintExpr(at_least, e, AffineExpr.constant(0)) for e in constraints]
        domain = AffineSetAttr(AffineSet(1 + len(values), len(sizes), tuple(found)))
        self.take_domain(domain, [*values, *sizes])

    def take_domain(self, domain: AffineSetAttr, bounds: Sequence[SSAValue]) -> None:
        """Restricts the reduction to a domain.

        Args:
            domain: the constraints.
            bounds: the values of its dimensions but the first, and of its symbols.
        """
        self.domain = domain
        self._set_operands(bounds, self.origin, self.limit)

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The operands of the body's terminator."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return tuple(last.values)

    def verify_(self) -> None:
        super().verify_()
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body of a reduction must end in a 'loop.yield'")
        domain = None if self.domain is None else self.domain.data
        wanted = 0 if domain is None else domain.num_dims + domain.num_symbols - 1
        if len(self.bounds) != wanted:
            raise VerifyException(
                "a domain needs a value for each symbol, and for each dimension but the first"
            )
        if domain is not None and not domain.num_dims:
            raise VerifyException("the first dimension of a domain is the reduction's index")
        if domain is not None:
            for constraint in domain.constraints:
                for side in (constraint.lhs, constraint.rhs):
                    _check_divisors(side)

    @staticmethod
    def _parse_domain(
        parser: Parser, properties: dict[str, Attribute], ends: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Parses the domain of a reduction; returns its operands.

        Args:
            parser: the parser.
            properties: the properties of the operation, which are added to.
            ends: the first index of the loop and the one behind the last, as far as there are any.
        """
        bounds: list[SSAValue] = []
        if parser.parse_optional_keyword("where"):
            place = parser.pos
            domain = parser.parse_attribute()
            if not isinstance(domain, AffineSetAttr):
                parser.raise_error("expected an affine_set", place)
            properties["domain"] = domain
            names = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_unresolved_operand
            )
            bounds = [parser.resolve_operand(name, IndexType()) for name in names]
        properties["operandSegmentSizes"] = segments(len(bounds), bool(ends), len(ends) > 1)
        # The end of a loop stands in front of its first index.
        return [*bounds, *ends[1:], *ends[:1]]

    def _print_domain(self, printer: Printer) -> None:
        if self.domain is not None:
            printer.print_string(" where ")
            printer.print_attribute(self.domain)
            with printer.in_parens():
                printer.print_list(self.bounds, printer.print_ssa_value)


@irdl_op_definition
class ReduceOp(ReductionLoop):
    """A loop over a label that reduces what its body yields.

    `loop.reduce dot %k = k step 32 tile of mm : f32 {…}`. The result's type is the one it
    accumulates in; `argmax` and `argmin` give an index, i64: the loop's, or the one that the body
    yields beside its element. They can give the extreme itself too, for a reduction around them:
    `loop.reduce argmax %k = k of f : i64, f32 {…}`.

    In place of a named combination a reduction has a region that combines two states of several
    values, and the neutral state:
    `loop.reduce %k = k of f : f32, f32 init (-inf, 0.0) {…} combine (%a0, %n0, %a1, %n1) {…}`. The
    combination is associative and commutative.

    A domain restricts the reduction to the indices that satisfy affine constraints on its own
    index, which is the first dimension, and on other values:
    `where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%i)`. The body does not run for other indices.
    A region is not lowered to tiles yet.
    """

    name = "loop.reduce"
    GRAMMAR: ClassVar = (
        "kind? value `=` range (`where` affine-set `(` values `)`)? `:` type, … "
        "(`init` `(` number, … `)`)? (`attributes` attr-dict)? region "
        "(`combine` `(` value, … `)` region)?"
    )

    kind = opt_prop_def(ReductionKindAttr)
    """The combination of two elements, if it is a named one."""
    init = opt_prop_def(ArrayAttr[FloatAttr | IntegerAttr])
    """The neutral state of a combination that is not a named one."""
    result = result_def()
    """The reduced value."""
    rest = var_result_def()
    """The other values of the state; of an index reduction the extreme element."""
    combination = opt_region_def("single_block")
    """The combination of two states, if it is not a named one."""

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        kind: ReductionKind,
        label: str,
        function: str,
        type: Attribute,
        body: Region,
        extreme: Attribute | None = None,
    ) -> None:
        super().__init__(
            operands=[[], [], []],
            properties={
                "kind": ReductionKindAttr(kind),
                "label": StringAttr(label),
                "function": StringAttr(function),
                "step": IntegerAttr(1, i64),
            },
            regions=[[], body],
            result_types=[type, [] if extreme is None else [extreme]],
        )

    @property
    def named_kind(self) -> ReductionKind:
        """The named combination of a reduction that has one."""
        assert self.kind is not None
        return self.kind.data

    @property
    def is_dot(self) -> bool:
        """True if it sums the products of two operands."""
        return self.kind is not None and self.kind.data is ReductionKind.DOT

    @property
    def extreme(self) -> OpResult | None:
        """The extreme element whose index the result is."""
        return self.rest[0] if self.rest else None

    def verify_(self) -> None:
        super().verify_()
        if self.is_outer and (self.domain is not None or self.kind is None):
            raise VerifyException("a reduction over pieces has neither a domain nor a region")
        types = [value.type for value in self.yielded]
        if self.kind is None:
            self._check_combination(types)
            return
        if self.combination is not None or self.init is not None:
            raise VerifyException("a named combination has neither a region nor a neutral state")
        kind = self.kind.data
        if kind.is_arg and len(types) == 2 and types.pop() != i64:
            raise VerifyException(f"the index that '{kind}' reduces must be an i64")
        check_reduction(kind, types, self.result.type)
        if len(self.rest) > 1 or (self.rest and not kind.is_arg):
            raise VerifyException(f"'{kind}' has one result")
        if self.extreme is not None and self.extreme.type != types[0]:
            raise VerifyException(f"'{kind}' of {types[0]} gives no extreme of {self.extreme.type}")

    def _check_combination(self, types: list[Attribute]) -> None:
        if self.combination is None or self.init is None:
            raise VerifyException("a reduction needs a named combination, or a region and 'init'")
        state = [value.type for value in self.results]
        if types != state:
            raise VerifyException("the body of a reduction yields a state, of the results' types")
        if [number.type for number in self.init] != state:
            raise VerifyException("the neutral state is of the results' types")
        block = self.combination.block
        last = block.last_op
        if [arg.type for arg in block.args] != [*state, *state]:
            raise VerifyException("the region that combines takes two states")
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != state:
            raise VerifyException("the region that combines must end in a 'loop.yield' of a state")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_optional_str_enum(ReductionKind)
        iv, properties, ends = cls._parse_range(parser)
        if kind is not None:
            properties["kind"] = ReductionKindAttr(kind)
        operands = cls._parse_domain(parser, properties, ends)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if parser.parse_optional_keyword("init"):
            properties["init"] = cls._parse_state(parser, types)
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([iv])
        regions = [body]
        if parser.parse_optional_keyword("combine"):
            args = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
            )
            if len(args) != 2 * len(types):
                parser.raise_error(f"expected {2 * len(types)} values: two states")
            pairs = zip(args, [*types, *types])
            regions.insert(0, parser.parse_region([arg.resolve(type) for arg, type in pairs]))
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=dict(attrs.data) if attrs else {},
            regions=regions,
            result_types=types,
        )

    @staticmethod
    def _parse_state(parser: Parser, types: Sequence[Attribute]) -> ArrayAttr[Number]:
        place = parser.pos
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN,
            lambda: parser.expect(lambda: parse_optional_number(parser), "expected a number"),
        )
        if len(numbers) != len(types):
            parser.raise_error(f"expected {len(types)} numbers, one for each result", place)
        try:
            return ArrayAttr([constant(number, type) for number, type in zip(numbers, types)])
        except VerifyException as error:
            parser.raise_error(str(error), place)

    def print(self, printer: Printer) -> None:
        if self.kind is not None:
            printer.print_string(f" {self.kind.data}")
        self._print_range(printer)
        self._print_domain(printer)
        printer.print_string(" : ")
        printer.print_list(self.results, lambda result: printer.print_attribute(result.type))
        if self.init is not None:
            printer.print_string(" init ")
            with printer.in_parens():
                printer.print_list(self.init, lambda number: print_number(printer, number))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        if self.combination is not None:
            printer.print_string(" combine ")
            with printer.in_parens():
                printer.print_list(self.combination.block.args, printer.print_ssa_value)
            printer.print_string(" ")
            printer.print_region(
                self.combination, print_entry_block_args=False, print_empty_block=False
            )


def _check_divisors(expr: AffineExpr) -> None:
    """Checks that the divisors of an expression are positive numbers.

    Raises:
        VerifyException: if one is not.
    """
    for part in expr.dfs():
        if isinstance(part, AffineBinaryOpExpr) and part.kind in (
            AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod,
        ):  # fmt: skip
            divisor = part.rhs
            if not isinstance(divisor, AffineConstantExpr) or divisor.value <= 0:
                raise VerifyException(f"a domain divides by a positive number, not by {divisor}")


def segments(bounds: int, origin: bool, limit: bool) -> DenseArrayBase:
    """Returns the property that tells the operands of a reduction apart."""
    return DenseArrayBase.from_list(i32, [bounds, int(limit), int(origin)])


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a reduction with its element, and a region with what it computes."""

    name = "loop.yield"

    values = var_operand_def()
    """The element; two for a dot; for an index reduction perhaps its index too."""

    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in _YIELDING:
            raise VerifyException(f"'{parent.name}' does not end in a 'loop.yield'")


_YIELDING = ("loop.reduce", "loop.online", "loop.running")
"""The operations whose regions yield."""
