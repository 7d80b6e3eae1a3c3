"""A running value that is repaired wrongly is named by `--verify-semantics`."""

from collections.abc import Callable

import pytest
from corpus import programs
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.dialects import loop
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import run_pipeline
from dt_mlir.traversal import operations_of
from dt_mlir.verification.semantics import Recorder, SemanticsError, verify_semantics

PROGRAMS = programs()
Fault = Callable[[loop.RunningOp], None]


def _repairs(module: ModuleOp, law: str) -> list[loop.RunningOp]:
    found = operations_of(module, loop.RunningOp)
    return [op for op in found if op.law is not None and op.law.data == law]


def _yield(op: loop.RunningOp, value: SSAValue) -> None:
    assert op.repair is not None
    last = op.repair.block.last_op
    assert last is not None
    last.operands = [value]


def _not_at_all(op: loop.RunningOp) -> None:
    """The value of the steps before stays."""
    _yield(op, op.earlier)


def _with_the_other_sign(op: loop.RunningOp) -> None:
    """The quotient is that of the old factor and the new one."""
    for inner in operations_of(op, arith.SubfOp):
        inner.operands = [inner.rhs, inner.lhs]


def _twice(op: loop.RunningOp) -> None:
    """The quotient is multiplied with twice."""
    product = op.repaired.owner
    assert isinstance(product, arith.MulfOp)
    again = arith.MulfOp(product.result, product.rhs)
    Rewriter.insert_op(again, InsertPoint.after(product))
    _yield(op, again.result)


def _without_the_exponential(op: loop.RunningOp) -> None:
    """The quotient is a difference."""
    for inner in operations_of(op, math.ExpOp):
        inner.result.replace_all_uses_with(inner.operand)


def _to_the_neutral_element(op: loop.RunningOp) -> None:
    """The value of the steps before is forgotten."""
    assert op.repair is not None
    difference = arith.SubfOp(op.earlier, op.earlier)
    Rewriter.insert_op(difference, InsertPoint.at_start(op.repair.block))
    _yield(op, difference.result)


CASES: dict[str, tuple[str, str, Fault]] = {
    "attention not repaired": ("online/attention", "scale", _not_at_all),
    "attention with the other sign": ("online/attention", "scale", _with_the_other_sign),
    "a total rescaled twice": ("online/softmax", "scale", _twice),
    "attention that forgets": ("online/attention", "scale", _to_the_neutral_element),
    "a difference for a quotient": ("online/softmax", "scale", _without_the_exponential),
    "a causal one not repaired": ("online/attention_causal", "scale", _not_at_all),
    "a variance not moved": ("online/variance", "polynomial", _not_at_all),
    "a variance moved back": ("online/variance", "polynomial", _with_the_other_sign),
    "a norm not moved": ("online/layer_norm_with_a_product", "polynomial", _not_at_all),
    "a covariance not moved": ("online/covariance", "polynomial", _not_at_all),
    "an entropy not moved": ("online/entropy", "scaled_polynomial", _not_at_all),
    "an entropy scaled back": ("online/entropy", "scaled_polynomial", _with_the_other_sign),
    "an entropy scaled twice": ("online/entropy", "scaled_polynomial", _twice),
    "maxima that are kept": ("online/number_of_maxima", "dominated", _not_at_all),
    "a second one that is kept": ("online/second_largest", "dominated", _not_at_all),
}


@pytest.mark.parametrize("name", list(CASES))
def test_wrong_repair_is_named(name: str) -> None:
    program, law, fault = CASES[name]

    class WrongRepairPass(ModulePass):
        """Repairs running values wrongly."""

        name = "loop-repair-wrongly"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            repairs = _repairs(op, law)
            assert repairs
            for running in repairs:
                fault(running)

    module, _ = compile_text(PROGRAMS[program], program)
    run_pipeline(module, ["convert-dt-to-loop"])
    recorder = Recorder(module)
    run_pipeline(module, ["apply-schedule"])
    WrongRepairPass().apply(Context(), module)
    recorder.after(WrongRepairPass(), module)
    with pytest.raises(SemanticsError, match="'loop-repair-wrongly' changes what is computed"):
        verify_semantics(recorder.stages)
