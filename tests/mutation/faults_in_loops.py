"""Faults in schedules and in the passes of the `loop` level; see `faults.py`."""

from __future__ import annotations

from fault import Fault

_ALL = "dt_mlir/"
_TO_LOOP = _ALL + "passes/convert_dt_to_loop.py"
_LOOP_PROGRAM = _ALL + "passes/convert_dt_to_loop_program.py"
_BOUNDS = _ALL + "analysis/bounds.py"
_FUSION = _ALL + "passes/schedule_fuse_at_nests.py"
_COPIES = _ALL + "passes/schedule_fuse_at_copies.py"
_WINDOWS = _ALL + "passes/schedule_fuse_at_windows.py"
_DOTS = _ALL + "analysis/dot_plans.py"
_INDICES = _ALL + "builders/indices.py"
_JOIN = _ALL + "builders/loops.py"
_FUSE = _ALL + "passes/schedule_fuse.py"
_LABELS = _ALL + "scheduling/labels.py"
_REDUCE = _ALL + "builders/reductions.py"
_ELEM = _ALL + "dialects/elem.py"
_ALIGN = _ALL + "passes/schedule_align_storage.py"
_SPLIT = _ALL + "passes/loop_split_products.py"
_LAWS = _ALL + "laws/reductions.py"
_TERMS = _ALL + "laws/terms.py"
_DOMINANCE = _ALL + "laws/dominance.py"
_MERGED = _ALL + "passes/schedule_online_merge.py"
_GATHERED = _ALL + "passes/schedule_online_nest.py"
_NESTED = _ALL + "laws/nested.py"
_DOMAINS = _ALL + "laws/domains.py"
_FACTORS = _ALL + "passes/schedule_scan_factors.py"
_PARTS = _ALL + "passes/schedule_rfactor_parts.py"
_CHUNKS = _ALL + "passes/schedule_rfactor_chunks.py"
_COMBINED = _ALL + "passes/schedule_rfactor_combine.py"
_SCAN = _ALL + "passes/schedule_scan.py"
_RENAME = _ALL + "passes/schedule_rename.py"

