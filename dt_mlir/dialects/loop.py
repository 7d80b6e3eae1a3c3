"""The `loop` dialect: loop nests over labels, and what is computed where.

A loop knows its label, where it starts, how far it goes and in what step, and it ends at its
label's size by definition, so that splitting one never needs a remainder. Bodies stay scalar: a
loop that is marked `tile` means that the elements of one step are computed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.formats import (
    NamesDirective,
    is_supported_index,
    linear_form,
    name_array,
    names,
    parse_indices,
    print_indices,
)
from dt_mlir.dialects.kernel import KernelOp as KernelBase
from dt_mlir.element_types import value_type


@irdl_custom_directive
class ValueIndices(CustomDirective):
    """Indices over SSA values: `[%x, 0]`."""

    indices: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands: dict[str, UnresolvedOperand] = {}

        def dim() -> str | None:
            operand = parser.parse_optional_unresolved_operand()
            if operand is None:
                return None
            key = f"{operand.operand_name}#{operand.index}"
            operands.setdefault(key, operand)
            return key

        map, dims = parse_indices(parser, dim)
        self.map.set(state, AffineMapAttr(map))
        self.indices.set(state, [operands[str(key)] for key in dims])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map = self.map.get(op)
        assert isinstance(map, AffineMapAttr)
        values = self.indices.get(op)
        print_indices(printer, map.data, lambda i: _print_value(printer, values[i]))
        state.should_emit_space = True
        state.last_was_punctuation = False


def _print_value(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)


@irdl_op_definition
class KernelOp(KernelBase):
    """A kernel as loops over labels.

    Its body holds one `loop.grid`.
    """

    name = "loop.kernel"

    @property
    def grid(self) -> GridOp:
        """The launch grid."""
        grid = self.body.block.first_op
        assert isinstance(grid, GridOp)
        return grid

    def verify_(self) -> None:
        super().verify_()
        ops = list(self.body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], GridOp):
            raise VerifyException("the body of a 'loop.kernel' is one 'loop.grid'")


class Walk(tuple[str, str, int]):
    """A part of the walk over the grid: a label, `whole`, `outer` or `inner`, and a factor."""

    __slots__ = ()

    def __new__(cls, label: str, part: str = "whole", factor: int = 0) -> Walk:
        return super().__new__(cls, (label, part, factor))

    @property
    def label(self) -> str:
        """The label whose blocks are walked."""
        return self[0]

    @property
    def part(self) -> str:
        """`whole`: all blocks; `outer`: groups of blocks; `inner`: the blocks of a group."""
        return self[1]

    @property
    def factor(self) -> int:
        """The number of blocks in a group; 0 for `whole`."""
        return self[2]

    def __str__(self) -> str:
        return self.label if self.part == "whole" else f"{self.label} {self.part} {self.factor}"


@irdl_op_definition
class GridOp(IRDLOperation):
    """The launch grid: the output's labels that are partitioned into blocks.

    `loop.grid (%x0 = x by 128, %y0 = y by 64) order [x outer 8, y, x inner 8] {…}`: each program
    instance computes one block; the values are the blocks' origins. `order` is the order in which
    program ids walk the blocks, slowest first; `x outer 8` counts groups of 8 blocks, `x inner 8`
    the blocks in a group (the last group may have fewer). The grid has as many instances as there
    are blocks, whatever the sizes.
    """

    name = "loop.grid"

    labels = prop_def(ArrayAttr[StringAttr])
    """The partitioned labels."""
    blocks = prop_def(ArrayAttr[IntegerAttr])
    """The extent of a block along each."""
    order = prop_def(ArrayAttr[StringAttr])
    """The walk, slowest first: `x`, `x outer 8` or `x inner 8` each."""
    mapped = opt_prop_def(UnitAttr)
    """Whether a directive chose the order (else it is the default)."""
    body = region_def("single_block")
    """What a program instance does."""

    traits = traits_def(NoTerminator(), HasParent(KernelOp))

    def __init__(self, body: Region) -> None:
        super().__init__(
            properties={
                "labels": ArrayAttr([]),
                "blocks": ArrayAttr([]),
                "order": ArrayAttr([]),
            },
            regions=[body],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The partitioned labels."""
        return names(self.labels)

    @property
    def block_sizes(self) -> dict[str, int]:
        """The extent of a block along each partitioned label."""
        return {n: b.value.data for n, b in zip(self.label_names, self.blocks)}

    @property
    def walk_order(self) -> list[Walk]:
        """The walk over the blocks, slowest first."""
        return [_walk(item.data) for item in self.order]

    def set_order(self, order: Sequence[Walk]) -> None:
        """Set the walk over the blocks."""
        self.order = name_array([str(walk) for walk in order])

    def add_block(self, label: str, extent: int, order: Sequence[Walk]) -> BlockArgument:
        """Partition a further label; gives the origin of its blocks."""
        self.labels = name_array([*self.label_names, label])
        self.blocks = ArrayAttr([*self.blocks, IntegerAttr(extent, i64)])
        self.set_order(order)
        origin = self.body.block.insert_arg(IndexType(), len(self.body.block.args))
        origin.name_hint = f"{label}_block"
        return origin

    def verify_(self) -> None:
        labels = self.label_names
        if len(set(labels)) != len(labels):
            raise VerifyException("the labels of a grid must differ")
        if len(self.blocks) != len(labels) or len(self.body.block.args) != len(labels):
            raise VerifyException("a grid needs a block and an origin for each of its labels")
        if any(not isinstance(arg.type, IndexType) for arg in self.body.block.args):
            raise VerifyException("the origin of a block is an 'index'")
        if any(block.value.data < 1 for block in self.blocks):
            raise VerifyException("the extent of a block must be positive")
        parts: dict[str, list[Walk]] = {label: [] for label in labels}
        for walk in self.walk_order:
            if walk.label not in parts:
                raise VerifyException(f"the order walks '{walk.label}', which is not in the grid")
            if walk.part != "whole" and walk.factor < 1:
                raise VerifyException("the number of blocks in a group must be positive")
            parts[walk.label].append(walk)
        for label, walks in parts.items():
            kinds = sorted(walk.part for walk in walks)
            if kinds not in (["whole"], ["inner", "outer"]) or len({w.factor for w in walks}) > 1:
                raise VerifyException(
                    f"the order must walk '{label}' once: whole, "
                    "or as outer and inner of one factor"
                )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def dim() -> tuple[Parser.UnresolvedArgument, str, int]:
            origin = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            label = parser.parse_identifier()
            parser.parse_keyword("by")
            return origin, label, parser.parse_integer(allow_boolean=False)

        def walk() -> str:
            label = parser.parse_identifier()
            part = parser.parse_optional_keyword("outer") or parser.parse_optional_keyword("inner")
            if part is None:
                return label
            return str(Walk(label, part, parser.parse_integer(allow_boolean=False)))

        dims = parser.parse_comma_separated_list(parser.Delimiter.PAREN, dim)
        order: list[str] = []
        mapped = False
        if parser.parse_optional_keyword("order"):
            order = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, walk)
            mapped = parser.parse_optional_keyword("mapped") is not None
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([origin.resolve(IndexType()) for origin, _, _ in dims])
        return cls.create(
            properties={
                "labels": name_array([label for _, label, _ in dims]),
                "blocks": ArrayAttr([IntegerAttr(block, i64) for _, _, block in dims]),
                "order": name_array(order),
                **({"mapped": UnitAttr()} if mapped else {}),
            },
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        def dim(item: tuple[BlockArgument, str, int]) -> None:
            printer.print_ssa_value(item[0])
            printer.print_string(f" = {item[1]} by {item[2]}")

        printer.print_string(" (")
        items = zip(self.body.block.args, self.label_names, self.block_sizes.values())
        printer.print_list(items, dim)
        printer.print_string(")")
        if self.order.data:
            printer.print_string(" order [" + ", ".join(names(self.order)) + "]")
            if self.mapped is not None:
                printer.print_string(" mapped")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _walk(text: str) -> Walk:
    match text.split():
        case [label]:
            return Walk(label)
        case [label, part, factor] if part in ("outer", "inner") and factor.isdigit():
            return Walk(label, part, int(factor))
        case _:
            raise VerifyException(f"'{text}' is no part of a walk over a grid")


class LoopLike(IRDLOperation):
    """What `loop.for` and `loop.reduce` have in common: a walk over one label."""

    label = prop_def(StringAttr)
    """The label that is walked."""
    function = prop_def(StringAttr)
    """The function whose loop it is."""
    step = prop_def(IntegerAttr)
    """The number of elements of a step; 0 for the loop's whole extent."""
    tile = opt_prop_def(UnitAttr)
    """Whether the elements of one step are computed at once, as one axis of a tile."""
    origin = opt_operand_def(IndexType())
    """Where the loop starts; 0 without it."""
    extent = opt_prop_def(IntegerAttr)
    """How far it goes from there; to the label's end without it. It ends at the label's size."""
    body = region_def("single_block")
    """What is done for each index."""

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
        """Whether a step's elements are computed at once."""
        return self.tile is not None

    @property
    def has_one_trip(self) -> bool:
        """Whether the loop is known to run at most once."""
        return self.step_size == 0 or (
            self.extent_size is not None and self.extent_size <= self.step_size
        )

    @property
    def is_outer(self) -> bool:
        """Whether the loop only says where an inner one over its label starts."""
        return self.step_size > 1 and not self.is_tile

    def set_step(self, step: int) -> None:
        """Step the loop by tiles of so many elements, 0 for its whole extent."""
        if step == 0 and self.extent_size is not None:
            step = self.extent_size
        self.step = IntegerAttr(step, i64)
        # A tile of one element is a scalar; there is no axis to compute at once.
        self.tile = UnitAttr() if step != 1 else None

    def set_range(self, origin: SSAValue | None, extent: int | None) -> None:
        """Make the loop walk `extent` elements from `origin`, or its whole label."""
        self.operands = [] if origin is None else [origin]
        self.extent = None if extent is None else IntegerAttr(extent, i64)

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
        if self.step_size == 0 and not self.is_tile:
            raise VerifyException("a step of the whole extent must be a tile")

    def _print_range(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.iv)
        printer.print_string(f" = {self.label_name}")
        if self.origin is not None:
            printer.print_string(" in ")
            printer.print_ssa_value(self.origin)
            printer.print_string(f" by {self.extent_size}")
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
            parser.parse_keyword("by")
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

    `loop.for %x = x in %x0 by 128 step 32 tile of mm {…}`: from the origin `%x0` over 128
    elements, at most to the label's end, in tiles of 32. Without `in` it walks the whole label;
    `step full` is one tile of the whole extent. `of mm` names the function whose loop it is.
    """

    name = "loop.for"
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
    accumulates in; `argmax` and `argmin` give an index, i64.
    """

    name = "loop.reduce"

    kind = prop_def(ReductionKindAttr)
    """How elements are combined."""
    result = result_def()
    """The reduced value."""

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, kind: ReductionKind, label: str, function: str, type: Attribute, body: Region
    ) -> None:
        super().__init__(
            operands=[[]],
            properties={
                "kind": ReductionKindAttr(kind),
                "label": StringAttr(label),
                "function": StringAttr(function),
                "step": IntegerAttr(1, i64),
            },
            regions=[body],
            result_types=[type],
        )

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """What the body yields."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return tuple(last.values)

    def verify_(self) -> None:
        super().verify_()
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body of a reduction must end in a 'loop.yield'")
        check_reduction(self.kind.data, [v.type for v in last.values], self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = ReductionKindAttr(parser.parse_str_enum(ReductionKind))
        iv, properties, operands = cls._parse_range(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([iv])
        return cls.create(
            operands=operands,
            properties={"kind": kind, **properties},
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
            result_types=[type],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data}")
        self._print_range(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a reduction with its element."""

    name = "loop.yield"

    values = var_operand_def()
    """The element; two for a dot."""

    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator(), HasParent(ReduceOp))

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])


