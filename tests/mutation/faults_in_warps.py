"""Faults in the passes that make and change the `warp` level; see `faults.py`."""

from __future__ import annotations

from fault import Fault

_ALL = "dt_mlir/"
_CONVERT = _ALL + "passes/convert_tile_to_warp.py"
_BOXES = _ALL + "analysis/boxes.py"
_SPLIT = _ALL + "passes/warp_split_producer.py"
_OVERLAP = _ALL + "passes/warp_overlap_products.py"
_PIPELINE = _ALL + "passes/warp_pipeline_products.py"
_SINK = _ALL + "passes/warp_sink_store_waits.py"
_PARTS = _ALL + "passes/warp_store_in_parts.py"
_AGAIN = _ALL + "passes/convert_loop_to_tile_again.py"
_WRAPPER = _ALL + "backend/gluon/wrapper.py"

WARPS = [
    Fault(
        "result-without-a-fence", _CONVERT,
        "        builder.insert(warp.LocalStoreOp(value, buffer))\n"
        "        builder.insert(warp.FenceAsyncOp())\n",
        "        builder.insert(warp.LocalStoreOp(value, buffer))\n",
        "a result is copied from shared memory before stores to it are seen",
    ),
    Fault(
        "rows-of-another-group", _CONVERT,
        "below = index.mul(self.group, index.constant(distance))\n", "below = self.group\n",
        "a group copies rows of another one",
    ),
    Fault(
        "released-by-one-group", _SPLIT,
        "warp.MBarrierCreateOp(copies.stages, self.groups)",
        "warp.MBarrierCreateOp(copies.stages, 1)",
        "a stage is filled again when the first of two groups has read it",
    ),
    Fault(
        "phase-of-the-consumers", _SPLIT,
        'parity = index.sub(index.constant(1), phase, "parity")', "parity = phase",
        "the producer waits for a stage to be empty that nothing has filled",
    ),
    Fault(
        "released-at-the-first-use", _SPLIT,
        "places[place] > places[last]", "places[place] < places[last]",
        "what several products read is released behind the first of them",
    ),
    Fault(
        "bytes-of-one-group", _SPLIT,
        "            total += type.bytes * (1 if load in copies.shared else self.groups)\n",
        "            total += type.bytes\n",
        "a stage is ready before the copies of all groups have arrived",
    ),
    Fault(
        "stage-that-is-still-read", _OVERLAP,
        "index.constant(stage.depth - 1)", "index.constant(stage.depth)",
        "the stage of the product that is under way is released",
    ),
    Fault(
        "stage-that-two-products-read", _OVERLAP,
        "for arrive in products[-1].releases:", "for arrive in products[-1].releases[:1]:",
        "a stage is released while the second of the products that read it is under way",
    ),
    Fault(
        "weights-of-another-stage", _PIPELINE,
        "**dict(zip(late.numbers, numbers))}\n    copies", "}\n    copies",
        "the product of the trip before reads the values of this one",
    ),
    Fault(
        "trip-of-a-loop-without-any", _PIPELINE,
        'arith.CmpiOp(loop.lb, loop.ub, "slt")', 'arith.CmpiOp(loop.lb, loop.ub, "sle")',
        "the first trip of a loop is made in front of it, even if it makes none",
    ),
    Fault(
        "trips-counted-anew", _CONVERT,
        "        return self.alike.get(block, block)\n", "        return block\n",
        "a loop counts its trips from 0 on rings that another one has used",
    ),
    Fault(
        "sums-with-what-is-excluded", _ALL + "passes/convert_loop_to_tile_products.py",
        "bad = not_finite(scope, found, apart=True)", "bad = not_finite(scope, before, apart=True)",
        "a factor that is not finite and that the domain excludes reaches a sum",
    ),
    Fault(
        "other-values-looked-at", _AGAIN,
        "other = not_finite(scope, found[place], apart=True)",
        "other = not_finite(scope, found[0], apart=True)",
        "a sum by dots stays as it is, which a factor has reached that is excluded",
    ),
    Fault(
        "excluded-elements-summed-again", _ALL + "passes/convert_loop_to_tile_products.py",
        "        term = domain.restrict(terms, place, neutral, domain.constraints, inner.values)\n",
        "        term = terms\n",
        "a sum that is computed again takes elements that the domain excludes",
    ),
    Fault(
        "finite-sums-from-zero", _AGAIN,
        "[bad, zero, found[place]], lambda b, v", "[bad, zero, zero], lambda b, v",
        "sums that are finite are lost behind their loop",
    ),
    Fault(
        "sum-that-is-not-scaled", _PIPELINE,
        "    trip.copy(late.scaling)\n", "    trip.values[acc] = trip.of(carried[late.position])\n",
        "the sum of the trips before is not rescaled where the maximum has grown",
    ),
    Fault(
        "buffer-of-a-copy-under-way", _SINK,
        "again = warp.TmaStoreWaitOp(pending)\n", "again = warp.TmaStoreWaitOp(pending + 1)\n",
        "a result is stored over one that is still copied",
    ),
    Fault(
        "buffers-taken-for-others", _SINK,
        "    return base is not base_of_other or number == number_of_other\n",
        "    return False\n",
        "a part is stored over one that is still copied",
    ),
    Fault(
        "parts-in-one-place", _PARTS,
        "index.constant(distance)", "index.constant(0)",
        "all parts of a result are stored over its first columns",
    ),
    Fault(
        "buffers-of-another-group", _PARTS,
        "first = index.mul(result.index.index, index.constant(PARTS))\n",
        "first = result.index.index\n",
        "the second buffer of a group is the first of another one",
    ),
    Fault(
        "halves-exchanged", _PARTS,
        "part for half in halves.results for part", "part for half in halves.results[::-1] for part",
        "the columns of a result are stored in the places of others",
    ),
    Fault(
        "specialized-for-any-tensor", _WRAPPER,
        'test = code.conjunction([code.call("_is_specialized", *tensors), *sizes])',
        "test = code.conjunction([code.constant(True), *sizes])",
        "tensors that the copy engine does not take are given to it",
    ),
    Fault(
        "specialized-for-sizes-that-differ", _WRAPPER,
        'test = code.conjunction([code.call("_is_specialized", *tensors), *sizes])',
        'test = code.call("_is_specialized", *tensors)',
        "boxes of two tensors end in different places, and a sum takes what is outside of its domain",
    ),
    Fault(
        "any-value-outside-is-zero", _BOXES,
        "if bounded is None or not _is_zero(op.fill):", "if bounded is None:",
        "a value that a window has outside of its tensor is read as zero",
    ),
    Fault(
        "box-without-its-shift", _CONVERT,
        "index.sum([(self.values[v], n) for v, n in axis.first.terms], axis.first.number)",
        "index.sum([(self.values[v], n) for v, n in axis.first.terms], 0)",
        "a window is copied from where it is not shifted",
    ),
    Fault(
        "groups-of-the-fastest-label", _BOXES,
        "return next(places, None)", "return max(places, default=None)",
        "a group copies rows that are not its own",
    ),
    Fault(
        "panels-in-the-order-of-axes", _BOXES,
        "wanted = sorted(places, key=", "wanted = sorted(places) or (",
        "columns of one label are copied where those of another one are",
    ),
    Fault(
        "panels-in-another-order", _PARTS,
        "axes = range(count) if count else", "axes = range(count - 1, -1, -1) if count else",
        "parts of a result with several labels of columns are stored in places of others",
    ),
    Fault(
        "axes-without-their-order", _WRAPPER,
        "if described.axes is not None:", "if described.axes is None:",
        "a tensor is described with its axes in another order than its boxes",
    ),
]
"""Faults in specialized warps."""
