"""Scalar operations as Python expressions of Triton's language."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from ctypes import c_float

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.analysis.magnitudes import magnitude_of
from dt_mlir.backend.triton import code
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import elem
from dt_mlir.dialects.comparisons import predicate_of
from dt_mlir.dialects.kernel import GridKernelOp

INDEX = "INDEX"
"""The parameter of kernels that says the type of indices."""
_TYPES: dict[Attribute, str] = {
    Float64Type(): "tl.float64",
    Float32Type(): "tl.float32",
    Float16Type(): "tl.float16",
    BFloat16Type(): "tl.bfloat16",
    Float8E4M3FNType(): "tl.float8e4nv",
    Float8E5M2Type(): "tl.float8e5",
    IntegerType(64): "tl.int64",
    IntegerType(32): "tl.int32",
    IntegerType(16): "tl.int16",
    IntegerType(8): "tl.int8",
    IntegerType(8, Signedness.UNSIGNED): "tl.uint8",
    IntegerType(1): "tl.int1",
    IndexType(): INDEX,
}

_INFIX = {
    "arith.addf": "+", "arith.addi": "+", "arith.subf": "-", "arith.subi": "-",
    "arith.mulf": "*", "arith.muli": "*", "arith.divf": "/", "arith.divsi": "//",
    "arith.remsi": "%", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^",
    "arith.shli": "<<", "arith.shrsi": ">>",
}  # fmt: skip
_CALLS = {
    "math.exp": "tl.exp", "math.exp2": "tl.exp2", "math.log": "tl.log", "math.log2": "tl.log2",
    "math.sqrt": "tl.sqrt", "math.rsqrt": "tl.rsqrt", "math.sin": "tl.sin", "math.cos": "tl.cos",
    "math.erf": "tl.erf", "math.floor": "tl.floor", "math.ceil": "tl.ceil",
    "math.absf": "tl.abs", "math.absi": "tl.abs", "math.fma": "tl.fma",
    "arith.maxsi": "tl.maximum", "arith.minsi": "tl.minimum", "arith.ceildivsi": "tl.cdiv",
}  # fmt: skip
_NAN = {"arith.maximumf": "tl.maximum", "arith.minimumf": "tl.minimum"}
_CASTS = frozenset(
    f"arith.{name}" for name in "extf truncf extsi extui trunci sitofp fptosi index_cast".split()
)
_COMPARISONS = {
    "oeq": "==", "une": "!=", "olt": "<", "ole": "<=", "ogt": ">", "oge": ">=",
    "eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=",
    "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=",
}  # fmt: skip


_LIBRARY = {
    f"math.{name}": f"libdevice.{name}"
    for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh",
        "rsqrt",
    )
} | {"math.powf": "libdevice.pow"}  # fmt: skip
"""The device library's functions, for accurate kernels."""


def triton_type(type: Attribute) -> ast.expr:
    """Triton's name of a scalar type."""
    return code.path(_TYPES[type])


def literal(attr: Attribute) -> ast.expr:
    """A constant as a Python literal."""
    if isinstance(attr, FloatAttr):
        value = attr.value.data
        if value == 0 and math.copysign(1, value) < 0:
            # Triton makes a zero without a sign of it; this its folding makes right.
            zero = code.call("tl.full", code.tuple_of([]), code.constant(0.0), triton_type(f32))
            return ast.BinOp(zero, ast.Mult(), code.constant(-1.0))
        if attr.type == f32 and 0 < abs(value) < 2.0**-126:
            # Triton takes a number that is below the normal ones for one of f64.
            return code.call(
                "tl.full", code.tuple_of([]), code.constant(value), triton_type(f32)
            )
        return code.constant(value)
    assert isinstance(attr, IntegerAttr)
    value = attr.value.data
    if isinstance(attr.type, IndexType) and not -(2**31) <= value < 2**31:
        # Beside a size, Triton takes a number for one of 32 bits.
        return code.call("tl.full", code.tuple_of([]), code.constant(value), triton_type(i64))
    return code.constant(bool(value)) if attr.type == i1 else code.constant(value)


