"""`dt-set-types`: declares element types anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.frontend.raising import raise_module


@dataclass(frozen=True)
class DtSetTypesPass(ModulePass):
    """Declares the element types of inputs and functions anew, and infers all types from that.

    ```
    dt-set-types{types="A:f16","mm:f16"}
    ```
    """

    name = "dt-set-types"
    changes_meaning: ClassVar[bool] = True

    types: tuple[str, ...]
    """Names of inputs and functions with a type each: `"A:f16"`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pairs: list[tuple[str, str]] = []
        for item in self.types:
            name, colon, type = item.partition(":")
            if not colon:
                raise CompileError(f"'{item}' gives no type", op, "write 'name:type'")
            pairs.append((name, type))
        new = emit_program(set_types(raise_module(op), pairs))
        region = new.detach_region(new.body)
        op.body.detach_block(op.body.block).erase(safe_erase=False)
        region.move_blocks(op.body)
