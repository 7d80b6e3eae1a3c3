"""Faults in the passes of the pipeline, and in what they share; see `faults.py`."""

from __future__ import annotations

from fault import Fault

_ALL = "dt_mlir/"
_TO_LOOP = _ALL + "passes/convert_dt_to_loop.py"
_LOOP_PROGRAM = _ALL + "passes/convert_dt_to_loop_program.py"
_PRODUCTS = _ALL + "passes/convert_loop_to_tile_products.py"
_DOMAIN = _ALL + "passes/convert_loop_to_tile_domain.py"
_TO_TILE = _ALL + "passes/convert_loop_to_tile.py"
_EXPAND = _ALL + "passes/expand_elementwise_functions.py"
_PLACE = _ALL + "passes/tile_place_masks.py"
_FILLS = _ALL + "passes/tile_elide_masks_fills.py"
_MASKED = _ALL + "analysis/masked_values.py"
_MERGE = _ALL + "passes/tile_merge_axes.py"
_BOUNDS = _ALL + "analysis/bounds.py"
_FUSION = _ALL + "passes/schedule_fuse_at_nests.py"
_AXES = _ALL + "analysis/tile_axes.py"
_DOTS = _ALL + "analysis/dot_plans.py"
_GRID = _ALL + "passes/convert_loop_to_tile_grid.py"
_INDICES = _ALL + "builders/indices.py"
_COALESCE = _ALL + "passes/tile_coalesce_loops.py"
_JOIN = _ALL + "builders/loops.py"
_FUSE = _ALL + "passes/schedule_fuse.py"
_LABELS = _ALL + "scheduling/labels.py"
_REDUCE = _ALL + "builders/reductions.py"
_ELEM = _ALL + "dialects/elem.py"
_SCALAR_EVAL = _ALL + "analysis/known_numbers.py"
_ALIGN = _ALL + "passes/schedule_align_storage.py"
_SPLIT = _ALL + "passes/loop_split_products.py"
_CSE = _ALL + "passes/tile_cse.py"
_FILL = _ALL + "passes/tile_fill_padding.py"
_HOIST = _ALL + "passes/tile_hoist_reductions.py"
_TRANSPOSES = _ALL + "passes/tile_propagate_transposes.py"