def typed_literal(attr: FloatAttr | IntegerAttr) -> ast.expr:
    """A constant as a value of its type."""
    return filled(code.tuple_of([]), literal(attr), attr.type)


def memory_literal(attr: FloatAttr | IntegerAttr) -> ast.expr:
    """A constant as it is stored, or loaded in place of an element."""
    # Operations on memory take a number for one of f32, whatever the pointer is to.
    value = attr.value.data
    rounded = attr.type == f64 and value == value and c_float(value).value != value
    return typed_literal(attr) if rounded else literal(attr)


def filled(shape: ast.expr, value: ast.expr, type: Attribute) -> ast.expr:
    """A tile of a shape whose elements are all one value of a type."""
    if isinstance(type, AnyFloat) and type.bitwidth == 8:
        # Triton makes no constants of 8 bits.
        wide = code.call("tl.full", shape, value, triton_type(f32))
        return code.method(wide, "to", triton_type(type))
    return code.call("tl.full", shape, value, triton_type(type))


def constant_of(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """The constant that a value is; None if it is none."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr):
        return owner.value
    return None


def scalar_expression(
    op: Operation,
    operand: Callable[[SSAValue], ast.expr],
    is_tile: Callable[[SSAValue], bool],
    accurate: bool = False,
) -> ast.expr:
    """A scalar operation as an expression.

    Args:
        op: an operation of `arith` or `math`, on scalars or for each element of tiles.
        operand: the expression of an operand.
        is_tile: whether an operand's expression is surely a tile of Triton's, and no number.
        accurate: whether to take the device library's functions.

    Raises:
        CompileError: if Triton has no such operation.
    """
    values = list(op.operands)
    constants = [constant_of(value) for value in values]
    folded = bool(values) and all(attr is not None for attr in constants)

    def shown(index: int, in_call: bool = False) -> ast.expr:
        attr = constants[index]
        if attr is None:
            return operand(values[index])
        # In a call Triton gives a number a type of its own: f32 or i32.
        untyped = attr.type in (f32, i32, i1) or isinstance(attr.type, IndexType)
        if (folded and index == 0) or (in_call and not untyped):
            return literal(attr) if isinstance(attr.type, IndexType) else typed_literal(attr)
        return literal(attr)

    if accurate and op.name in _LIBRARY:
        return code.call(_LIBRARY[op.name], *(shown(i, True) for i in range(len(values))))
    # What is made of sizes is computed once, and many elements may be multiplied by it.
    if values and values[0].type == f32 and (accurate or magnitude_of(op.results[0]) is not None):
        if op.name == "arith.divf":
            return code.call("tl.div_rn", shown(0, True), shown(1, True))
        if op.name == "math.sqrt":
            return code.call("tl.sqrt_rn", shown(0, True))
    if op.name in _INFIX:
        if op.name == "arith.xori" and _is_all_ones(constants[1]):
            return code.inverted(shown(0))
        return code.binary(_INFIX[op.name], shown(0), shown(1))
    if op.name in _CALLS:
        args = [shown(i, in_call=True) for i in range(len(values))]
        return code.call(_CALLS[op.name], *args)
    if op.name in _NAN:
        nan = code.path("tl.PropagateNan.ALL")
        return code.call(_NAN[op.name], shown(0, True), shown(1, True), propagate_nan=nan)
    if op.name in _CASTS:
        return _cast(op, operand, is_tile)
    match op:
        case arith.NegfOp():
            # Triton's minus sign subtracts from 0, which loses the sign of a zero.
            return code.binary("*", shown(0), code.constant(-1.0))
        case arith.CmpfOp() | arith.CmpiOp():
            return _comparison(op, [shown(0), shown(1)])
        case elem.ModerationOp():
            # The bits of an exponent are added to and subtracted from those of 1.
            bits = code.method(shown(0), "to", triton_type(i32), bitcast=code.constant(True))
            exponent = code.binary("&", bits, code.constant(255 << 23))
            least = code.constant(127 + elem.MODERATE << 23)
            beyond = code.binary("-", code.call("tl.maximum", exponent, least), least)
            factor = code.binary("-", code.constant(127 << 23), beyond)
            return code.method(factor, "to", triton_type(f32), bitcast=code.constant(True))
        case arith.SelectOp():
            return code.call("tl.where", shown(0), shown(1, True), shown(2, True))
        case _:
            may_expand = op.name.split(".")[0] in ("elem", "math", "arith")
            hint = "run expand-elementwise first" if may_expand else None
            raise CompileError(f"the Triton backend has no '{op.name}'", op, hint)


def _is_all_ones(attr: Attribute | None) -> bool:
    if not isinstance(attr, IntegerAttr):
        return False
    return attr.value.data == -1 or (attr.type == i1 and attr.value.data == 1)


def _comparison(op: arith.CmpfOp | arith.CmpiOp, operands: Sequence[ast.expr]) -> ast.expr:
    predicate = predicate_of(op)
    operator = _COMPARISONS.get(predicate)
    if operator is None or (predicate.startswith("u") and operator != "!=" and _wide(op)):
        raise CompileError(f"the Triton backend has no comparison '{predicate}'", op)
    left, right = operands
    if not _wide(op) and operator not in ("==", "!="):
        left, right = (
            code.call("tl.cast", value, code.path("tl.int32")) for value in operands
        )
    return code.compare(operator, left, right)


def _wide(op: Operation) -> bool:
    return op.operands[0].type != i1


def _cast(
    op: Operation, operand: Callable[[SSAValue], ast.expr], is_tile: Callable[[SSAValue], bool]
) -> ast.expr:
    value = op.operands[0]
    source, target = value.type, op.results[0].type
    inner = value.owner
    if op.name == "arith.sitofp" and isinstance(inner, arith.IndexCastOp):
        # An index becomes a float at once.
        value, source = inner.input, inner.input.type
    attr = constant_of(value)
    if attr is not None:
        return typed_literal(_converted(op, attr))
    expression = operand(value)
    if op.name == "arith.extui" and source == IntegerType(8):
        expression = _convert(expression, code.path("tl.uint8"), is_tile(value))
        return code.method(expression, "to", triton_type(target))
    if op.name == "arith.extsi" and source == IntegerType(8) and _has_unsigned_bytes(op):
        # Triton loads bytes without a sign as such, and they are widened as such.
        expression = _convert(expression, code.path("tl.int8"), is_tile(value))
        return code.method(expression, "to", triton_type(target))
    if isinstance(source, AnyFloat) and source.bitwidth == 8 and isinstance(target, BFloat16Type):
        # Triton's own conversion takes what is infinite or not a number for large numbers; f16
        # has all values of both types.
        expression = _convert(expression, code.path("tl.float16"), is_tile(value))
        return code.method(expression, "to", triton_type(target))
    return _convert(expression, triton_type(target), is_tile(value))


def _has_unsigned_bytes(op: Operation) -> bool:
    """Returns whether the kernel of an operation has a tensor or a scalar of u8."""
    kernel = op.parent_op()
    while kernel is not None and not isinstance(kernel, GridKernelOp):
        kernel = kernel.parent_op()
    assert kernel is not None
    return any("ui8" in str(argument.type) for argument in kernel.args)


def _converted(op: Operation, attr: FloatAttr | IntegerAttr) -> FloatAttr | IntegerAttr:
    """The constant that a cast makes of a constant."""
    number, target = attr.value.data, op.results[0].type
    if op.name == "arith.extui" and isinstance(attr.type, IntegerType):
        number = int(number) % 2**attr.type.width.data
    if isinstance(target, AnyFloat):
        try:
            return FloatAttr(float(number), target)
        except OverflowError:
            # Beyond its largest number a type has infinities.
            return FloatAttr(math.copysign(math.inf, number), target)
    assert isinstance(target, IntegerType | IndexType)
    if not math.isfinite(number):
        raise CompileError(
            f"{number} is not in the range of {target}", op,
            "keep it a float, or choose a number in its place",
        )
    return IntegerAttr(int(number), target, truncate_bits=True)


def _convert(expression: ast.expr, type: ast.expr, tile: bool) -> ast.expr:
    """A conversion; what may be a plain number (a size, a loop's index) has no methods."""
    if tile:
        return code.method(expression, "to", type)
    return code.call("tl.cast", expression, type)
