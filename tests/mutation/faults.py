"""Faults that an engineer could make in the compiler: each a text and what replaces it.

The texts are as short as is clear, so that they outlive changes around them. A fault is one only
if some program or some use of the compiler shows it: a change that alters no result, no refusal
and no text of the compiler's is not to be listed.
"""

from __future__ import annotations

from fault import Fault
from faults_in_loops import LOOPS
from faults_in_tiles import TILES
from faults_in_warps import WARPS

_ALL = "dt_mlir/"
_FRONT = _ALL + "frontend/"
_TYPES = _ALL + "element_types.py"
_EMIT = _FRONT + "expressions.py"
_VALUES = _FRONT + "values.py"
_RAISE = _FRONT + "raising.py"
_TRITON = _ALL + "backend/triton/"
_KERNEL = _TRITON + "kernel.py"
_PRINTED_VALUES = _TRITON + "values.py"
_SCALARS = _TRITON + "scalars.py"
_COMBINE = _TRITON + "combine.py"
_SUPPORT = _TRITON + "support.py"
_WRAPPER = _TRITON + "wrapper.py"

FRONTEND = [
    Fault(
        "halo-not-read", _FRONT + "own_labels.py",
        "replace(expr, name=new) if isinstance", "expr if isinstance",
        "an output that is read beyond its sizes is read without its halo",
    ),
    Fault(
        "promote-i64-over-f32", _TYPES,
        "order = (i1, i32, i64, f32, f64)", "order = (i1, i32, f32, i64, f64)",
        "an i64 and an f32 meet in i64",
    ),
    Fault(
        "compute-i64-in-i32", _TYPES,
        "return i64 if type.width.data == 64 else i32", "return i32",
        "i64 is computed in i32",
    ),
    Fault(
        "u8-widened-as-signed", _VALUES,
        'signed = not is_bool(source) and source != ELEMENT_TYPES["u8"]',
        "signed = not is_bool(source)",
        "u8 is widened with its sign",
    ),
    Fault(
        "dot-of-u8-signed", _EMIT,
        'elements.isdisjoint({i1, ELEMENT_TYPES["u8"]})', "elements.isdisjoint({i1})",
        "a product of u8 multiplies them as i8",
    ),
    Fault(
        "f64-divided-in-f32", _EMIT,
        "type = promote(self._common(left, right), f32)", "type = f32",
        "f64 is divided in f32",
    ),
    Fault(
        "float-number-takes-int-type", _VALUES,
        "wins = is_float(own) and not is_float(type)", "wins = False",
        "a number with a fraction becomes an integer where it meets one",
    ),
    Fault(
        "truth-of-negative-floats", _VALUES,
        'arith.CmpfOp(wide, zero, "une")', 'arith.CmpfOp(wide, zero, "ogt")',
        "a negative float counts as false",
    ),
    Fault(
        "rmean-divides-by-one-label", _EMIT,
        "count = factor if count is None else", "count = factor if True else",
        "the mean over several labels is divided by the size of the last only",
    ),
    Fault(
        "rall-becomes-rany", _EMIT,
        '"rall": ReductionKind.AND', '"rall": ReductionKind.OR',
        "rall is a disjunction",
    ),
    Fault(
        "power-binds-left", _FRONT + "grammar.lark",
        "?power: atom (POWER factor)?", "?power: atom (POWER atom)*",
        "** is left-associative",
    ),
    Fault(
        "printed-without-parentheses", _FRONT + "printer.py",
        "print_expression(left, left_least), print_expression(right, level + 1)",
        "print_expression(left, left_least), print_expression(right, level)",
        "a - (b - c) is printed without parentheses",
    ),
    Fault(
        "ranks-not-compared", _FRONT + "analysis.py",
        "elif self.symbols.ranks.setdefault(expr.name, rank) != rank:",
        "elif self.symbols.ranks.setdefault(expr.name, rank) < 0:",
        "an input may be read with different numbers of indices",
    ),
    Fault(
        "raising-drops-declaration", _RAISE,
        "_computed(natural, expr) != op.element", "False",
        "a raised function loses a type that its expression does not have",
    ),
    Fault(
        "raising-swaps-rall-rany", _RAISE,
        'ReductionKind.AND: "rall", ReductionKind.OR: "rany"',
        'ReductionKind.AND: "rany", ReductionKind.OR: "rall"',
        "setting types makes rany of rall",
    ),
]

