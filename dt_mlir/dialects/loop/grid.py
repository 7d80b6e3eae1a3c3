"""Kernels and the launch grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, ParametrizedAttribute, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException

from dt_mlir.diagnostics import MalformedError
from dt_mlir.dialects.formats import (
    is_name_array,
    name_array,
    names,
)
from dt_mlir.dialects.identifiers import Identifier, Identifiers
from dt_mlir.dialects.kernel import KernelOp as KernelBase
from dt_mlir.dialects.loop.delinearize import DelinearizeOp
from dt_mlir.traversal import operations


@irdl_op_definition
class KernelOp(KernelBase):
    """A kernel as loops over labels.

    Its body holds one `loop.grid`.
    """

    name = "loop.kernel"
    GRAMMAR: ClassVar = "symbol `(` argument, … `)` (`attributes` attr-dict)? region"

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
        known = {label.data for label in self.labels}
        for op in operations(self):
            label = op.properties.get("label")
            if isinstance(label, StringAttr) and label.data not in known:
                raise VerifyException(
                    f"'{op.name}' walks '{label.data}', which is not a label of the kernel"
                )
            joins = isinstance(op, DelinearizeOp)
            sizes = op.properties.get("labels" if joins else "sizes")
            for name in names(sizes) if is_name_array(sizes) else ():
                if name not in known:
                    raise MalformedError(f"'{name}' is not a label of the kernel", op)


@irdl_attr_definition
class WalkAttr(ParametrizedAttribute):
    """A part of the walk over the grid: `#loop.walk<x>` or `#loop.walk<x outer 8>`.

    A label alone stands for all its blocks; `descending` begins with the last one. `outer` counts
    the groups of so many blocks, `inner` the blocks of a group.
    """

    name = "loop.walk"

    axis: StringAttr = param_def(Identifier)
    """The label whose blocks are walked."""
    kind: StringAttr = param_def()
    """`whole`, `descending`, `outer` or `inner`."""
    group: IntAttr = param_def()
    """The number of blocks in a group; 0 where all blocks are walked."""

    def __init__(self, label: str, part: str = "whole", factor: int = 0) -> None:
        super().__init__(StringAttr(label), StringAttr(part), IntAttr(factor))

    @property
    def label(self) -> str:
        """The label whose blocks are walked."""
        return self.axis.data

    @property
    def part(self) -> str:
        """`whole`: all blocks, `descending`: from the last one on; `outer`: groups of blocks,
        `inner`: the blocks of a group."""
        return self.kind.data

    @property
    def is_whole(self) -> bool:
        """True if all blocks are walked."""
        return self.part in ("whole", "descending")

    @property
    def factor(self) -> int:
        """The number of blocks in a group; 0 for `whole`."""
        return self.group.data

    def __str__(self) -> str:
        if self.part == "whole":
            return self.label
        return f"{self.label} {self.part}" + ("" if self.is_whole else f" {self.factor}")

    def verify(self) -> None:
        if self.part not in ("whole", "descending", "outer", "inner"):
            raise VerifyException("a part of a walk is 'whole', 'descending', 'outer' or 'inner'")
        if (self.factor < 1) != self.is_whole:
            raise VerifyException("the number of blocks in a group must be positive")

    @staticmethod
    def parse_walk(parser: AttrParser) -> WalkAttr:
        """Parses `x`, `x descending`, `x outer 8` or `x inner 8`."""
        label = parser.parse_identifier("a label")
        if parser.parse_optional_keyword("descending"):
            return WalkAttr(label, "descending")
        part = parser.parse_optional_keyword("outer") or parser.parse_optional_keyword("inner")
        if part is None:
            return WalkAttr(label)
        return WalkAttr(label, part, parser.parse_integer(allow_boolean=False))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            walk = cls.parse_walk(parser)
        return [walk.axis, walk.kind, walk.group]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self))


@irdl_op_definition
class GridOp(IRDLOperation):
    """The launch grid: the output's labels that are partitioned into blocks.

    `loop.grid (%x0 = x size 128, %y0 = y size 64) order [x outer 8, y, x inner 8]`: each program
    instance computes one block; the values are the blocks' origins. `order` is the order in which
    program ids walk the blocks, slowest first; `x outer 8` counts groups of 8 blocks, `x inner 8`
    the blocks in a group (the last group may have fewer). The grid has as many instances as there
    are blocks, whatever the sizes.
    """

    name = "loop.grid"
    GRAMMAR: ClassVar = (
        "`(` (value `=` label `size` integer), … `)` (`order` `[` walk, … `]` "
        "(`mapped`)?)? (`attributes` attr-dict)? region"
    )

    labels = prop_def(Identifiers)
    """The partitioned labels."""
    blocks = prop_def(ArrayAttr[IntegerAttr])
    """The extent of a block along each."""
    order = prop_def(ArrayAttr[WalkAttr])
    """The walk, slowest first."""
    mapped = opt_prop_def(UnitAttr)
    """True if a directive chose the order (else it is the default)."""
    body = region_def("single_block")
    """The body of a program instance."""

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
    def walk_order(self) -> list[WalkAttr]:
        """The walk over the blocks, slowest first."""
        return list(self.order)

    def set_order(self, order: Sequence[WalkAttr]) -> None:
        """Sets the walk over the blocks."""
        self.order = ArrayAttr(order)

    def add_block(self, label: str, extent: int, order: Sequence[WalkAttr]) -> BlockArgument:
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
        parts: dict[str, list[WalkAttr]] = {label: [] for label in labels}
        for walk in self.walk_order:
            if walk.label not in parts:
                raise VerifyException(f"the order walks '{walk.label}', which is not in the grid")
            parts[walk.label].append(walk)
        for label, walks in parts.items():
            kinds = sorted(walk.part for walk in walks)
            known = kinds in (["whole"], ["descending"], ["inner", "outer"])
            if not known or len({w.factor for w in walks}) > 1:
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
            parser.parse_keyword("size")
            return origin, label, parser.parse_integer(allow_boolean=False)

        dims = parser.parse_comma_separated_list(parser.Delimiter.PAREN, dim)
        order: list[WalkAttr] = []
        mapped = False
        if parser.parse_optional_keyword("order"):
            order = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: WalkAttr.parse_walk(parser)
            )
            mapped = parser.parse_optional_keyword("mapped") is not None
        attrs = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([origin.resolve(IndexType()) for origin, _, _ in dims])
        return cls.create(
            properties={
                "labels": name_array([label for _, label, _ in dims]),
                "blocks": ArrayAttr([IntegerAttr(block, i64) for _, _, block in dims]),
                "order": ArrayAttr(order),
                **({"mapped": UnitAttr()} if mapped else {}),
            },
            attributes=dict(attrs.data) if attrs else {},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        def dim(item: tuple[BlockArgument, str, int]) -> None:
            printer.print_ssa_value(item[0])
            printer.print_string(f" = {item[1]} size {item[2]}")

        printer.print_string(" (")
        items = zip(self.body.block.args, self.label_names, self.block_sizes.values())
        printer.print_list(items, dim)
        printer.print_string(")")
        if self.order.data:
            printer.print_string(" order [" + ", ".join(map(str, self.order)) + "]")
            if self.mapped is not None:
                printer.print_string(" mapped")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
