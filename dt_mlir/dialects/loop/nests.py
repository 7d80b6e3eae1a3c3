"""Loops over labels."""

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
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, OpResult, Region, SSAValue
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
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import add, multiply, number
from dt_mlir.dialects.numbers import Number, constant, parse_optional_number, print_number


class LoopLike(IRDLOperation):
    """The common part of `loop.for` and `loop.reduce`: a loop over one label."""

    label = prop_def(Identifier)
    """The label that is walked."""
    function = prop_def(Identifier)
    """The function whose loop it is."""
    step = prop_def(IntegerAttr)
    """The number of elements of a step; 0 for the loop's whole extent."""
    tile = opt_prop_def(UnitAttr)
    """True if the elements of one step are computed at once, as one axis of a tile."""
    origin = opt_operand_def(IndexType())
    """The first index; 0 without it."""
    extent = opt_prop_def(IntegerAttr)
    """The extent from there, up to the label's end; all of it without a number."""
    body = region_def("single_block")
    """The body of the loop."""

    @property
    def label_name(self) -> str:
        """The label that is walked."""
        return self.label.data

    @property
    def function_name(self) -> str:
        """The function whose loop it is."""
        return self.function.data

    @property
    def iv(self) -> BlockArgument:
        """The index."""
        return self.body.block.args[0]

    @property
    def step_size(self) -> int:
        """The number of elements of a step; 0 for the whole extent."""
        return self.step.value.data

    @property
    def extent_size(self) -> int | None:
        """The loop's extent where it does not go to its label's end."""
        return None if self.extent is None else self.extent.value.data

    @property
    def is_tile(self) -> bool:
        """True if a step's elements are computed at once."""
        return self.tile is not None

    @property
    def has_one_trip(self) -> bool:
        """True if the loop is known to run at most once."""
        return self.step_size == 0 or (
            self.extent_size is not None and self.extent_size <= self.step_size
        )

    @property
    def is_outer(self) -> bool:
        """True if the loop only says where an inner one over its label starts."""
        return self.step_size > 1 and not self.is_tile

    def set_step(self, step: int) -> None:
        """Steps the loop by tiles of so many elements, 0 for its whole extent."""
        if step == 0 and self.extent_size is not None:
            step = self.extent_size
        self.step = IntegerAttr(step, i64)
        # A tile of one element is a scalar; there is no axis to compute at once.
        self.tile = UnitAttr() if step != 1 else None

    def set_range(self, origin: SSAValue | None, extent: int | None) -> None:
        """Makes the loop walk `extent` elements from `origin`, or its whole label."""
        self.set_origin(origin)
        self.extent = None if extent is None else IntegerAttr(extent, i64)

    def set_origin(self, origin: SSAValue | None) -> None:
        """Makes the loop start at a value, or at 0."""
        self.operands = [] if origin is None else [origin]

    def verify_(self) -> None:
        if not self.body.block.args or any(
            not isinstance(arg.type, IndexType) for arg in self.body.block.args
        ):
            raise VerifyException("the body of a loop takes its index, an 'index'")
        if len(self.body.block.args) != 1:
            raise VerifyException("the body of a loop takes one index")
        if self.step_size < 0:
            raise VerifyException("the step of a loop must be positive, or 0 for its whole extent")
        if self.extent_size is not None and self.extent_size < 1:
            raise VerifyException("the extent of a loop must be positive")
        if (self.origin is None) != (self.extent is None):
            raise VerifyException("a loop has both an origin and an extent, or neither")
        if self.step_size == 0 and self.extent is not None:
            raise VerifyException("a loop that walks a part of its label has a step of its own")
        if self.step_size == 0 and not self.is_tile:
            raise VerifyException("a step of the whole extent must be a tile")

    def _print_range(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.iv)
        printer.print_string(f" = {self.label_name}")
        if self.origin is not None:
            printer.print_string(" in ")
            printer.print_ssa_value(self.origin)
            printer.print_string(f" size {self.extent_size}")
        if self.step_size != 1:
            printer.print_string(" step ")
            printer.print_string(str(self.step_size) if self.step_size else "full")
        if self.is_tile:
            printer.print_string(" tile")
        printer.print_string(f" of {self.function_name}")

    @staticmethod
    def _parse_range(
        parser: Parser,
    ) -> tuple[Parser.Argument, dict[str, Attribute], list[SSAValue]]:
        iv = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"label": StringAttr(parser.parse_identifier())}
        operands: list[SSAValue] = []
        if parser.parse_optional_keyword("in"):
            operands.append(parser.resolve_operand(parser.parse_unresolved_operand(), IndexType()))
            parser.parse_keyword("size")
            properties["extent"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        step = 1
        if parser.parse_optional_keyword("step"):
            full = parser.parse_optional_keyword("full") is not None
            step = 0 if full else parser.parse_integer(allow_boolean=False)
        properties["step"] = IntegerAttr(step, i64)
        if parser.parse_optional_keyword("tile"):
            properties["tile"] = UnitAttr()
        parser.parse_keyword("of")
        properties["function"] = StringAttr(parser.parse_identifier())
        return iv, properties, operands


@irdl_op_definition
class ForOp(LoopLike):
    """A sequential loop over a label.

    `loop.for %x = x in %x0 size 128 step 32 tile of mm {…}`: from the origin `%x0` over 128
    elements, at most to the label's end, in tiles of 32. Without `in` it walks the whole label;
    `step full` is one tile of the whole extent. `of mm` names the function whose loop it is.
    """

    name = "loop.for"
    GRAMMAR: ClassVar = "value `=` range (`attributes` attr-dict)? region"
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, label: str, function: str, body: Region) -> None:
        super().__init__(
            operands=[[]],
            properties={
                "label": StringAttr(label),
                "function": StringAttr(function),
                "step": IntegerAttr(1, i64),
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        iv, properties, operands = cls._parse_range(parser)
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([iv])
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        self._print_range(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class ReduceOp(LoopLike):
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

    bounds = var_operand_def(IndexType())
    """The values of the domain's other dimensions, and of its symbols."""
    kind = opt_prop_def(ReductionKindAttr)
    """The combination of two elements, if it is a named one."""
    domain = opt_prop_def(AffineSetAttr)
    """The constraints on the indices that are reduced; all are without it."""
    init = opt_prop_def(ArrayAttr[FloatAttr | IntegerAttr])
    """The neutral state of a combination that is not a named one."""
    result = result_def()
    """The reduced value."""
    rest = var_result_def()
    """The other values of the state; of an index reduction the extreme element."""
    combination = opt_region_def("single_block")
    """The combination of two states, if it is not a named one."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
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
            operands=[[], []],
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

    def set_origin(self, origin: SSAValue | None) -> None:
        bounds = list(self.bounds)
        self.operands = bounds + ([] if origin is None else [origin])
        self.properties["operandSegmentSizes"] = _segments(len(bounds), origin is not None)

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
        self.domain = AffineSetAttr(AffineSet(1 + len(values), len(sizes), tuple(found)))
        origin = list(self.operands)[len(self.bounds) :]
        self.operands = [*values, *sizes, *origin]
        self.properties["operandSegmentSizes"] = _segments(
            len(values) + len(sizes), bool(origin)
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
        if self.is_outer and (domain is not None or self.kind is None):
            raise VerifyException("a reduction over pieces has neither a domain nor a region")
        types = [v.type for v in last.values]
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
        iv, properties, operands = cls._parse_range(parser)
        if kind is not None:
            properties["kind"] = ReductionKindAttr(kind)
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
        properties["operandSegmentSizes"] = _segments(len(bounds), bool(operands))
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
            operands=[*bounds, *operands],
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
        if self.domain is not None:
            printer.print_string(" where ")
            printer.print_attribute(self.domain)
            with printer.in_parens():
                printer.print_list(self.bounds, printer.print_ssa_value)
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


def _segments(bounds: int, origin: bool) -> DenseArrayBase:
    """Returns the property that tells the operands of a reduction apart."""
    return DenseArrayBase.from_list(i32, [bounds, int(origin)])


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a reduction with its element."""

    name = "loop.yield"

    values = var_operand_def()
    """The element; two for a dot; for an index reduction perhaps its index too."""

    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator(), HasParent(ReduceOp))

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])
