"""An insertion point with the builders of indices and tiles at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects.tile.types import Axis


@dataclass
class Scope:
    """An insertion point, and the builder at it."""

    block: Block
    order: list[Axis]
    builder: Builder = field(init=False)
    values: ValueBuilder = field(init=False)
    index: IndexBuilder = field(init=False)
    loads: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Loaded tiles by tensor and indices; a kernel does not store to a tensor that it loads."""

    def __post_init__(self) -> None:
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.values = ValueBuilder(self.builder, self.order)
        self.index = IndexBuilder(self.builder)