BACKEND = [
    Fault(
        "u8-read-as-signed", _SCALARS,
        'if op.name == "arith.extui" and source == IntegerType(8):', "if False:",
        "u8 is widened with its sign in the kernel",
    ),
    Fault(
        "rounding-dropped", _SCALARS,
        "    expression = operand(value)\n",
        '    expression = operand(value)\n    if op.name == "arith.truncf":\n'
        "        return expression\n",
        "a fused function is not rounded to its type",
    ),
    Fault(
        "f64-constants-as-f32", _SCALARS,
        "untyped = attr.type in (f32, i32, i1)", "untyped = isinstance(attr.type, AnyFloat) or attr.type in (i32, i1)",
        "f64 constants in calls have the precision of f32",
    ),
    Fault(
        "maximum-drops-nan", _SCALARS,
        'nan = code.path("tl.PropagateNan.ALL")', 'nan = code.path("tl.PropagateNan.NONE")',
        "maximum and minimum drop NaN",
    ),
    Fault(
        "rmax-drops-nan", _COMBINE,
        "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)",
        "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.NONE)",
        "rmax drops NaN",
    ),
    Fault(
        "rargmin-last-of-equals", _COMBINE,
        "left = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))",
        "left = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i > j))",
        "in a tile rargmin gives the last of equal elements",
    ),
    Fault(
        "argmax-overlooks-nan", _COMBINE,
        "left = (a > b) | ((a != a) & (b == b)) |", "left = (a > b) |",
        "in a tile rargmax overlooks NaN",
    ),
    Fault(
        "points-of-a-box-repeated", _PRINTED_VALUES,
        "math.prod(op.extents[number + 1 :])", "op.extents[0]",
        "the indices of a box's sides repeat at the wrong places",
    ),
    Fault(
        "masks-united", _KERNEL,
        'return code.total("&", masks)', 'return code.total("|", masks)',
        "an element is touched where any of its masks is true",
    ),
    Fault(
        "pad-not-printed", _KERNEL,
        ', "other": memory_literal(other)}', "}",
        "nothing is said of what stands in for masked elements",
    ),
    Fault(
        "whole-mask-never", _KERNEL,
        'needed = code.compare("!=", self._extent(axis), bound)',
        'needed = code.compare("<", self._extent(axis), bound)',
        "a tile of a whole label is never masked",
    ),
    Fault(
        "permutation-inverted", _KERNEL,
        "[before.index(name) for name in after]",
        "[after.index(name) for name in before]",
        "a transpose of three axes is its inverse",
    ),
    Fault(
        "precision-ignored", _KERNEL,
        'chosen = "ieee" if named == "narrow" else named', 'chosen = "ieee"',
        "precision(tf32) has no effect",
    ),
    Fault(
        "program-id-narrow", _KERNEL,
        'code.call(function, code.constant(0)), "to", code.name(self.signature.index)',
        'code.call(function, code.constant(0)), "to", code.path("tl.int32")',
        "offsets of blocks are computed in 32 bits",
    ),
    Fault(
        "num-warps-dropped", _WRAPPER,
        'for hint in ("num_warps", "num_stages"):', 'for hint in ("num_stages",):',
        "num_warps has no effect",
    ),
    Fault(
        "strides-reversed", _WRAPPER,
        "for axis in range(len(signature.strides.get(arg, []))):",
        "for axis in reversed(range(len(signature.strides.get(arg, [])))):",
        "strides are passed in reverse order",
    ),
    Fault(
        "one-empty-result-empties-all", _WRAPPER,
        "code.disjunction(counts)", "ast.BoolOp(ast.And(), counts)",
        "a kernel with one empty result is not launched for the other",
    ),
    Fault(
        "width-by-first-tensor", _WRAPPER,
        '*(code.name(t) for t in tensors))', '*(code.name(t) for t in tensors[:1]))',
        "the width of offsets is chosen by the first tensor alone",
    ),
    Fault(
        "device-of-second-input-only", _WRAPPER,
        "for t in inputs[1:]:", "for t in inputs[1:2]:",
        "the third input may be on another device",
    ),
    Fault(
        "sizes-compared-by-label", _WRAPPER,
        "first = self._label(label)\n", "first = label\n",
        "two labels of one size are not compared",
    ),
    Fault(
        "larger-sizes-allowed", _SUPPORT,
        "if size != known:", "if size < known:",
        "an axis may be longer than its label",
    ),
    Fault(
        "element-type-of-out", _SUPPORT,
        "if out.dtype != dtype:", "if out.element_size() != dtype.itemsize:",
        "out may have another element type of the same width",
    ),
    Fault(
        "touching-tensors-overlap", _SUPPORT,
        "start - b.element_size() + 1,", "start - b.element_size(),",
        "tensors that lie side by side count as overlapping",
    ),
    Fault(
        "expanded-axes-narrow", _SUPPORT,
        "sum(max(stride, 1) * (size - 1)", "sum(stride * (size - 1)",
        "indices along a long expanded axis are computed in 32 bits",
    ),
    Fault(
        "stride-0-in-out", _SUPPORT,
        "if stride <= reach:", "if 0 < stride <= reach:",
        "out may be an expanded tensor",
    ),
]

FAULTS: tuple[Fault, ...] = (*FRONTEND, *LOOPS, *TILES, *WARPS, *BACKEND)
