"""Faults in the passes that make and change the `tile` level; see `faults.py`."""

from __future__ import annotations

from fault import Fault

_ALL = "dt_mlir/"
_PRODUCTS = _ALL + "passes/convert_loop_to_tile_products.py"
_DOMAIN = _ALL + "passes/convert_loop_to_tile_domain.py"
_TO_TILE = _ALL + "passes/convert_loop_to_tile.py"
_EXPAND = _ALL + "passes/expand_elementwise_functions.py"
_PLACE = _ALL + "passes/tile_place_masks.py"
_FILLS = _ALL + "passes/tile_elide_masks_fills.py"
_MASKED = _ALL + "analysis/masked_values.py"
_MERGE = _ALL + "passes/tile_merge_axes.py"
_AXES = _ALL + "analysis/tile_axes.py"
_GRID = _ALL + "passes/convert_loop_to_tile_grid.py"
_COALESCE = _ALL + "passes/tile_coalesce_loops.py"
_SCALAR_EVAL = _ALL + "analysis/known_numbers.py"
_CSE = _ALL + "passes/tile_cse.py"
_DEAD = "dt_mlir/builders/dead_code.py"
_EQUAL = _ALL + "analysis/equal_operations.py"
_FILL = _ALL + "passes/tile_fill_padding.py"
_HOIST = _ALL + "passes/tile_hoist_reductions.py"
_TRANSPOSES = _ALL + "passes/tile_propagate_transposes.py"
_SHARE = _ALL + "passes/tile_share_loads.py"
_UNROLL = _ALL + "passes/tile_unroll_jam.py"
_COPIES = _ALL + "passes/tile_unroll_jam_copies.py"
_SUMS = _ALL + "analysis/index_sums.py"
_HOIST_INDICES = _ALL + "passes/tile_hoist_indices.py"
_MOVING = _ALL + "analysis/moving_addresses.py"
_PREFIXES = _ALL + "passes/convert_loop_to_tile_prefixes.py"
_CONVERT = _ALL + "passes/tile_convert_terms.py"
_COMBINE = _ALL + "passes/tile_combine_exponents.py"
_SIZE_BOUNDS = _ALL + "analysis/size_bounds.py"
_KNOWN = _ALL + "backend/triton/known_conditions.py"
_KERNEL = _ALL + "backend/triton/kernel.py"
_WRAPPER = _ALL + "backend/triton/wrapper.py"
_SCALES = _ALL + "passes/tile_move_scales.py"
_ONLINE = _ALL + "passes/convert_loop_to_tile_online.py"