LOOPS = [
    Fault(
        "first-label-fastest", _INDICES,
        "for size in sizes[:0:-1]:", "for size in sizes[1:]:",
        "the index of a joined loop is taken apart by the sizes in reverse",
    ),
    Fault(
        "domain-joined", _LABELS,
        "if isinstance(op, loop.ReduceOp) and op.domain is not None:", "if False:",
        "loops are joined of which one bounds another",
    ),
    Fault(
        "joined-loops-keep-their-order", _FUSE,
        "[*wanted, *rest]", "[*nest]",
        "the loops that a joined one walks are not those that its labels name",
    ),
    Fault(
        "interchange-forgets-uses", _JOIN,
        "user.operands[index] = op.iv", "pass",
        "loops change places and their indices do not",
    ),
    Fault(
        "coalesced-trips-rounded-down", _COALESCE,
        "before.ceil_div(", "before.div(",
        "a loop that becomes part of another one leaves its last trip out",
    ),
    Fault(
        "coalesced-step-forgotten", _COALESCE,
        "index.mul(trip, step)", "trip",
        "the tiles of a loop that becomes part of another one overlap",
    ),
    Fault(
        "label-sizes-not-united", _LOOP_PROGRAM,
        "self.same.union(known[axis], label)", "pass",
        "labels that index one axis need not have one size",
    ),
    Fault(
        "least-size-off-by-one", _LOOP_PROGRAM,
        "least[axis] = max(least[axis], expr.value + 1)",
        "least[axis] = max(least[axis], expr.value)",
        "reading by the number n asks for n elements only",
    ),
    Fault(
        "read-binds-outer-loop", _TO_LOOP,
        "next(b.iv for b in reversed(chain) if b.label == label)\n                for label in op.used_labels",
        "next(b.iv for b in chain if b.label == label)\n                for label in op.used_labels",
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
        "launches-reversed", _LOOP_PROGRAM,
        "for kernel in kernels:\n        launch", "for kernel in reversed(kernels):\n        launch",
        "consumers are launched before their producers",
    ),
    Fault(
        "outputs-reversed", _LOOP_PROGRAM,
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
        "if parent not in loops and not _is_outer_of(parent.iv, indices):", "if False:",
        "an output may be written once for each turn of a loop",
    ),
    Fault(
        "every-block-writes-allowed", _BOUNDS,
        "if origin not in origins:", "if False:",
        "an output may be written by every block of a label",
    ),
    Fault(
        "fused-axes-swapped", _FUSION,
        "zip(write.simple_indices(), binding)", "zip(write.simple_indices(), reversed(binding))",
        "a fused function's labels are bound in reverse order",
    ),
    Fault(
        "labellings-share-a-buffer", _FUSION,
        "binding = _binding(read, place)",
        "binding = _binding(reads_of(argument)[0], place)",
        "a function that is read as g[x] and as g[y] is computed once",
    ),
    Fault(
        "fused-at-the-first-axis", _FUSION,
        "found.append(own[label])", "found.append(next(iter(own.values())))",
        "fusion always takes the consumer's outermost loop",
    ),
    Fault(
        "readers-elsewhere-forgotten", _FUSION,
        "if kernel not in (home, producer) and order[0] > order[1]:",
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
        "stored-producer-dropped", _FUSION,
        "any(k is not home for k in readers_of(site, name))", "False",
        "a fused function that a later kernel reads is not stored",
    ),
    Fault(
        "edge-tiles-taken-as-whole", _DOMAIN,
        "Part(high, end, False)", "Part(high, end, True)",
        "the last tiles of a product over a domain have no mask",
    ),
    Fault(
        "whole-tiles-start-early", _DOMAIN,
        "moved(distance, index.ceil_div)", "moved(distance, index.div)",
        "a tile at the first edge of a domain is taken as whole",
    ),
    Fault(
        "not-finite-factors-multiplied", _PRODUCTS,
        "arith.SelectOp(bad, end, start)", "arith.SelectOp(bad, start, start)",
        "a factor that is not finite reaches sums that exclude it",
    ),
    Fault(
        "accumulator-out-of-order", _PRODUCTS,
        "return value if in_order or acc is None else", "return value if True else",
        "a dot whose axes are in another order forgets its accumulator",
    ),
    Fault(
        "dot-operands-not-swapped", _PRODUCTS,
        "operands[::-1] if plan.swapped else operands", "operands",
        "the operands of a dot stay where its rows and columns are exchanged",
    ),
    Fault(
        "whole-depth-not-padded", _PRODUCTS,
        "nests.least[plan.depth.extent] = max(known, least)",
        "nests.least[plan.depth.extent] = max(known, 1)",
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
        "identity-of-minimum", _ELEM,
        "ReductionKind.MINIMUM: math.inf", "ReductionKind.MINIMUM: 0.0",
        "a float minimum starts from 0",
    ),
    Fault(
        "identity-of-integer-maximum", _ELEM,
        "ReductionKind.MAXIMUM: least", "ReductionKind.MAXIMUM: 0",
        "an integer maximum starts from 0",
    ),
    Fault(
        "identity-of-integer-product", _ELEM,
        "ReductionKind.MUL: 1,", "ReductionKind.MUL: 0,",
        "an integer product starts from 0",
    ),
    Fault(
        "identity-of-integer-argmax", _ELEM,
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
        "tile.StoreOp(op.value, op.base, op.indices, all_masks)",
        "tile.StoreOp(op.value, op.base, op.indices, all_masks[:1])",
        "a store along two axes is masked along the first only",
    ),
    Fault(
        "loads-lose-a-mask", _PLACE,
        "axes_of(op.result.type), [*op.masks, *needed]",
        "axes_of(op.result.type), [*op.masks, *needed[-1:]]",
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
        "unknown-taken-as-identity", _SCALAR_EVAL,
        "return true if true == false else None", "return true",
        "a choice by an unknown condition counts as its first value",
    ),
    Fault(
        "pad-chosen-twice", _FILLS,
        "self.mask in owner.masks and owner not in self.decided", "self.mask in owner.masks",
        "what stands in for masked elements serves the last reduction, not each",
    ),
    Fault(
        "unmasked-loads-padded", _MASKED,
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

MORE = [
    Fault(
        "place-by-the-first-label", _TO_LOOP,
        "size = add(arith.IndexCastOp(add(loop.SizeOp(label)), i64))",
        "size = add(arith.IndexCastOp(add(loop.SizeOp(op.label_names[0])), i64))",
        "an argument over several labels counts rows of the first label's size",
    ),
    Fault(
        "buffer-before-its-last-read", _FUSION,
        "first: Operation = reads[0]", "first: Operation = reads[-1]",
        "a fused function is computed before its last use, not before its first",
    ),
    Fault(
        "first-axis-aligned", _ALIGN,
        "alloc.operands[axis] = padded.result", "alloc.operands[0] = padded.result",
        "whatever label is aligned, the first axis of the storage changes its extent",
    ),
    Fault(
        "split-product-not-tiled", _SPLIT,
        "op.tile = op.tile if step > 1 else None", "op.tile = None",
        "a product that is stepped takes one element of each step only",
    ),
    Fault(
        "loads-cached-without-numbers", _TO_TILE,
        "place = (op.base, op.map, op.sizes, op.boundary, op.exterior, *values)",
        "place = (op.base, op.sizes, op.boundary, op.exterior, *values)",
        "A[x, 0] and A[1, x] count as one load",
    ),
    Fault(
        "index-of-nothing-better", _TO_TILE,
        "scope.values.fill(IntegerAttr(0, i64), axes)",
        "scope.values.fill(IntegerAttr(-1, i64), axes)",
        "rargmax of nothing but minus infinities is -1",
    ),
    Fault(
        "reductions-start-late", _TO_TILE,
        "self._enter(op, result.body.block.args[0], inner)",
        "self._enter(op, inner.index.add(inner.block.args[0], inner.index.constant(len(carried))), inner)",
        "each tile of a stepped reduction starts one element late",
    ),
    Fault(
        "block-tail-to-the-label-end", _TO_TILE,
        "fills = extent is None or (step > 0 and extent % step == 0)", "fills = True",
        "the last tile of a block that its tiles do not fill runs into the next block",
    ),
    Fault(
        "bytes-widened-unsigned", _PRODUCTS,
        "cls = arith.ExtFOp if is_float(value.type) else arith.ExtSIOp",
        "cls = arith.ExtFOp if is_float(value.type) else arith.ExtUIOp",
        "a product of i8 that no dot carries out loses their signs",
    ),
    Fault(
        "first-groups-not-longer", _GRID,
        "large = index.mul(index.add(full, index.constant(1)), unit)",
        "large = index.mul(full, unit)",
        "with the inner half of a split first, the last partial group is left out",
    ),
    Fault(
        "identity-of-maximum", _ELEM,
        "ReductionKind.MAXIMUM: -math.inf", "ReductionKind.MAXIMUM: 0.0",
        "a float maximum starts from 0",
    ),
    Fault(
        "steps-of-common-multiples", _ALL + "analysis/divisibility.py",
        "return math.gcd(multiple_of(loop.lb), multiple_of(loop.step))",
        "return math.lcm(multiple_of(loop.lb), multiple_of(loop.step))",
        "the index of a loop counts as a multiple of what its start and its step divide",
    ),
    Fault(
        "maps-equal-whatever-the-body", _CSE,
        "if first is op or not op.regions:", "if True:",
        "maps of the same tiles are merged whatever they compute",
    ),
    Fault(
        "operands-merged-as-a-set", _CSE,
        "        operands,\n        frozenset(op.properties.items()),",
        "        frozenset(operands),\n        frozenset(op.properties.items()),",
        "a - b is merged with b - a, and A[x, y] with A[y, x]",
    ),
    Fault(
        "known-beyond-its-block", _CSE,
        "for op in reversed(added):\n        known.forget(op)",
        "for op in ():\n        known.forget(op)",
        "an operation is merged with one in a loop before it, which does not dominate it",
    ),
    Fault(
        "dead-by-the-first-result", _CSE,
        "not any(result.uses for result in op.results)", "not op.results[0].uses",
        "a loop goes whose first result nothing uses, though its second is used",
    ),
    Fault(
        "unknown-origins-equal", _MERGE,
        "a is b or (known is not None and known == constant_index(b))",
        "a is b or known == constant_index(b)",
        "axes whose origins are not known count as starting at one place",
    ),
    Fault(
        "transposed-for-all-users", _TRANSPOSES,
        "if isinstance(owner, Block) or len(list(value.uses)) != 1:",
        "if isinstance(owner, Block):",
        "a tile is loaded in another order though others use it in its own",
    ),
    Fault(
        "divisor-halved", _PLACE,
        "divisor = extent if multiple_of(op.origin) % extent == 0 else None",
        "divisor = max(1, extent // 2) if multiple_of(op.origin) % extent == 0 else None",
        "a mask vanishes where half a tile divides the size",
    ),
    Fault(
        "argmin-masked-as-argmax", _PLACE,
        "case tile.ArgReduceOp():\n"
        "                _mask_operand(masks, op, 0, op.axis.data, op.kind.data)",
        "case tile.ArgReduceOp():\n"
        "                _mask_operand(masks, op, 0, op.axis.data, ReductionKind.ARGMAX)",
        "rargmin finds the masked elements, which are minus infinity",
    ),
    Fault(
        "fixed-sizes-without-padding", _PLACE,
        "_within(op.origin, padded(extent), bound)", "_within(op.origin, extent, bound)",
        "at fixed sizes a tile of no power of two is not masked",
    ),
    Fault(
        "known-integers-never-wrap", _SCALAR_EVAL,
        "return _wrapped(int(value), type)", "return int(value)",
        "masked integers that wrap count as what they would be without",
    ),
    Fault(
        "padding-filled-by-smaller-tiles", _FILL,
        "if multiple == 1 or extent is None or extent % multiple:",
        "if multiple == 1 or extent is None or multiple % extent:",
        "tiles that divide the alignment count as reaching the end of the padding",
    ),
    Fault(
        "padding-not-cleared", _FILL,
        "clear = [mask for mask in masks if not _is_zero(beyond(value, mask, {}))]",
        "clear = []",
        "the padding holds what is computed of masked elements",
    ),
    Fault(
        "stored-beyond-the-padding", _FILL,
        "if extent > multiple:", "if False:",
        "a tile that is larger than the alignment is stored beyond the end of the storage",
    ),
    Fault(
        "padding-for-any-identity", _FILL,
        "load.inside or not _is_zero(load.pad.value.data):", "load.inside:",
        "a maximum or a product sees the zeros of the padding",
    ),
    Fault(
        "any-combination-hoisted", _HOIST,
        "return isinstance(op, combination(kind, element_of(reduction.result.type)))",
        "return True",
        "a maximum of sums becomes a sum",
    ),
    Fault(
        "negated-exponents", _EXPAND,
        "x, known = owner.operand, -1.0", "x, known = owner.operand, 1.0",
        "exp(-x) is exp(x)",
    ),
    Fault(
        "divided-by-minus-one", _EXPAND,
        "if divisor is b:", "if True:",
        "x // -1 is x where the divisor is not known",
    ),
    Fault(
        "rounded-to-halves", _EXPAND,
        "magic = e.constant(1.5 * 2.0**digits)", "magic = e.constant(2.0**digits)",
        "round gives halves for negative numbers",
    ),
]