class AccessOp(IRDLOperation):
    """What `loop.read` and `loop.write` have in common: an element of a tensor or buffer."""

    base = operand_def(MemRefType)
    """The tensor or the local buffer."""
    indices = var_operand_def(IndexType())
    """The loop indices that the indices are made of."""
    map = prop_def(AffineMapAttr)
    """From those to an index for each axis: today a loop index or a number."""

    def index_values(self) -> list[SSAValue | int]:
        """For each axis, the loop index or the number that it is indexed with."""
        result: list[SSAValue | int] = []
        for expr in self.map.data.results:
            form = linear_form(expr)
            assert form is not None
            factors, constant = form
            result.append(self.indices[next(iter(factors))] if factors else constant)
        return result

    def set_index_values(self, values: Sequence[SSAValue | int]) -> None:
        """Index the axes with these loop indices and numbers."""
        map, operands = index_map_of(values)
        self.map = AffineMapAttr(map)
        self.operands = [self.base, *operands]

    def check_access(self) -> None:
        """Check the indices against the base.

        Raises:
            VerifyException: where they do not fit.
        """
        assert isinstance(self.base.type, MemRefType)
        if self.map.data.num_dims != len(self.indices):
            raise VerifyException("one operand is needed for each dimension of the index map")
        if len(self.map.data.results) != self.base.type.get_num_dims():
            raise VerifyException(
                f"a base of {self.base.type.get_num_dims()} axes has "
                f"{len(self.map.data.results)} indices"
            )
        for expr in self.map.data.results:
            if not is_supported_index(expr):
                raise VerifyException(
                    "an index must be a loop's index or a number that is not negative"
                )
        for index in self.indices:
            owner = index.owner
            if not (isinstance(owner, Block) and isinstance(owner.parent_op(), LoopLike)):
                raise VerifyException("an index must be the index of a loop")


