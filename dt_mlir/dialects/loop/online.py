"""Reductions over one label that advance together, and repair what depends on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i32, i64
from xdsl.ir import Attribute, BlockArgument, OpResult, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    opt_region_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.loop.reductions import ReductionLoop, YieldOp
from dt_mlir.dialects.values import parse_value

LAWS = {
    "scale": "the sum is multiplied by the quotient of its terms' new and old factor",
    "polynomial": "the sums of Taylor's coefficients are moved to another centre",
    "scaled_polynomial": "the sums of Taylor's coefficients are moved to another centre, and "
    "multiplied by the quotient of their terms' new and old factor",
    "dominated": "earlier elements compare in one way with an extreme that is more so",
}
"""The laws by which an earlier state is repaired, each with what it does."""


@irdl_op_definition
class OnlineOp(ReductionLoop):
    """A loop over a label that computes several reductions in one pass.

    Its body holds a `loop.running` for each value that is reduced, and yields all of them, in
    program order:

    `%t, %s = loop.online %k = k of f : f32, f32 {… loop.yield %a, %b : f32, f32}`

    A step sees the running values of the elements up to its own. The elements of a tile are one
    step, so that a running value is that of all of them.
    """

    name = "loop.online"
    GRAMMAR: ClassVar = (
        "value, … `=` range (`where` affine-set `(` values `)`)? `:` type, … "
        "(`attributes` attr-dict)? region"
    )

    outs = var_result_def()
    """The reduced values: those of the body's running values behind the last step."""

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, label: str, function: str, body: Region, types: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[[], [], []],
            properties={
                "label": StringAttr(label),
                "function": StringAttr(function),
                "step": IntegerAttr(1, i64),
            },
            regions=[body],
            result_types=[types],
        )

    @property
    def running(self) -> list[RunningOp]:
        """The running reductions of the body, in program order."""
        return [op for op in self.body.block.ops if isinstance(op, RunningOp)]

    def out_of(self, op: RunningOp) -> OpResult:
        """Returns the result that is a running value behind the last step."""
        return self.outs[self.yielded.index(op.result)]

    def verify_(self) -> None:
        super().verify_()
        if self.is_outer:
            raise VerifyException("a loop over pieces holds no running reduction")
        wanted = [result for op in self.running for result in op.results]
        if list(self.yielded) != wanted or not wanted:
            raise VerifyException(
                "the body of a 'loop.online' yields the results of its running reductions, in order"
            )
        if [value.type for value in wanted] != [result.type for result in self.outs]:
            raise VerifyException("the results of a 'loop.online' are what its body yields")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        iv, properties, ends = cls._parse_range(parser)
        operands = cls._parse_domain(parser, properties, ends)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([iv])
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
            result_types=types,
        )

    def print(self, printer: Printer) -> None:
        self._print_range(printer)
        self._print_domain(printer)
        printer.print_string(" : ")
        printer.print_list(self.outs, lambda result: printer.print_attribute(result.type))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class RunningOp(IRDLOperation):
    """Combines the element of a step with the running value of the steps before.

    `%t = loop.running maximum %a : f32`. The result is the value up to this step; before the first
    step it is the neutral element. A `dot` takes two factors; `argmax` and `argmin` take an element
    and its index, and give the extreme element too.

    Where elements depend on other running values, those of the steps before were computed from
    older ones. The region repairs the running value before this step's element is added: it takes
    the value, and what the others were before this step, and gives what the value would be if they
    had been as they are now:

    `loop.running add %p : f32 law scale repair (%n, %t0 of %t) { … loop.yield %m : f32 }`

    The region maps the neutral element to itself.
    """

    name = "loop.running"
    GRAMMAR: ClassVar = (
        "kind value, … `:` type, … (`law` law `repair` `(` value (`,` value `of` value)* `)` "
        "region)? attr-dict"
    )

    terms = var_operand_def()
    """The element; two for a dot; for an index reduction the element and its index."""
    sources = var_operand_def()
    """The running values that the elements depend on."""
    kind = prop_def(ReductionKindAttr)
    """The combination of two elements."""
    law = opt_prop_def(StringAttr)
    """The law by which the region repairs the value: `scale`, `polynomial`, `scaled_polynomial` or
    `dominated`."""
    result = result_def()
    """The running value."""
    rest = var_result_def()
    """The running extreme of an index reduction."""
    repair = opt_region_def("single_block")
    """The repair of the value of the steps before."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        kind: ReductionKind,
        terms: Sequence[SSAValue],
        type: Attribute,
        sources: Sequence[SSAValue] = (),
        law: str | None = None,
        repair: Region | None = None,
        extreme: Attribute | None = None,
    ) -> None:
        super().__init__(
            operands=[terms, sources],
            properties={
                "kind": ReductionKindAttr(kind),
                "law": None if law is None else StringAttr(law),
            },
            regions=[[] if repair is None else [repair]],
            result_types=[type, [] if extreme is None else [extreme]],
        )

    @property
    def loop(self) -> OnlineOp:
        """The loop whose steps are combined."""
        parent = self.parent_op()
        assert isinstance(parent, OnlineOp)
        return parent

    @property
    def is_dot(self) -> bool:
        """True if it sums the products of two factors."""
        return self.kind.data is ReductionKind.DOT

    @property
    def earlier(self) -> BlockArgument:
        """The value of the steps before, which the region repairs."""
        assert self.repair is not None
        return self.repair.block.args[0]

    @property
    def repaired(self) -> SSAValue:
        """The value that the region gives."""
        assert self.repair is not None
        last = self.repair.block.last_op
        assert isinstance(last, YieldOp)
        return last.values[0]

    def verify_(self) -> None:
        parent = self.parent_op()
        if not isinstance(parent, OnlineOp):
            raise VerifyException("a 'loop.running' stands in the body of a 'loop.online'")
        kind = self.kind.data
        types = [value.type for value in self.terms]
        if kind.is_arg and (len(types) != 2 or types.pop() != i64):
            raise VerifyException(f"'{kind}' takes an element and its index, an i64")
        check_reduction(kind, types, self.result.type)
        if bool(self.rest) is not kind.is_arg or len(self.rest) > 1:
            raise VerifyException("an index reduction gives its extreme too, and no other does")
        if self.rest and self.rest[0].type != self.terms[0].type:
            raise VerifyException("the running extreme is of the elements' type")
        for source in self.sources:
            owner = source.owner
            if not isinstance(owner, RunningOp) or owner.parent is not self.parent:
                raise VerifyException("a source is a running value of the same loop")
        if self.repair is None:
            if self.law is not None or self.sources:
                raise VerifyException("a law and sources belong to a region that repairs")
            return
        if self.law is None or self.law.data not in LAWS:
            raise VerifyException(f"a region repairs by one of the laws {', '.join(LAWS)}")
        if kind.is_arg:
            raise VerifyException("an index reduction is not repaired")
        types = [self.result.type, *(source.type for source in self.sources)]
        if [arg.type for arg in self.repair.block.args] != types:
            raise VerifyException("the region takes the value, and a value for each source")
        last = self.repair.block.last_op
        if not isinstance(last, YieldOp) or [v.type for v in last.values] != types[:1]:
            raise VerifyException("the region must end in a 'loop.yield' of the repaired value")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_str_enum(ReductionKind)
        terms = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parse_value(parser)
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        properties: dict[str, Attribute] = {"kind": ReductionKindAttr(kind)}
        sources: list[SSAValue] = []
        regions: list[Region] = []
        if parser.parse_optional_keyword("law"):
            properties["law"] = StringAttr(parser.parse_identifier())
            parser.parse_keyword("repair")
            parser.parse_punctuation("(")
            args = [parser.parse_argument(expect_type=False).resolve(types[0])]
            while parser.parse_optional_punctuation(","):
                arg = parser.parse_argument(expect_type=False)
                parser.parse_keyword("of")
                sources.append(parse_value(parser))
                args.append(arg.resolve(sources[-1].type))
            parser.parse_punctuation(")")
            regions.append(parser.parse_region(args))
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, [len(terms), len(sources)]
        )
        op = cls.create(
            operands=[*terms, *sources], properties=properties, regions=regions, result_types=types
        )
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_list(self.terms, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list(self.results, lambda result: printer.print_attribute(result.type))
        if self.repair is not None and self.law is not None:
            printer.print_string(f" law {self.law.data} repair ")
            with printer.in_parens():
                printer.print_ssa_value(self.earlier)
                for arg, source in zip(self.repair.block.args[1:], self.sources):
                    printer.print_string(", ")
                    printer.print_ssa_value(arg)
                    printer.print_string(" of ")
                    printer.print_ssa_value(source)
            printer.print_string(" ")
            printer.print_region(
                self.repair, print_entry_block_args=False, print_empty_block=False
            )
        printer.print_op_attributes(self.attributes)
