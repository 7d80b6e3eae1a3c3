"""The common part of the kernel operations of the `loop` and the `tile` level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.irdl import IRDLOperation, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import is_name_array, name_array, names
from dt_mlir.dialects.functions import BodyIsCallable, parse_function, print_function
from dt_mlir.dialects.host import AXES, NAME
from dt_mlir.dialects.identifiers import Identifier, Identifiers, Symbol, check_identifier
from dt_mlir.element_types import is_element_type


def argument_attributes(name: str, axes: Sequence[str]) -> DictionaryAttr:
    """The attributes of a kernel's or a wrapper's argument."""
    return _argument_attributes(name, tuple(axes))


@lru_cache(maxsize=4096)
def _argument_attributes(name: str, axes: tuple[str, ...]) -> DictionaryAttr:
    # A kernel of many arguments gets all of them anew each time that a function joins it.
    return DictionaryAttr({NAME: StringAttr(name), AXES: name_array(axes)})


class KernelOp(IRDLOperation):
    """A kernel: its body is what one launch computes.

    Its arguments are tensors (memrefs) and scalars; each has its name in the source and the
    labels of its axes as attributes.
    """

    sym_name = prop_def(Symbol)
    """The kernel's name."""
    function_type = prop_def(FunctionType)
    """The types of its arguments."""
    arg_attrs = prop_def(ArrayAttr[DictionaryAttr])
    """The attributes `host.name` and `host.axes` of each argument."""
    root = prop_def(Identifier)
    """The function whose kernel it is."""
    labels = prop_def(Identifiers)
    """The labels that occur in it, in declared order."""
    num_warps = opt_prop_def(IntegerAttr)
    """The number of warps of a program instance."""
    num_stages = opt_prop_def(IntegerAttr)
    """The depth to which Triton pipelines loops."""
    persistent = opt_prop_def(IntegerAttr)
    """The number of program instances on each multiprocessor, which walk the blocks of the grid;
    without it there is an instance for each block."""
    alternating = opt_prop_def(UnitAttr)
    """True if they walk every other round of blocks from its last block to its first."""
    dependent_launch = opt_prop_def(UnitAttr)
    """True if it may be launched before the kernel before it has ended, for which it waits."""
    precision = opt_prop_def(StringAttr)
    """The precision of products: `ieee`, `tf32` or `tf32x3` for operands of f32, `narrow` where
    operands of mixed types were rounded to the narrower one."""
    math = opt_prop_def(StringAttr)
    """The choice of elementary functions: `fast` or `accurate`."""
    unroll_jam = opt_prop_def(DictionaryAttr)
    """Labels whose tiles are taken apart, with the number of interleaved tiles of each."""
    warp_specialize = opt_prop_def(DictionaryAttr)
    """The numbers of `consumers` and `registers` by which warps are specialized, if they are, and
    the `sizes` of labels that they are specialized for, if these are not all."""
    descriptors = opt_prop_def(Identifiers)
    """The tensors that are accessed through descriptors where the device and they allow it."""
    summed = opt_prop_def(Identifiers)
    """The tensors to which what the kernel writes is added (`host.alloc … summed`)."""
    dynamic = opt_prop_def(UnitAttr)
    """True if sizes and strides are run-time arguments."""
    body = region_def("single_block")
    """The body of the kernel."""

    traits = traits_def(
        IsolatedFromAbove(), SymbolOpInterface(), NoTerminator(), BodyIsCallable()
    )

    PRECISIONS: ClassVar = ("ieee", "tf32", "tf32x3", "narrow")
    ACCURACIES: ClassVar = ("fast", "accurate")

    def __init__(
        self,
        name: str,
        root: str,
        labels: Sequence[str],
        arguments: Sequence[tuple[str, Sequence[str]]],
        body: Region,
        **properties: Attribute | None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists([a.type for a in body.block.args], []),
                "arg_attrs": ArrayAttr([argument_attributes(n, axes) for n, axes in arguments]),
                "root": StringAttr(root),
                "labels": name_array(labels),
                **properties,
            },
            regions=[body],
        )

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        """The arguments."""
        return tuple(self.body.block.args)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The arguments' names in the source."""
        return tuple([_string(attrs.data[NAME]) for attrs in self.arg_attrs.data])

    def axes_of(self, argument: BlockArgument) -> tuple[str, ...]:
        """The labels of a tensor's axes."""
        axes = self.arg_attrs.data[argument.index].data[AXES]
        assert is_name_array(axes)
        return names(axes)

    def set_arguments(self, arguments: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Records the arguments anew after the block's arguments have changed."""
        self.function_type = FunctionType.from_lists([a.type for a in self.args], [])
        self.arg_attrs = ArrayAttr([argument_attributes(n, axes) for n, axes in arguments])

    @property
    def is_accurate(self) -> bool:
        """True if elementary functions are to be as accurate as PyTorch's."""
        return self.math is not None and self.math.data == "accurate"

    @property
    def described_names(self) -> tuple[str, ...]:
        """The tensors that are accessed through descriptors."""
        return () if self.descriptors is None else names(self.descriptors)

    @property
    def summed_names(self) -> tuple[str, ...]:
        """The tensors to which what the kernel writes is added."""
        return () if self.summed is None else names(self.summed)

    def int_hint(self, hint: str) -> int | None:
        """The value of `num_warps`, `num_stages` or `persistent`, if it is set."""
        attr = self.properties.get(hint)
        return attr.value.data if isinstance(attr, IntegerAttr) else None

    @property
    def jam_factors(self) -> dict[str, int]:
        """The labels whose tiles are taken apart, with the number of interleaved tiles of each."""
        items = self.unroll_jam.data.items() if self.unroll_jam else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    @property
    def specialization(self) -> dict[str, int]:
        """The numbers by which warps are specialized; none, if they are not."""
        items = self.warp_specialize.data.items() if self.warp_specialize else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    @property
    def specialized_sizes(self) -> dict[str, int]:
        """The sizes of labels that warps are specialized for; all others if it has none."""
        sizes = self.warp_specialize.data.get("sizes") if self.warp_specialize else None
        items = sizes.data.items() if isinstance(sizes, DictionaryAttr) else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    def keep_sizes(self) -> None:
        """Leaves out the sizes that warps are specialized for of labels that the kernel has not."""
        labels = {label.data for label in self.labels}
        kept = {n: size for n, size in self.specialized_sizes.items() if n in labels}
        if self.warp_specialize is not None and kept != self.specialized_sizes:
            sizes = DictionaryAttr({n: IntegerAttr(size, i64) for n, size in kept.items()})
            self.warp_specialize = DictionaryAttr({**self.warp_specialize.data, "sizes": sizes})

    def set_hint(self, hint: str, value: int | str) -> None:
        """Sets a launch hint."""
        attr = IntegerAttr(value, i32) if isinstance(value, int) else StringAttr(value)
        self.properties[hint] = attr

    def verify_(self) -> None:
        types = [arg.type for arg in self.args]
        if list(self.function_type.inputs) != types or len(self.function_type.outputs):
            raise VerifyException("the type of a kernel must be that of its arguments")
        if len(self.arg_attrs) != len(types):
            raise VerifyException("a kernel needs attributes for each of its arguments")
        for attrs, type in zip(self.arg_attrs, types):
            name, axes = attrs.data.get(NAME), attrs.data.get(AXES)
            if not isinstance(name, StringAttr) or not is_name_array(axes):
                raise VerifyException(f"an argument of a kernel needs '{NAME}' and '{AXES}'")
            check_identifier(name.data)
            for axis in filter(None, names(axes)):
                check_identifier(axis)
            rank = type.get_num_dims() if isinstance(type, MemRefType) else 0
            if len(axes) != rank:
                raise VerifyException(
                    f"argument '{name.data}' has {rank} axes but {len(axes)} labels"
                )
            element = type.element_type if isinstance(type, MemRefType) else type
            if not is_element_type(element):
                raise VerifyException(f"argument '{name.data}' has elements of {element}")
        unknown = {*self.summed_names}.difference(self.argument_names)
        if unknown:
            raise VerifyException(f"'{min(unknown)}' is summed, and no argument of the kernel")
        unknown = {*self.described_names}.difference(self.argument_names)
        if unknown:
            raise VerifyException(f"'{min(unknown)}' is described, and no argument of the kernel")
        if len(set(names(self.labels))) != len(self.labels):
            raise VerifyException("the labels of a kernel must differ")
        if len(set(self.argument_names)) != len(types):
            raise VerifyException("the arguments of a kernel must have different names")
        warps = self.int_hint("num_warps")
        if warps is not None and (warps < 1 or warps & (warps - 1)):
            raise VerifyException("'num_warps' must be a power of two")
        stages = self.int_hint("num_stages")
        if stages is not None and stages < 1:
            raise VerifyException("'num_stages' must be positive")
        programs = self.int_hint("persistent")
        if programs is not None and programs < 1:
            raise VerifyException("'persistent' must be positive")
        if self.alternating is not None and programs is None:
            raise VerifyException("'alternating' is about a walk, and goes with 'persistent'")
        if self.precision is not None and self.precision.data not in self.PRECISIONS:
            raise VerifyException(f"'precision' must be one of {', '.join(self.PRECISIONS)}")
        for label, factor in self.unroll_jam.data.items() if self.unroll_jam else ():
            check_identifier(label)
            if not isinstance(factor, IntegerAttr) or factor.value.data < 2:
                raise VerifyException("the numbers of 'unroll_jam' must be two or more")
        numbers = self.specialization
        if self.warp_specialize is not None and (
            set(numbers) != {"consumers", "registers"} or min(numbers.values()) < 1
        ):
            raise VerifyException("'warp_specialize' has numbers of 'consumers' and 'registers'")
        sizes, labels = self.specialized_sizes, {label.data for label in self.labels}
        if any(label not in labels or size < 1 for label, size in sizes.items()):
            raise VerifyException("'warp_specialize' has 'sizes' of labels of the kernel")
        if self.math is not None and self.math.data not in self.ACCURACIES:
            raise VerifyException(f"'math' must be one of {', '.join(self.ACCURACIES)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return parse_function(parser, cls)

    def print(self, printer: Printer) -> None:
        print_function(printer, self, self.function_type, self.arg_attrs, self.body)


class GridKernelOp(KernelOp):
    """A kernel as what a program instance does, in a launch over the blocks of a grid.

    A launch has an instance for each block, or with `programs` so many on each multiprocessor
    (never more than blocks), which walk the blocks by `tile.program_id` and `tile.num_programs`.
    """

    grid_labels = prop_def(Identifiers)
    """The partitioned labels."""
    grid_blocks = prop_def(ArrayAttr[IntegerAttr])
    """The extent of a block along each."""
    programs = opt_prop_def(IntegerAttr)
    """The number of program instances on each multiprocessor, whatever the number of blocks."""
    least = opt_prop_def(DictionaryAttr)
    """Labels whose whole extent is padded to a least power of two, with that."""

    @property
    def grid(self) -> list[tuple[str, int]]:
        """The partitioned labels and the extents of their blocks."""
        return [(n.data, b.value.data) for n, b in zip(self.grid_labels, self.grid_blocks)]

    @property
    def least_extents(self) -> dict[str, int]:
        """The least extents that whole labels are padded to."""
        items = self.least.data.items() if self.least else ()
        return {n: v.value.data for n, v in items if isinstance(v, IntegerAttr)}

    def verify_(self) -> None:
        super().verify_()
        if len(self.grid_labels) != len(self.grid_blocks):
            raise VerifyException("the grid needs a block for each of its labels")
        if len({label.data for label in self.grid_labels}) != len(self.grid_labels):
            raise VerifyException("the labels of a grid must differ")
        if any(block.value.data < 1 for block in self.grid_blocks):
            raise VerifyException("the extent of a block must be positive")
        if self.programs is not None and self.programs.value.data < 1:
            raise VerifyException("'programs' must be positive")


def _string(attr: Attribute) -> str:
    assert isinstance(attr, StringAttr)
    return attr.data