def index_map_of(values: Sequence[SSAValue | int]) -> tuple[AffineMap, list[SSAValue]]:
    """The affine map and its operands for these loop indices and numbers."""
    operands: list[SSAValue] = []
    results: list[AffineExpr] = []
    for value in values:
        if isinstance(value, int):
            results.append(AffineExpr.constant(value))
            continue
        if value not in operands:
            operands.append(value)
        results.append(AffineExpr.dimension(operands.index(value)))
    return AffineMap(len(operands), 0, tuple(results)), operands


@irdl_op_definition
class ReadOp(AccessOp):
    """Reads an element of a tensor or of a local buffer."""

    name = "loop.read"

    result = result_def()
    """The element, signless."""

    custom_directives = (ValueIndices,)
    assembly_format = (
        "$base custom<ValueIndices>($indices, $map) attr-dict `:` type($base) `->` type($result)"
    )

    def __init__(self, base: SSAValue, indices: Sequence[SSAValue | int]) -> None:
        map, operands = index_map_of(indices)
        assert isinstance(base.type, MemRefType)
        super().__init__(
            operands=[base, operands],
            properties={"map": AffineMapAttr(map)},
            result_types=[value_type(base.type.element_type)],
        )

    def verify_(self) -> None:
        self.check_access()
        assert isinstance(self.base.type, MemRefType)
        if self.result.type != value_type(self.base.type.element_type):
            raise VerifyException(
                f"an element of {self.base.type} is no {self.result.type}"
            )


