"""Faults that an engineer could make in the compiler: each a text and what replaces it.

The texts are as short as is clear, so that they outlive changes around them. A fault is one only
if some program or some use of the compiler shows it: a change that alters no result, no refusal
and no text of the compiler's is not to be listed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A seeded fault."""

    name: str
    file: str
    """Where it is, from the root of the repository."""
    old: str
    """A text that occurs there exactly once."""
    new: str
    """What takes its place."""
    summary: str
    """What is wrong then."""


_ALL = "dt_mlir/"
_FRONT = _ALL + "frontend/"
_TYPES = _ALL + "element_types.py"
_EMIT = _FRONT + "expressions.py"
_RAISE = _FRONT + "raising.py"
_TO_LOOP = _ALL + "passes/convert_dt_to_loop.py"
_TO_TILE = _ALL + "passes/convert_loop_to_tile.py"
_EXPAND = _ALL + "passes/expand_elementwise.py"
_PLACE = _ALL + "passes/tile_place_masks.py"
_ELIDE = _ALL + "passes/tile_elide_masks.py"
_MERGE = _ALL + "passes/tile_merge_axes.py"
_BOUNDS = _ALL + "analysis/bounds.py"
_FUSION = _ALL + "passes/schedule_fuse_at_nests.py"
_AXES = _ALL + "analysis/tile_axes.py"
_DOTS = _ALL + "analysis/dot_plans.py"
_GRID = _ALL + "passes/convert_loop_to_tile_grid.py"
_REDUCE = _ALL + "builders/reductions.py"
_SCALAR_EVAL = _ALL + "analysis/masked_values.py"
_TRITON = _ALL + "backend/triton/"
_KERNEL = _TRITON + "kernel.py"
_SCALARS = _TRITON + "scalars.py"
_COMBINE = _TRITON + "combine.py"
_SUPPORT = _TRITON + "support.py"
_WRAPPER = _TRITON + "wrapper.py"