TILES = [
    Fault(
        "sum-that-is-not-cleared", _WRAPPER, "            self._clear(tensor)\n", "            pass\n",
        "memory to which parts are added begins at 0 in each call",
    ),
    Fault(
        "parts-that-overwrite-each-other", _KERNEL, "if self._is_summed(op.base):", "if False:",
        "parts of a sum are added to memory",
    ),
    Fault(
        "descending-from-the-label's-end", _PREFIXES,
        "first = body.index.add(start, first, hint)", "pass",
        "a chunk that is walked from its end on begins at its own origin",
    ),
    Fault(
        "floats-that-are-not-exact", _CONVERT, "_EXACT = 2**24", "_EXACT = 2**26",
        "beyond 2^24 an index is not a float, and its difference with another is rounded twice",
    ),
    Fault(
        "slope-without-its-scale", _COMBINE, "builder, v[1], factor) if v[1:] else factor",
        "builder, v[1], factor) if not v else factor",
        "scores are multiplied by their scale",
    ),
    Fault(
        "largest-score-of-another-product", _COMBINE,
        "and not products.isdisjoint(_sources(op.value))", "",
        "an exponent is combined if the largest score is one of the same product",
    ),
    Fault(
        "scores-that-are-not-moderate", _COMBINE,
        "return builder.insert(elem.ModerationOp(v[0])).result",
        "return builder.insert(arith.ConstantOp(number.__class__(1.0, f32))).result",
        "of scores beyond 2^25 exponents have no digit of ones left",
    ),
    Fault(
        "weights-that-are-not-rounded", _COMBINE, "return bool(products) and all(products)",
        "return True", "exponents lose digits where no product rounds the weights",
    ),
    Fault(
        "bound-of-a-multiple", _SIZE_BOUNDS,
        "SizeBound(self.labels, self.factor * abs(factor), self.offset * abs(factor))",
        "SizeBound(self.labels, self.factor, self.offset * abs(factor))",
        "a multiple of an index is exact for smaller sizes",
    ),
    Fault(
        "sign-of-a-converted-term", _CONVERT,
        "cls = arith.AddiOp if factor > 0 else arith.SubiOp", "cls = arith.AddiOp",
        "a term with a negative factor is subtracted",
    ),
    Fault(
        "tile-taken-for-a-constant", _KNOWN,
        "chooses = isinstance(op, arith.SelectOp) and use.index == 0", "chooses = True",
        "a condition that meets tiles is a tile of Triton's, and no constant",
    ),
    Fault(
        "factors-beyond-the-end", _PLACE,
        "_mask_operand(masks, op, 1, op.axis.data, ReductionKind.MUL)",
        "_mask_operand(masks, op, 1, op.axis.data, ReductionKind.ADD)",
        "what is carried of a tile that ends early is 0",
    ),
    Fault(
        "first-tile-multiplied", _PREFIXES,
        "is_first = body.builder.insert(arith.CmpiOp(trip, trips[0], \"eq\")).result",
        "is_first = body.builder.insert(arith.CmpiOp(trip, trips[0], \"slt\")).result",
        "0 times what the first tile's factors overflow to is no 0",
    ),
    Fault(
        "pairs-in-the-other-order", _ALL + "backend/triton/combine.py",
        "return a * c, b * c + d", "return a * c, d * a + b",
        "a recurrence is scanned from the other end",
    ),
    Fault(
        "negative-scale-moved", _SCALES,
        "and is_moderate(attr.value.data)", "and is_moderate(abs(attr.value.data))",
        "a negative number is taken out of a maximum",
    ),
    Fault(
        "scale-forgotten-behind", _SCALES,
        "op.result.replace_all_uses_with(_product(op, new.result, after))",
        "op.result.replace_all_uses_with(new.result)",
        "a maximum lacks the scale of its elements",
    ),
    Fault(
        "scale-moved-past-zeros", _SCALES,
        "or other.value != neutral:", "or False:",
        "a scale is taken out of a choice with a number that is not an infinity",
    ),
    Fault(
        "factors-in-the-other-order", _KERNEL,
        "self._assign(op.before, code.conditional(moves, one, scalar), \"before\")",
        "self._assign(op.before, code.conditional(moves, scalar, one), \"before\")",
        "a scale counts twice",
    ),
    Fault(
        "edge-of-elements-unmasked", _ONLINE,
        "if not inner.is_dot or nests.products.is_by_dots(inner, self._axes(inner))", "if True",
        "a product by elements has no choice of its own where a factor is 0",
    ),
    Fault(
        "number-added-in-the-loop-too", _HOIST_INDICES,
        "Sum(((fixed, 1), *split.moving.terms), 0)",
        "Sum(((fixed, 1), *split.moving.terms), split.fixed.number)",
        "the number of an index is added before the loop and in it",
    ),
    Fault(
        "moved-by-one-trip", _MOVING,
        "(moving if is_computed_in(begin, loop) else fixed).append(Part(begin, factor))",
        "(moving if is_computed_in(begin, loop) else fixed).append(Part(begin, 1))",
        "an address moves by the step of a range that its index takes a multiple of",
    ),
    Fault(
        "copies-one-after-the-other", _COPIES,
        "op.stride * self.jam.factors[group],", "op.stride,",
        "the parts of a tile overlap",
    ),
    Fault(
        "shared-load-of-the-last-part", _COPIES,
        "tuple(map(min, first, place))", "tuple(map(max, first, place))",
        "a load that several parts share is masked by the last of them",
    ),
    Fault(
        "parts-beyond-the-end", _COPIES,
        "self._mask(new, place, self.ranges)", "self._mask(new, self.copies[0], self.ranges)",
        "parts of a tile are stored beyond the end of their label",
    ),
    Fault(
        "parts-of-the-first-trip", _UNROLL,
        "IntegerAttr(trip, IndexType())", "IntegerAttr(trips[0], IndexType())",
        "a loop that is written out repeats its first trip",
    ),
    Fault(
        "sums-of-other-numbers", _SUMS,
        "return Sum(tuple(terms), a.number + b.number * factor)",
        "return Sum(tuple(terms), a.number + b.number)",
        "a number that is subtracted from an index is added",
    ),
    Fault(
        "parts-reduced-beyond-the-end", _COPIES,
        "part = values.elementwise([mask, part], chosen, op.location)", "part = part",
        "a reduction along a label that is taken apart combines what is beyond its end",
    ),
    Fault(
        "sums-start-with-the-first", _COPIES,
        "started = [self._value(inits[arg], place) for arg, place in carried]",
        "started = [self._value(inits[arg], self.copies[0]) for arg, place in carried]",
        "a loop carries the first part for each of the parts",
    ),
    Fault(
        "shared-loads-out-of-order", _SHARE,
        "tile.TransposeOp(first.result, axes_of(op.result.type))",
        "tile.TransposeOp(first.result, axes_of(first.result.type))",
        "a load with its axes in another order is taken as it is",
    ),
    Fault(
        "shared-loads-of-other-indices", _SHARE,
        "tuple(op.operands),", "op.base,",
        "loads of one tensor at other indices are taken as one",
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
        "edge-tiles-taken-as-whole", _DOMAIN,
        "Part(high, end, upper)", "Part(high, end, [])",
        "the last tiles of a product over a domain have no mask",
    ),
    Fault(
        "whole-tiles-start-early", _DOMAIN,
        "moved(distance, index.ceil_div)", "moved(distance, index.div)",
        "a tile at the first edge of a domain is taken as whole",
    ),
    Fault(
        "second-edge-starts-late", _PRODUCTS,
        "inner.index.sub(trip, first)", "trip",
        "the tiles at the second edge of a domain are counted from those at the first",
    ),
    Fault(
        "second-edge-left-out", _PRODUCTS,
        "trips = (zero, index.add(first, second), 1)", "trips = (zero, first, 1)",
        "a product over a domain leaves the tiles at its last edge out",
    ),
    Fault(
        "strict-bound-not-strict", _DOMAIN,
        'return (left, right), "sgt" if strictly else "sge"', 'return (left, right), "sge"',
        "a condition that excludes equality includes it where it masks",
    ),
    Fault(
        "box-masked-along-one-side", _PLACE,
        "sides = [other for other in self.walked[name] if other.op is walked.op]",
        "sides = [walked]",
        "a product over boxes multiplies points beyond the end of all sides but the first",
    ),
    Fault(
        "sides-start-at-another-s", _TO_TILE,
        "starts = [self.starts[side] for side in sides]", "starts = [start for _ in sides]",
        "the sides of a box start where that of the innermost loop does",
    ),
    Fault(
        "not-finite-factors-of-a-step", _PRODUCTS,
        "arith.SelectOp(bad, stop, start)", "arith.SelectOp(bad, start, start)",
        "in a running product a factor that is not finite reaches sums that exclude it",
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
        '"warp_specialize", "math"}', '"warp_specialize"}',
        "math(accurate) has no effect",
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
        "walk-turns-by-one-round", _ALL + "passes/tile_walk_blocks.py",
        "tile.AlternateOp(number, blocks, programs)",
        "tile.AlternateOp(number, programs, programs)",
        "alternating rounds turn around as if there were one round, a short last one too",
    ),
    Fault(
        "block-count-rounded-down", _GRID,
        "counts[label] = index.ceil_div(", "counts[label] = index.div(",
        "the last, partial block does not count in the walk",
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
        "divisor = span if span and multiple_of(walked.origin) % span == 0 else None", "divisor = span",
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
        "large-tiles-refused", _ALL + "analysis/tile_sizes.py",
        "if count > TILE_LIMIT:", "if count >= TILE_LIMIT:",
        "a tile of exactly the most elements is refused",
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
        "self.enter(op, result.body.block.args[0], inner)",
        "self.enter(op, inner.index.add(inner.block.args[0], inner.index.constant(len(carried))), inner)",
        "each tile of a stepped reduction starts one element late",
    ),
    Fault(
        "block-tail-to-the-label-end", _TO_TILE,
        "fills = extent is None or (step > 0 and extent % step == 0)", "fills = True",
        "the last tile of a block that its tiles do not fill runs into the next block",
    ),
    Fault(
        "bytes-widened-unsigned", _ALL + "builders/reductions.py",
        "arith.ExtSIOp(value, type)",
        "arith.ExtUIOp(value, type)",
        "a product of i8 that no dot carries out loses their signs",
    ),
    Fault(
        "first-groups-not-longer", _GRID,
        "large = index.mul(index.add(full, index.constant(1)), unit)",
        "large = index.mul(full, unit)",
        "with the inner half of a split first, the last partial group is left out",
    ),
    Fault(
        "maps-equal-whatever-the-body", _CSE,
        "if first is op or not op.regions:", "if True:",
        "maps of the same tiles are merged whatever they compute",
    ),
    Fault(
        "operands-merged-as-a-set", _EQUAL,
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
        "dead-by-the-first-result", _DEAD, "is_trivially_dead(op)",
        "op.results and not op.results[0].uses "
        "and __import__('xdsl.traits', fromlist=['_']).is_side_effect_free(op)",
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
        "divisor = span if span and multiple_of(walked.origin) % span == 0 else None",
        "divisor = max(1, span // 2) if span and multiple_of(walked.origin) % span == 0 else None",
        "a mask vanishes where half a tile divides the size",
    ),
    Fault(
        "argmin-masked-as-argmax", _PLACE,
        "case tile.ScanOp() | tile.ArgReduceOp():\n"
        "                _mask_operand(masks, op, 0, op.axis.data, op.kind.data)",
        "case tile.ScanOp() | tile.ArgReduceOp():\n"
        "                _mask_operand(masks, op, 0, op.axis.data, ReductionKind.ARGMAX)",
        "rargmin finds the masked elements, which are minus infinity",
    ),
    Fault(
        "fixed-sizes-without-padding", _PLACE,
        "not pads and _within(walked, extent)", "_within(walked, extent)",
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
    Fault(
        "part-without-its-tail", _ALL + "passes/convert_loop_to_tile.py",
        "share = index.ceil_div(steps, index.constant(op.parts)",
        "share = index.div(steps, index.constant(op.parts)",
        "parts have too few steps where their number does not divide those of the label",
    ),
    Fault(
        "stored-in-each-trip", _ALL + "passes/convert_loop_to_tile.py",
        "            if constant_index(start) == 0:\n                continue\n",
        "            if True:\n                continue\n",
        "a value that a loop does not concern is stored in each of its trips",
    ),
    Fault(
        "scan-without-a-carry", _ALL + "passes/convert_loop_to_tile_prefixes.py",
        "[before, total], lambda b, v: combine(b, kind, v[0], v[1])",
        "[before, total], lambda b, v: v[1]",
        "a tile is added to the one before it alone",
    ),
    Fault(
        "last-for-first", _ALL + "passes/convert_loop_to_tile_prefixes.py",
        "if op.descending is None:\n            place", "if False:\n            place",
        "what is carried behind a tile is its first element",
    ),
    Fault(
        "no-hints", _ALL + "backend/triton/alignment.py",
        "< 2 or not self._is_uneven(parts):", "< 99:",
        "rows are taken for aligned that are not",
    ),
    Fault(
        "sides-are-whole", _ALL + "backend/triton/alignment.py",
        "is_cut=side > 0)", "is_cut=False)",
        "a side of tiles of two labels is taken for contiguous",
    ),
    Fault(
        "few-rows-wait-for-nothing", _ALL + "backend/triton/product_waits.py",
        "return len(products) > 1", "return False",
        "a factor is overwritten that a product of many rows and one of few share",
    ),
]