LOOPS = [
    Fault(
        "label-of-another-size", _RENAME,
        "size.get(name, name) != size.get(label, label)", "name == label",
        "a label gets the name of one that has another size",
    ),
    Fault(
        "chunk-counted-twice", _CHUNKS, "[add(distance, number(-step))]", "[distance]",
        "a chunk begins with the sum of those before, its own left out",
    ),
    Fault(
        "chunks-of-other-steps", _ALL + "passes/schedule_tensorize.py",
        "            other.set_step(part.step_size)\n", "            pass\n",
        "a scan in a number of chunks begins elsewhere than what reduces them",
    ),
    Fault(
        "chunks-behind-taken-for-those-before", _CHUNKS,
        "distance = multiply(distance, number(-1))", "pass",
        "a scan from the end on begins with the chunks behind",
    ),
    Fault(
        "part-of-what-an-element-reduces", _PARTS,
        "            # What each of its elements reduces over the label is not split.\n            break\n",
        "",
        "a reduction of its own in each element walks the whole label",
    ),
    Fault(
        "element-out-of-range-with-a-factor", _SCAN,
        "inside = [place] if prefix.shift < 0 else []", "inside = []",
        "0 times an infinite factor is what an index out of range adds",
    ),
    Fault(
        "rows-by-another-label", _ALL + "analysis/row_dependence.py",
        "elif walked_label(index) != row:", "elif walked_label(index) not in rows:",
        "rows may read others by a label of as many indices",
    ),
    Fault(
        "rows-that-meet", _ALL + "analysis/row_dependence.py",
        "case loop.ReductionLoop() if op.label_name in rows:",
        "case loop.ReductionLoop() if op.label_name in ():",
        "a promise that rows do not meet is made of a mean over all rows",
    ),
    Fault(
        "promise-of-one-kernel", _ALL + "analysis/row_dependence.py",
        "            if item not in found:\n", "            if False:\n",
        "a promise is checked of the last kernel alone",
    ),
    Fault(
        "newest-element-without-its-factor", _SCAN,
        "if factor.includes_own:", "if False:",
        "a recurrence leaves out the factor of each newest element",
    ),
    Fault(
        "last-factor-multiplies", _SCAN,
        "earlier.append(add(left, number(-1)))", "earlier.append(left)",
        "a recurrence from the end multiplies nothing by an infinite factor",
    ),
    Fault(
        "factor-of-any-distance", _FACTORS,
        "if own not in (0, 1):", "if False:",
        "products that end before the newest element are factors of all",
    ),
    Fault(
        "product-that-depends-on-its-element", _FACTORS,
        "for index in (walked, op.iv)):", "for index in (walked,)):",
        "the factor of one element multiplies all",
    ),
    Fault(
        "point-behind-the-last", _DOMAINS,
        "[subtract(size, number(1))]", "[size]",
        "an empty label has a point",
    ),
    Fault(
        "lower-bound-rounded-down", _DOMAINS,
        "multiply(quotient(rest, number(factor)), number(-1))",
        "quotient(multiply(rest, number(-1)), number(factor))",
        "a domain between two multiples has a point",
    ),
    Fault(
        "parts-not-repaired", _COMBINED,
        "element = inside.get(op.repaired, op.repaired)", "element = read[op.result]",
        "the sums of parts are added as they were for the parts' own maxima",
    ),
    Fault(
        "extreme-for-index", _COMBINED,
        "        if kind.is_arg:\n            values.reverse()\n", "",
        "the places of extremes are taken for the extremes",
    ),
    Fault(
        "scanned-without-a-tail", _SCAN,
        "if prefix.descending and not self._same_size(site, op.label_name):", "if False:",
        "a reduction from each index on lacks what lies behind the function's label",
    ),
    Fault(
        "scanned-with-itself", _SCAN,
        "return _Prefix(op, first, descending, rest, factor)",
        "return _Prefix(op, 0, descending, rest, factor)",
        "a reduction up to before each index has the element of the index",
    ),
    Fault(
        "inner-maximum-of-any-label", _NESTED,
        "            or op.label_name != self.op.label_name\n", "",
        "a maximum over another label is taken to bound the elements of an inner sum",
    ),
    Fault(
        "quotient-upside-down", _LAWS,
        "ends = (before, after) if found.minus != shift.inverse else (after, before)",
        "ends = (after, before) if found.minus != shift.inverse else (before, after)",
        "a sum of exponentials is multiplied by the quotient of the old shift and the new one",
    ),
    Fault(
        "coefficients-counted-once", _LAWS,
        "ways = prod(comb(p, q) for p, q in zip(above, powers))", "ways = 1",
        "a polynomial is moved without its binomial coefficients",
    ),
    Fault(
        "row-of-minus-infinity-is-zero", _LAWS,
        "wanted = build(arith.ConstantOp(constant(math.nan, value.type)))",
        "wanted = build(arith.ConstantOp(constant(0.0, value.type)))",
        "a sum of exponentials of a row of -inf is 0, and NaN in the algorithm",
    ),
    Fault(
        "shifted-by-minus-infinity", _TERMS,
        "body.number(-math.inf if bounded else math.inf, type)",
        "body.number(math.inf, type)",
        "a first tile of -inf makes NaN of a row",
    ),
    Fault(
        "less-than-a-greater-maximum-is-false", _DOMINANCE,
        '"lt": True, "le": True', '"lt": False, "le": True',
        "what was less than a maximum is not less than a greater one",
    ),
    Fault(
        "rounded-in-the-loop", _TERMS,
        "case arith.ExtFOp():",
        "case arith.ExtFOp() | arith.TruncFOp():",
        "an element that is rounded at each step is repaired as if it were not",
    ),
    Fault(
        "conditions-forgotten", _MERGED,
        "return kind, [body.value(arith.SelectOp(inside, elements[0], neutral))]",
        "return kind, elements",
        "a reduction with a domain that others do not have counts all elements",
    ),
    Fault(
        "outputs-computed-within", _GATHERED,
        "if name in site.program.outputs():\n        return True", "if False:\n        return True",
        "a function that the program returns is computed by its reader alone",
    ),
    Fault(
        "stored-when-it-is-needed-before", _GATHERED,
        "if label is None or _is_needed_before(", "if label is None or any(",
        "what a kernel before reads is stored by one behind it",
    ),
    Fault(
        "store-left-in-other-loops", "dt_mlir/passes/schedule_online_stores.py",
        "        op.detach()\n", "        continue\n",
        "what a pass stores is stored once for each index of a loop that it does not depend on",
    ),
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
        "bound-of-the-wrong-sign", _TO_LOOP,
        "rest = collected(multiply(others, number(-sign)))", "rest = collected(others)",
        "a number in a condition is moved to what the rest cannot be",
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
        "read-and-written-allowed", _ALL + "analysis/nests.py",
        "if any(isinstance(op, loop.ReadOp) for op in users):", "if False:",
        "a kernel may read what it writes",
    ),
    Fault(
        "tensorize-first-loop-only", _ALL + "passes/schedule_tensorize.py",
        "for op in loops:", "for op in loops[:1]:",
        "only one of several loops over a label is stepped",
    ),
    Fault(
        "fusion-in-text-order", _ALL + "passes/apply_schedule.py",
        "rank.get(directive.function, 0) if phase is Phase.FUSION else 0", "0",
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
        "fused-axes-swapped", _COPIES,
        "zip(write.simple_indices(), binding)", "zip(write.simple_indices(), reversed(binding))",
        "a fused function's labels are bound in reverse order",
    ),
    Fault(
        "windows-share-a-buffer", _WINDOWS,
        "read.map.data, tuple(read.indices)", "read.boundary, tuple(read.indices)",
        "a function that is read as g[x + 1] and as g[x - 1] is computed once",
    ),
    Fault(
        "fused-at-another-size", _FUSION,
        "if same.get(walked, walked) != same.get(label, label):", "if False:",
        "a function that is read at labels of another size is stored in part",
    ),
    Fault(
        "labellings-share-a-buffer", _FUSION,
        "binding = _binding(site, labels, read, place)",
        "binding = _binding(site, labels, reads_of(argument)[0], place)",
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
        "fused-output-not-stored", _COPIES,
        "    if stays:\n        ours", "    if False:\n        ours",
        "a fused function that is an output too is not written",
    ),
    Fault(
        "buffers-split-by-products", _ALL + "passes/loop_split_products.py",
        "if not op.is_tile or _reads_buffer(op):", "if not op.is_tile:",
        "a product over a held buffer is stepped, which cannot be held then",
    ),
    Fault(
        "stored-producer-dropped", _FUSION,
        "any(k is not home for k in readers_of(site, name))", "False",
        "a fused function that a later kernel reads is not stored",
    ),
    Fault(
        "least-depth-of-bytes", _DOTS,
        "return 32 if bits <= 8 else 16", "return 16",
        "a dot of bytes may be shallower than Triton takes",
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
        "place-by-the-first-label", _TO_LOOP,
        "size = add(arith.IndexCastOp(add(loop.SizeOp(label)), i64))",
        "size = add(arith.IndexCastOp(add(loop.SizeOp(op.label_names[0])), i64))",
        "an argument over several labels counts rows of the first label's size",
    ),
    Fault(
        "buffer-before-its-last-read", _FUSION,
        "insert(move, binding, _around(reads[0], place)", "insert(move, binding, _around(reads[-1], place)",
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
]
