"""Verifies a module of any level, with errors at the operation that is malformed.

xDSL verifies each operation by itself. What it leaves out is checked here: that definitions
dominate their uses, that terminators end their blocks, and that comparisons have a predicate
and indices fit in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float80Type,
    Float128Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.dominance import DominanceInfo
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, MalformedError, Note
from dt_mlir.dialects.comparisons import PREDICATES
from dt_mlir.traversal import operations


@compiling()
def verify_module(module: ModuleOp, after: ModulePass | None = None) -> None:
    """Verifies a module.

    Args:
        module: the module.
        after: the pass that made it, for the message.

    Raises:
        CompileError: at the operation that is malformed.
    """
    notes = [] if after is None else [Note(f"the pass '{after.name}' made it")]
    try:
        module.verify()
    except VerifyException:
        culprit = _first_malformed(module, lambda op: op.verify(verify_nested_ops=False))
        if culprit is None:
            raise
        raise _malformed(*culprit, notes) from None
    except Exception as error:
        # A verifier has relied on the structure of other operations that is malformed itself.
        _Checker(notes).check(module)
        culprit = _first_malformed(module, _verify_structure)
        if culprit is None:
            if after is not None:
                error.add_note(f"in the verification of what the pass '{after.name}' made")
            raise
        raise _malformed(*culprit, notes) from None
    _Checker(notes).check(module)


def _first_malformed(
    module: ModuleOp, verify: Callable[[Operation], None]
) -> tuple[Operation, str] | None:
    for op in operations(module):
        try:
            verify(op)
        except VerifyException as error:
            inner = error.op if isinstance(error, MalformedError) else op
            return inner, _sentence(error)
        except Exception:
            # Its verifier relies on what another operation's will name.
            continue
    return None


def _sentence(error: VerifyException) -> str:
    """Returns the message of xDSL's verifier or of ours, in one line."""
    head, *rest = filter(None, map(str.strip, str(error).splitlines()))
    if head.startswith("Operation using value defined out of its IsolatedFromAbove parent"):
        return "its operand is defined outside the region around it, which takes all as arguments"
    # xDSL gives the reason on the lines below.
    return " ".join([head, *rest[:1]]) if head.endswith(":") else head


def _verify_structure(op: Operation) -> None:
    """Verifies the numbers and types of what an operation is declared to have."""
    if isinstance(op, IRDLOperation):
        op.get_irdl_definition().verify(op)


def _malformed(
    op: Operation, message: str, notes: list[Note], hint: str | None = None
) -> CompileError:
    return CompileError(f"'{op.name}' is malformed: {message}", op, hint, notes)


class _Checker:
    """Checks what xDSL leaves out, above all that definitions dominate their uses.

    Where control flow is structured (a region has one block), a value is visible behind its
    definition in the same block and in the regions there; this takes one walk.
    """

    def __init__(self, notes: list[Note]) -> None:
        self.notes = notes
        self.visible: set[SSAValue] = set()

    def check(self, module: ModuleOp) -> None:
        self._region(module.body)

    def _region(self, region: Region) -> None:
        if len(region.blocks) > 1:
            self._blocks(region)
            return
        for block in region.blocks:
            self._block(block)

    def _block(self, block: Block) -> None:
        defined: list[SSAValue] = list(block.args)
        self.visible.update(defined)
        for op in block.ops:
            for operand in op.operands:
                if operand not in self.visible:
                    raise self._error(op)
            self._check_predicate(op)
            if isinstance(op, arith.ConstantOp):
                self._check_constant(op)
            if op.regions:
                self._regions(op)
            if op.next_op is not None and op.has_trait(IsTerminator):
                raise _malformed(op, "a terminator stands last in its block", self.notes)
            if op.results:
                defined += op.results
                self.visible.update(op.results)
        self.visible.difference_update(defined)

    def _regions(self, op: Operation) -> None:
        if not op.has_trait(IsolatedFromAbove):
            for region in op.regions:
                self._region(region)
            return
        outer, self.visible = self.visible, set()
        for region in op.regions:
            self._region(region)
        self.visible = outer

    def _blocks(self, region: Region) -> None:
        """Checks a region of several blocks: the values of dominating blocks are visible too."""
        dominance = DominanceInfo(region)
        for block in region.blocks:
            above = [b for b in region.blocks if dominance.strictly_dominates(b, block)]
            known = [v for b in above for v in (*b.args, *(r for op in b.ops for r in op.results))]
            self.visible.update(known)
            self._block(block)
            self.visible.difference_update(known)

    def _check_predicate(self, op: Operation) -> None:
        # xDSL takes any number for a predicate.
        known = PREDICATES.get(op.name)
        predicate = op.properties.get("predicate") if known is not None else None
        if isinstance(predicate, IntegerAttr) and not 0 <= predicate.value.data < len(known or ()):
            raise _malformed(op, f"{predicate.value.data} is not a predicate", self.notes)

    def _check_constant(self, op: arith.ConstantOp) -> None:
        value = op.value
        if isinstance(value, FloatAttr) and isinstance(value.type, Float80Type | Float128Type):
            raise _malformed(op, f"xDSL cannot print numbers of {value.type}", self.notes)
        if isinstance(value, IntegerAttr) and not -(2**63) <= value.value.data < 2**63:
            raise _malformed(op, f"{value.value.data} does not fit in 64 bits", self.notes)

    def _error(self, op: Operation) -> CompileError:
        return _malformed(
            op, "the definition of an operand does not dominate this use", self.notes,
            "define it in front of the use, in the same block or in one around",
        )  # fmt: skip