@irdl_op_definition
class WriteOp(AccessOp):
    """Writes an element of a tensor or of a local buffer.

    Each index walks one loop over the axis, so that each element is written once.
    """

    name = "loop.write"

    value = operand_def()
    """The element, signless."""

    assembly_format = (
        "$value `,` $base custom<ValueIndices>($indices, $map) attr-dict "
        "`:` type($value) `,` type($base)"
    )
    custom_directives = (ValueIndices,)

    def __init__(
        self, value: SSAValue, base: SSAValue, indices: Sequence[SSAValue | int]
    ) -> None:
        map, operands = index_map_of(indices)
        super().__init__(
            operands=[value, base, operands], properties={"map": AffineMapAttr(map)}
        )

    def set_index_values(self, values: Sequence[SSAValue | int]) -> None:
        map, operands = index_map_of(values)
        self.map = AffineMapAttr(map)
        self.operands = [self.value, self.base, *operands]

    def verify_(self) -> None:
        self.check_access()
        assert isinstance(self.base.type, MemRefType)
        if self.value.type != value_type(self.base.type.element_type):
            raise VerifyException(f"an element of {self.base.type} is no {self.value.type}")


@irdl_op_definition
class LocalOp(IRDLOperation):
    """A local buffer: holds what a fused function produces for its consumers.

    It is indexed by all of the function's labels, but lives only inside the loop that it is in;
    whether it can be held in tiles is seen once the loops are tiled.
    """

    name = "loop.local"

    function = prop_def(StringAttr)
    """The fused function."""
    labels = prop_def(ArrayAttr[StringAttr])
    """Its labels."""
    result = result_def(MemRefType)
    """The buffer."""

    assembly_format = "$function custom<NamesDirective>($labels) attr-dict `:` type($result)"
    custom_directives = (NamesDirective,)

    def __init__(self, function: str, labels: Sequence[str], type: MemRefType) -> None:
        super().__init__(
            properties={"function": StringAttr(function), "labels": name_array(labels)},
            result_types=[type],
        )

    @property
    def label_names(self) -> tuple[str, ...]:
        """The function's labels."""
        return names(self.labels)

    def verify_(self) -> None:
        assert isinstance(self.result.type, MemRefType)
        if len(self.labels) != self.result.type.get_num_dims():
            raise VerifyException("a local buffer needs a label for each of its axes")


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label."""

    name = "loop.size"

    label = prop_def(StringAttr)
    """The label."""
    result = result_def(IndexType)
    """Its size."""

    assembly_format = "$label attr-dict `:` type($result)"

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])


def is_loop(op: Operation | None) -> bool:
    """Whether an operation walks a label."""
    return isinstance(op, LoopLike)


Loop = Dialect(
    "loop",
    [KernelOp, GridOp, ForOp, ReduceOp, YieldOp, ReadOp, WriteOp, LocalOp, SizeOp],
    [],
)