FRONTEND = [
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
        "u8-widened-as-signed", _EMIT,
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
        "float-number-takes-int-type", _EMIT,
        "wins = is_float(own) and not is_float(type)", "wins = False",
        "a number with a fraction becomes an integer where it meets one",
    ),
    Fault(
        "truth-of-negative-floats", _EMIT,
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

LOOPS = [
    Fault(
        "label-sizes-not-united", _TO_LOOP,
        "self.same.union(known[axis], label)", "pass",
        "labels that index one axis need not have one size",
    ),
    Fault(
        "least-size-off-by-one", _TO_LOOP,
        "least[axis] = max(least[axis], expr.value + 1)",
        "least[axis] = max(least[axis], expr.value)",
        "reading by the number n asks for n elements only",
    ),
    Fault(
        "read-binds-outer-loop", _TO_LOOP,
        "indices.append(next(b.iv for b in reversed(chain) if b.label == label))",
        "indices.append(next(b.iv for b in chain if b.label == label))",
        "a label that is reduced inside its own loop means the outer one",
    ),
    Fault(
        "label-values-not-free", _TO_LOOP,
        "if isinstance(op, dt.ReadOp | dt.IndexOp):", "if isinstance(op, dt.ReadOp):",
        "a reduction over values of a label is hoisted out of that label's loop",
    ),
    Fault(
        "outer-labels-always-summed", _TO_LOOP,
        "kind = ReductionKind.ADD if kind is ReductionKind.DOT else kind",
        "kind = kind if kind in (ReductionKind.AND, ReductionKind.OR) else ReductionKind.ADD",
        "a maximum over several labels sums the maxima of the inner ones",
    ),
    Fault(
        "launches-reversed", _TO_LOOP,
        "for kernel in kernels:\n        launch", "for kernel in reversed(kernels):\n        launch",
        "consumers are launched before their producers",
    ),
    Fault(
        "outputs-reversed", _TO_LOOP,
        "for o in program.outputs]\n    block", "for o in reversed(program.outputs)]\n    block",
        "several results come back in reverse order",
    ),
    Fault(
        "argmin-of-nothing-allowed", _ALL + "dialects/elem.py",
        "            ReductionKind.ARGMIN,\n        )", "        )",
        "rargmin over no elements is not refused",
    ),
    Fault(
        "one-trip-in-a-block", _ALL + "dialects/loop/nests.py",
        "self.extent_size is not None and self.extent_size <= self.step_size",
        "self.extent_size is not None and self.step_size > 1",
        "only the first tile of a block is computed",
    ),
    Fault(
        "walk-factors-not-compared", _ALL + "dialects/loop/grid.py",
        " or len({w.factor for w in walks}) > 1", "",
        "the halves of a split may differ in their factor",
    ),
    Fault(
        "read-and-written-allowed", _ALL + "passes/verify_loop.py",
        "if writes and reads_of(argument):", "if False:",
        "a kernel may read what it writes",
    ),
    Fault(
        "tensorize-first-loop-only", _ALL + "passes/schedule_tensorize.py",
        "for op in loops:", "for op in loops[:1]:",
        "only one of several loops over a label is stepped",
    ),
    Fault(
        "fusion-in-text-order", _ALL + "passes/apply_schedule.py",
        "rank.get(directive.function, 0) if fusion else 0", "0",
        "fusions take effect in the order of the text, not consumers first",
    ),
    Fault(
        "bounds-of-one-reader", _BOUNDS,
        "ranges.pop() if len(ranges) == 1 else (None, None)",
        "sorted(ranges, key=lambda r: r[1] is None)[0]",
        "a producer covers what one of its readers needs, not what all do",
    ),
    Fault(
        "repeated-write-allowed", _BOUNDS,
        "if parent.iv not in indices and not _is_outer_of(parent.iv, indices):", "if False:",
        "an output may be written once for each turn of a loop",
    ),
    Fault(
        "every-block-writes-allowed", _BOUNDS,
        "if origin not in origins:", "if False:",
        "an output may be written by every block of a label",
    ),
    Fault(
        "fused-axes-swapped", _FUSION,
        "zip(own, binding)", "zip(own, reversed(binding))",
        "a fused function's labels are bound in reverse order",
    ),
    Fault(
        "labellings-share-a-buffer", _FUSION,
        "groups.setdefault(_binding(read, place), [])",
        "groups.setdefault(_binding(reads_of(argument)[0], place), [])",
        "a function that is read as g[x] and as g[y] is computed once",
    ),
    Fault(
        "fused-at-the-first-axis", _FUSION,
        "index = axes.get(label)", "index = next(iter(axes.values()), None)",
        "fusion always takes the consumer's outermost loop",
    ),
    Fault(
        "readers-elsewhere-forgotten", _FUSION,
        "if kernel not in (home, producer) and argument is not None and reads_of(argument):",
        "if False:",
        "a function is fused away though another kernel reads it",
    ),
    Fault(
        "fused-output-not-stored", _FUSION,
        "    if stays:\n        ours", "    if False:\n        ours",
        "a fused function that is an output too is not written",
    ),
    Fault(
        "buffers-split-by-products", _ALL + "passes/loop_split_products.py",
        "if not op.is_tile or _reads_buffer(op):", "if not op.is_tile:",
        "a product over a held buffer is stepped, which cannot be held then",
    ),
]

TILES = [
    Fault(
        "loop-end-not-clipped", _TO_TILE,
        'return scope.index.minimum(end, size, f"{op.label_name}_end")', "return end",
        "a loop over a block runs beyond the end of its label",
    ),
    Fault(
        "accumulator-forgotten", _TO_TILE,
        "total = inner.values.elementwise([acc, value], lambda b, v: combine(b, kind, v[0], v[1]))",
        "total = inner.values.elementwise([acc, value], lambda b, v: combine(b, kind, v[1], v[1]))",
        "a stepped reduction keeps its last step only",
    ),
    Fault(
        "accumulator-out-of-order", _TO_TILE,
        "if in_order:", "if in_order or acc is not None:",
        "a dot whose axes are in another order forgets its accumulator",
    ),
    Fault(
        "dot-operands-not-swapped", _TO_TILE,
        "left, right = (right, left) if plan.swapped else (left, right)", "pass",
        "the operands of a dot stay where its rows and columns are exchanged",
    ),
    Fault(
        "whole-depth-not-padded", _TO_TILE,
        "self.least[plan.depth.extent] = max(known, least_depth(bits))",
        "self.least[plan.depth.extent] = max(known, 1)",
        "a dot over a whole label may be shallower than Triton takes",
    ),
    Fault(
        "renamed-not-transposed", _TO_TILE,
        "return scope.values.transpose(renamed, [a for a in self.order if a in axes])",
        "return renamed",
        "a buffer that is read with its axes exchanged keeps their order",
    ),
    Fault(
        "accuracy-dropped", _TO_TILE,
        '"precision", "math", "dynamic"}', '"precision", "dynamic"}',
        "math(accurate) has no effect",
    ),
    Fault(
        "least-depth-of-bytes", _DOTS,
        "return 32 if bits <= 8 else 16", "return 16",
        "a dot of bytes may be shallower than Triton takes",
    ),
    Fault(
        "renaming-ignored-in-axes", _AXES,
        "found.add(renamed.get(op, op))", "found.add(op)",
        "what is read from a buffer has the axes of its producer",
    ),
    Fault(
        "diagonal-of-buffer-allowed", _AXES,
        "if len({theirs for _, theirs in pairs}) < len(pairs):", "if False:",
        "a held buffer may be read along a diagonal",
    ),
    Fault(
        "buffer-extents-not-compared", _AXES,
        "if _range(ours, axes) != _range(theirs, axes):", "if False:",
        "a held buffer may be read by a loop of another extent",
    ),
    Fault(
        "group-tail-taken-as-full", _GRID,
        "return index.minimum(index.sub(count, start), factor, "
        'f"{walk.label}_group_size")',
        "return factor",
        "the last group of a split counts as full",
    ),
    Fault(
        "groups-of-inner-half", _GRID,
        "return index.ceil_div(index.sub(count, inner), factor,",
        "return index.ceil_div(count, factor,",
        "with the inner half of a split first, all blocks have as many groups",
    ),
    Fault(
        "block-count-rounded-down", _GRID,
        "counts[label] = index.ceil_div(", "counts[label] = index.div(",
        "the last, partial block does not count in the walk",
    ),
    Fault(
        "sum-divides-like-its-left-side", _ALL + "analysis/divisibility.py",
        "return math.gcd(multiple_of(owner.lhs), multiple_of(owner.rhs))",
        "return multiple_of(owner.lhs)",
        "a sum of indices counts as a multiple of what divides its first operand",
    ),
    Fault(
        "identity-of-minimum", _REDUCE,
        "ReductionKind.MINIMUM: math.inf", "ReductionKind.MINIMUM: 0.0",
        "a float minimum starts from 0",
    ),
    Fault(
        "identity-of-integer-maximum", _REDUCE,
        "ReductionKind.MAXIMUM: least", "ReductionKind.MAXIMUM: 0",
        "an integer maximum starts from 0",
    ),
    Fault(
        "identity-of-integer-product", _REDUCE,
        "ReductionKind.MUL: 1,", "ReductionKind.MUL: 0,",
        "an integer product starts from 0",
    ),
    Fault(
        "identity-of-integer-argmax", _REDUCE,
        "ReductionKind.ARGMAX: least", "ReductionKind.ARGMAX: 0",
        "rargmax of integers starts from 0",
    ),
    Fault(
        "last-of-equals", _REDUCE,
        '"ogt" if largest else "olt"', '"oge" if largest else "ole"',
        "across steps rargmax gives the last of equal elements",
    ),
    Fault(
        "last-of-equal-integers", _REDUCE,
        '"sgt" if largest else "slt"', '"sge" if largest else "sle"',
        "across steps rargmax of integers gives the last of equal elements",
    ),
    Fault(
        "nan-loses-in-argmax", _REDUCE,
        "return builder.insert(arith.OrIOp(beyond, first_nan)).result", "return beyond",
        "across steps rargmax overlooks NaN",
    ),
    Fault(
        "division-by-zero-known", _SCALAR_EVAL,
        "if b == 0 or math.isnan(a)", "if b == 0:\n        return 0.0\n    if math.isnan(a)",
        "masked elements that are divided by count as 0",
    ),
    Fault(
        "merged-whatever-the-origin", _MERGE,
        "and _same_value(a.origin, b.origin)", "",
        "axes that start at different places become one",
    ),
    Fault(
        "merged-whatever-the-bound", _MERGE,
        "_same_value(a.bound, b.bound))", "True)",
        "axes that end at different places become one",
    ),
    Fault(
        "stores-lose-a-mask", _PLACE,
        "tile.StoreOp(op.value, op.base, op.indices, needed)",
        "tile.StoreOp(op.value, op.base, op.indices, needed[:1])",
        "a store along two axes is masked along the first only",
    ),
    Fault(
        "loads-lose-a-mask", _PLACE,
        "axes_of(op.result.type), needed, zero)", "axes_of(op.result.type), needed[-1:], zero)",
        "a load along two axes is masked along the last only",
    ),
    Fault(
        "masked-with-zero", _PLACE,
        "attr = identity(kind, element_of(value.type))", "attr = _zero(element_of(value.type))",
        "masked elements are 0 whatever the reduction",
    ),
    Fault(
        "pad-not-cut-off", _PLACE,
        "bound = end if bound is None else index.minimum(end, bound)",
        "bound = end if bound is None else bound",
        "a tile of no power of two runs into the next one",
    ),
    Fault(
        "divisor-whatever-the-origin", _PLACE,
        "divisor = extent if multiple_of(op.origin) % extent == 0 else None", "divisor = extent",
        "a mask vanishes though its tile does not start at a multiple of its extent",
    ),
    Fault(
        "right-operand-not-masked", _PLACE,
        "for operand in (0, 1):", "for operand in (0,):",
        "the right operand of a dot is not masked: 0 * inf",
    ),
    Fault(
        "unknown-taken-as-identity", _ELIDE,
        "return a is not None and (", "return a is None or (",
        "masked elements of unknown value count as the identity",
    ),
    Fault(
        "pad-chosen-twice", _ELIDE,
        "free = [load for load in loads if load not in decided]", "free = list(loads)",
        "what stands in for masked elements serves the last reduction, not each",
    ),
    Fault(
        "other-masks-count", _ELIDE,
        "if chosen is not None and chosen[0] is mask:", "if chosen is not None:",
        "a selection by another axis' mask counts as one by this",
    ),
    Fault(
        "unmasked-loads-padded", _ELIDE,
        "if mask not in owner.masks:\n                return None",
        "if not owner.masks:\n                return None",
        "a load counts as padded along axes that it is not masked along",
    ),
    Fault(
        "start-forgotten", _ALL + "passes/tile_hoist_reductions.py",
        "if not _is_identity(start, reduction):", "if False:",
        "what a loop starts from is lost where its reduction moves behind it",
    ),
    Fault(
        "wrong-operand-substituted", _ALL + "passes/tile_fuse_maps.py",
        "arg.replace_all_uses_with(element[value])",
        "arg.replace_all_uses_with(element[op.inputs[0]])",
        "in a fused map the first operand takes the place of the others",
    ),
    Fault(
        "truncated-not-floored", _EXPAND,
        "return e.call(arith.AndIOp, inexact, signs)", 'return e.compare(zero, zero, "ne")',
        "// and % of integers round towards zero",
    ),
    Fault(
        "odd-powers-unsigned", _EXPAND,
        "signed = e.select(odd, e.neg(value), value)", "signed = value",
        "an odd power of a negative number is positive",
    ),
    Fault(
        "clamp-other-way-round", _EXPAND,
        "return e.minimum(e.maximum(x, low), high)", "return e.maximum(e.minimum(x, high), low)",
        "clamp gives the lower bound where the bounds cross",
    ),
    Fault(
        "large-tiles-refused", _PLACE,
        "if count > TILE_LIMIT:", "if count >= TILE_LIMIT:",
        "a tile of exactly the most elements is refused",
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
        "masks-united", _KERNEL,
        'return code.total("&", masks)', 'return code.total("|", masks)',
        "an element is touched where any of its masks is true",
    ),
    Fault(
        "pad-not-printed", _KERNEL,
        'keywords = {"mask": mask, "other": literal(op.pad)}', 'keywords = {"mask": mask}',
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
        "order = [code.constant(before.index(name)) for name in after]",
        "order = [code.constant(after.index(name)) for name in before]",
        "a transpose of three axes is its inverse",
    ),
    Fault(
        "precision-ignored", _KERNEL,
        'chosen = "ieee" if precision is None else precision.data', 'chosen = "ieee"',
        "precision(tf32) has no effect",
    ),
    Fault(
        "program-id-narrow", _KERNEL,
        'wide = code.method(index, "to", code.name(self.signature.index))', "wide = index",
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

FAULTS: tuple[Fault, ...] = (*FRONTEND, *LOOPS, *TILES, *BACKEND)
