"""Prints one kernel of the `tile` level as a `triton.jit` function."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    IndexType,
    UnrealizedConversionCastOp,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.analysis.boxes import Box
from dt_mlir.analysis.magnitudes import is_surely_moderate
from dt_mlir.analysis.unrolled_loops import unrolled_trips
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.addresses import AddressPrinter
from dt_mlir.backend.triton.attributes import eviction_of
from dt_mlir.backend.triton.boxes import described, shape_of, tile_extents
from dt_mlir.backend.triton.initial_values import (
    HIDDEN,
    combines_reduced_load,
    initial_value,
)
from dt_mlir.backend.triton.known_conditions import KnownConditions
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.product_waits import Wait, waiting_loops
from dt_mlir.backend.triton.range_options import range_options
from dt_mlir.backend.triton.scalars import (
    constant_of,
    filled,
    literal,
    memory_literal,
    scalar_expression,
    triton_type,
    typed_literal,
)
from dt_mlir.backend.triton.signature import GRID_WAIT, Signature
from dt_mlir.backend.triton.sizes import SMALL_OFFSET, reach_of
from dt_mlir.backend.triton.values import transposed
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of
from dt_mlir.element_types import is_bool, is_float, is_integer

_REDUCED = {
    ReductionKind.ADD: "total",
    ReductionKind.MUL: "product",
    ReductionKind.MAXIMUM: "largest",
    ReductionKind.MINIMUM: "smallest",
    ReductionKind.AND: "every",
    ReductionKind.OR: "some",
}
"""Names of reduced values that the source has no name for."""


_ONE = code.constant(1.0)
"""The factor that multiplies nothing."""


class KernelPrinter(AddressPrinter):
    """Prints a kernel.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        helpers: collects the names of the combine functions that it uses.
        origins: collects the operations that code comes from, if they are wanted.
    """

    def __init__(
        self, kernel: GridKernelOp, signature: Signature, helpers: set[str],
        origins: Origins | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel, signature, origins)
        self.helpers = helpers
        self.boxes = described(kernel).boxes
        """The boxes of the accesses that go through descriptors."""
        found = reach_of(kernel)
        self.far = found is None or found.factor > 1 or found.offset >= SMALL_OFFSET
        """True if indices may wrap though loops' indices do not, and are as wide as offsets."""
        self.wide: set[SSAValue] = set()
        """Indices that are as wide as offsets, tensors of Triton's or not."""
        self.known_conditions = KnownConditions(dynamic=signature.dynamic)
        self.waiting = waiting_loops(kernel, self.boxes) if signature.hopper else {}

    def print(self, documentation: Sequence[str]) -> ast.FunctionDef:
        """The function.

        Args:
            documentation: the lines of its docstring.
        """
        if self.signature.dependent:
            # What the kernel before this one writes is there behind the wait.
            with self.writer.branch(code.name(self.signature.dependent)):
                self.writer.expression(code.call(GRID_WAIT))
        for arg, variable in self.signature.variables.items():
            parameter = code.name(variable)
            if is_bool(arg.type):
                parameter = code.compare("!=", parameter, code.constant(0))
            elif (is_float(arg.type) or arg.type == i64) and arg.uses:
                # Triton's interpreter forgets the declared types: it leaves numbers Python's own.
                wide = code.call("tl.full", code.tuple_of([]), parameter, triton_type(arg.type))
                self.writer.assign(variable, wide)
            self.values[arg] = parameter
        self._block(self.kernel.body.block)
        return code.function(
            self.signature.name, self.signature.parameters(), documentation,
            self.writer.statements, decorators=[code.path("triton.jit")],
        )  # fmt: skip

    def _block(self, block: Block) -> None:
        for op in block.ops:
            first = len(self.writer.statements)
            self._op(op)
            self._printed(op, first)

    # Operations

    def _op(self, op: Operation) -> None:
        if op in self.addresses.unused:
            return
        printer = tile.triton_printer(op)
        if printer is not None:
            # An operation of another package.
            expression = printer([self.values[v] for v in op.operands])
            self.tensors.update(op.results)
            self._define(op.results[0], expression)
            return
        match op:
            case arith.ConstantOp():
                self.values[op.result] = literal(op.value)
            case UnrealizedConversionCastOp():
                self.values[op.results[0]] = self.values[op.operands[0]]
                self.tensors.update(op.results)
            case tile.SizeOp():
                self.values[op.result] = code.name(self.signature.sizes[op.label.data])
            case tile.ProgramIdOp():
                self._program(op.result, "tl.program_id", "pid")
            case tile.NumProgramsOp():
                self._program(op.result, "tl.num_programs", "programs")
            case tile.AlternateOp():
                self._alternate(op)
            case tile.JoinedRangeOp():
                self._joined_range(op)
            case tile.RangeOp():
                self._range(op)
            case tile.MaskOp():
                self._assign(op.result, self._mask(op), "mask")
            case tile.LoadOp():
                self._load(op)
            case tile.StoreOp():
                self._store(op)
            case tile.MapOp():
                self._map(op)
            case tile.ReduceOp():
                self._reduce(op)
            case tile.ScanOp():
                self._scan(op)
            case tile.ArgReduceOp():
                self._arg_reduce(op)
            case tile.DotOp():
                self._dot(op)
            case tile.FillOp() if constant_of(op.value) is not None:
                self.values[op.result] = self._fill(op)
            case tile.FillOp():
                self._define(op.result, self._fill(op))
            case tile.BroadcastOp():
                spread = self._spread(op.value, axes_of(op.result.type))
                shape = self._shape(op.result.type)
                self._define(op.result, code.call("tl.broadcast_to", spread, shape))
            case tile.TransposeOp():
                self._transpose(op)
            case tile.FactorsOp():
                self._factors(op)
            case tile.RenameOp():
                self.values[op.result] = self.values[op.value]
            case scf.ForOp():
                self._for(op)
            case scf.YieldOp():
                pass
            case _:
                users = [use.operation for use in op.results[0].uses]
                self._scalar(op, any(axes_of(r.type) for user in users for r in user.results))

    def _scalar(self, op: Operation, meets_tiles: bool) -> None:
        """A scalar operation, on its own or of a map.

        Args:
            op: the operation.
            meets_tiles: whether it gives a scalar that is combined with tiles.
        """
        result = op.results[0]
        if isinstance(op, arith.MulfOp) and any(self.values[v] is _ONE for v in op.operands):
            # The factor before an extreme of a positive number.
            other = op.rhs if self.values[op.lhs] is _ONE else op.lhs
            self.values[result] = self.values[other]
            self.tensors.update([result] if other in self.tensors else [])
            return
        operands, accurate = self._operands(op, self.far), self.kernel.is_accurate
        expression = scalar_expression(op, operands, self._is_tensor, accurate)
        if isinstance(op, arith.SelectOp) and self.known_conditions.is_known(op.cond):
            # Triton compiles the one that is chosen.
            chosen = [self.values[v] for v in op.operands]
            expression = code.conditional(*chosen)
        if not isinstance(result.type, IndexType) or any(
            operand in self.tensors for operand in op.operands
        ):
            self.tensors.add(result)
        if any(operand in self.wide for operand in op.operands):
            self.wide.add(result)
        if is_bool(result.type) and meets_tiles and not self.known_conditions.is_known(result):
            # Triton's interpreter takes what a comparison of scalars gives for a number of the
            # compared type when it broadcasts it, and fails or negates it wrongly.
            truth = [code.constant(True), code.constant(False)]
            expression = code.call("tl.where", expression, *truth)
        self._define(result, expression)

    def _program(self, result: SSAValue, function: str, hint: str) -> None:
        """Prints a number of the launch, as wide as indices."""
        wide = code.method(
            code.call(function, code.constant(0)), "to", code.name(self.signature.index)
        )
        self.tensors.add(result)
        self.wide.add(result)
        self._assign(result, wide, hint)

    def _alternate(self, op: tile.AlternateOp) -> None:
        number, blocks, programs = (self.values[x] for x in op.operands)
        rounds, round = (code.binary("//", x, programs) for x in (blocks, number))
        turns = code.binary("%", code.binary("-", rounds, round), code.constant(2))
        place = code.binary("*", code.constant(2), code.binary("%", number, programs))
        back = code.binary("-", code.binary("-", programs, code.constant(1)), place)
        moved = code.binary("+", number, code.binary("*", turns, back))
        for known in (self.tensors, self.wide):
            known.update([op.result] if op.number in known else [])
        self._assign(op.result, moved, "block")

    def _range(self, op: tile.RangeOp) -> None:
        self._assign(op.result, self._from(op.origin, self._distances(op.result)), op.label.data)

    def _joined_range(self, op: tile.JoinedRangeOp) -> None:
        for label, origin, indices in zip(names(op.labels), op.origins, op.indices):
            self._assign(indices, self._from(origin, self._distances(indices)), label)

    def _from(self, origin: SSAValue, distances: ast.expr) -> ast.expr:
        known = constant_of(origin)
        if known is not None and known.value.data == 0:
            return distances
        return code.binary("+", self.values[origin], distances)

    def _mask(self, op: tile.MaskOp) -> ast.expr:
        bound = self.values[op.bound]
        below = code.compare("<", self.values[op.index], bound)
        axis = axes_of(op.index.type)[0]
        if (shortcut := op.shortcut(self.signature.dynamic)) is None:
            return below
        if shortcut == "whole":
            needed = code.compare("!=", self._extent(axis), bound)
        elif op.divisor is not None:
            needed = code.binary("%", bound, code.constant(op.divisor.value.data))
        else:
            needed = code.compare("<", bound, self.values[op.operands[-1]])
        return code.conditional(needed, below, self._all_true(op.result, axis))

    def _all_true(self, mask: SSAValue, axis: Axis) -> ast.expr:
        """A mask that is true throughout."""
        shape = code.tuple_of([self._extent(axis)])
        return code.call("tl.full", shape, code.constant(True), code.path("tl.int1"))

    def _masks(self, op: tile.AccessOp, axes: Sequence[Axis]) -> ast.expr | None:
        masks = [self._spread(mask, axes) for mask in op.masks]
        return code.total("&", masks) if masks else None

    def _load(self, op: tile.LoadOp) -> None:
        axes = axes_of(op.result.type)
        masks = [self._spread(mask, axes) for mask in op.masks]
        bounds = [self._spread(bound, axes) for bound in op.inside]
        other = op.fill if op.pad is None else op.pad
        keywords: dict[str, ast.expr] = {}
        if other is not None:
            keywords = {"mask": code.total("&", [*masks, *bounds]), "other": memory_literal(other)}
        self.tensors.add(op.result)
        pointer = self.pointer(op, axes)
        loaded = code.call("tl.load", pointer, **keywords, **eviction_of(op))
        if op.fill is not None and str(op.fill) != str(other):
            # Lanes that are masked off keep the pad, whatever their bounds.
            outside = code.total("&", [*masks, code.inverted(code.total("&", bounds))])
            loaded = code.call("tl.where", outside, typed_literal(op.fill), loaded)
        box = self.boxes.get(op)
        if box is None:
            self._assign(op.result, loaded, "loaded")
            return
        variable = self._variable(op.result, "loaded")
        with self._without(box):
            self.writer.assign(variable, loaded)
        with self.writer.otherwise():
            copied = self._copied(box, axes)
            if other is not None and other.value.data:
                # The copy engine gives zeros there.
                mask = code.total("&", [*masks, *bounds])
                copied = code.call("tl.where", mask, copied, typed_literal(other))
            self.writer.assign(variable, copied)
        self.values[op.result] = code.name(variable)

    def _without(self, box: Box) -> AbstractContextManager[None]:
        """Begins the branch without a descriptor, which Triton decides when it compiles."""
        parameter = code.name(self.signature.boxes[shape_of(box)])
        return self.writer.branch(ast.Compare(parameter, [ast.Is()], [code.constant(None)]))

    def _box_origin(self, box: Box) -> ast.expr:
        """The first index of a box along each axis of its tensor."""
        found: list[ast.expr] = []
        for axis in box.axes:
            terms = [
                self.values[value] if factor == 1
                else code.binary("*", self.values[value], code.constant(factor))
                for value, factor in axis.first.terms
            ]  # fmt: skip
            if axis.first.number or not terms:
                terms.append(code.constant(axis.first.number))
            found.append(code.total("+", terms))
        return ast.List(found, ast.Load())

    def _copied(self, box: Box, axes: Sequence[Axis]) -> ast.expr:
        """A box that is loaded, as a tile of some axes."""
        parameter = code.name(self.signature.boxes[shape_of(box)])
        found = code.method(parameter, "load", self._box_origin(box))
        whole = tile_extents(box, axes)
        if whole != box.type.extents:
            found = code.method(found, "reshape", *map(code.constant, whole))
        wanted = [box.order.index(axis.name) for axis in axes]
        return found if wanted == sorted(wanted) else transposed(found, wanted)

    def _store_box(self, box: Box, value: ast.expr, type: Attribute) -> None:
        """Stores a tile to a box."""
        names = axis_names(type)
        wanted = [names.index(name) for name in box.order]
        if wanted != sorted(wanted):
            value = transposed(value, wanted)
        if tile_extents(box, axes_of(type)) != box.type.extents:
            value = code.method(value, "reshape", *map(code.constant, box.type.extents))
        parameter = code.name(self.signature.boxes[shape_of(box)])
        stored = code.method(parameter, "store", self._box_origin(box), value)
        self.writer.expression(stored)

    def _store(self, op: tile.StoreOp) -> None:
        axes = axes_of(op.value.type)
        mask = self._masks(op, axes)
        keywords = {} if mask is None else {"mask": mask}
        pointer = self.pointer(op, axes)
        attr = constant_of(op.value)
        value = self.values[op.value] if attr is None else memory_literal(attr)
        if self._is_summed(op.base):
            # No other memory depends on when it is added.
            order = {"sem": code.constant("relaxed")}
            self.writer.expression(code.call("tl.atomic_add", pointer, value, **keywords, **order))
            return
        stored = code.call("tl.store", pointer, value, **keywords, **eviction_of(op))
        box = self.boxes.get(op)
        if box is None:
            self.writer.expression(stored)
            return
        with self._without(box):
            self.writer.expression(stored)
        with self.writer.otherwise():
            if attr is not None:
                value = filled(self._shape(op.value.type), value, element_of(op.value.type))
            self._store_box(box, value, op.value.type)

    def _is_summed(self, base: SSAValue) -> bool:
        """Returns whether what is written to a tensor is added to it."""
        names = self.kernel.argument_names
        return any(
            arg is base and name in self.kernel.summed_names
            for arg, name in zip(self.kernel.args, names)
        )

    def _fill(self, op: tile.FillOp) -> ast.expr:
        element = element_of(op.result.type)
        shape = self._shape(op.result.type)
        attr = constant_of(op.value)
        if attr is not None and attr.value.data == 0 and math.copysign(1, attr.value.data) > 0:
            return code.call("tl.zeros", shape, triton_type(element))
        return filled(shape, self.values[op.value], element)

    def _transpose(self, op: tile.TransposeOp) -> None:
        value = self.values[op.value]
        before, after = axis_names(op.value.type), axis_names(op.result.type)
        self._define(op.result, transposed(value, [before.index(name) for name in after]))

    def _map(self, op: tile.MapOp) -> None:
        axes = axes_of(op.result.type)
        covered: dict[SSAValue, frozenset[str]] = {}
        body = op.body.block
        for arg, value in zip(body.args, op.inputs):
            self.values[arg] = self._spread(value, axes)
            covered[arg] = frozenset(axis_names(value.type))
            if self._is_tensor(value):
                self.tensors.add(arg)
        for inner in body.ops:
            if isinstance(inner, tile.YieldOp):
                break
            if isinstance(inner, arith.ConstantOp):
                self.values[inner.result] = literal(inner.value)
                covered[inner.result] = frozenset()
                continue
            result = inner.results[0]
            covered[result] = frozenset[str]().union(*(covered[v] for v in inner.operands))
            first = len(self.writer.statements)
            self._scalar(inner, meets_tiles=not covered[result])
            self._printed(inner, first)
        value = op.yielded
        expression = self.values[value]
        if not covered[value]:
            attr = constant_of(value)
            shown = expression if attr is None else literal(attr)
            expression = filled(self._shape(op.result.type), shown, value.type)
        elif len(covered[value]) < len(axes):
            shape = self._shape(op.result.type)
            expression = code.call("tl.broadcast_to", expression, shape)
        if isinstance(expression, ast.Name):
            # A tile times a factor that multiplies nothing.
            self.values[op.result] = expression
            return
        self._define(op.result, expression)

    def _factors(self, op: tile.FactorsOp) -> None:
        one, scalar = code.constant(1.0), self.values[op.scalar]
        parameter = self.signature.moderate.get(op.scalar)
        if parameter is None:
            first, second = op.results if is_surely_moderate(op.scalar) else op.results[::-1]
            self.values[first], self.values[second] = _ONE, scalar
            if constant_of(op.scalar) is None:
                self._assign(second, scalar, "scale")
            return
        if op.scalar.type != op.before.type:
            scalar = code.call("tl.cast", scalar, triton_type(op.before.type))
        moves = code.name(parameter)
        self.tensors.update(op.results)
        self._assign(op.before, code.conditional(moves, one, scalar), "before")
        self._assign(op.after, code.conditional(moves, scalar, one), "after")

    def _combine(self, helper: str) -> ast.expr:
        self.helpers.add(helper)
        return code.name(helper)

    def _reduce(self, op: tile.ReduceOp) -> None:
        value = self.values[op.value]
        axis = code.constant(axis_names(op.value.type).index(op.axis.data))
        kind = op.kind.data
        floats = is_float(element_of(op.value.type))
        match kind:
            case ReductionKind.ADD:
                expression = code.call("tl.sum", value, axis=axis)
            case ReductionKind.MAXIMUM | ReductionKind.MINIMUM if not floats:
                function = "tl.max" if kind is ReductionKind.MAXIMUM else "tl.min"
                expression = code.call(function, value, axis=axis)
            case ReductionKind.AND | ReductionKind.OR:
                # Triton reduces no truth values.
                function = "tl.max" if kind is ReductionKind.OR else "tl.min"
                wide = code.method(value, "to", code.path("tl.int32"))
                reduced = code.call(function, wide, axis=axis)
                expression = code.compare("!=", reduced, code.constant(0))
            case _:
                combine = self._combine(f"_{kind}")
                expression = code.call("tl.reduce", value, axis, combine)
        self.tensors.add(op.result)
        self._define_reduced(op, expression, _REDUCED[kind])

    def _define_reduced(self, op: tile.ReduceOp, expression: ast.expr, hint: str) -> None:
        self._define(op.result, expression, hint)

    def _scan(self, op: tile.ScanOp) -> None:
        value = self.values[op.value]
        axis = code.constant(axis_names(op.value.type).index(op.axis.data))
        kind = op.kind.data
        keywords = {} if op.reverse is None else {"reverse": code.constant(True)}
        if op.factor is not None and op.products is not None:
            pair = code.tuple_of([self.values[op.factor], value])
            combine = self._combine("_linear")
            expression = code.call("tl.associative_scan", pair, axis, combine, **keywords)
            results = (op.products, op.result)
            names = [self._variable(op.products, "factors"), self._variable(op.result, "sums")]
            self.writer.assign_all(names, expression)
            self.tensors.update(results)
            self.values.update(zip(results, map(code.name, names)))
            return
        match kind:
            case ReductionKind.ADD:
                expression = code.call("tl.cumsum", value, axis=axis, **keywords)
            case ReductionKind.AND | ReductionKind.OR:
                # Triton combines no truth values.
                same = ReductionKind.MAXIMUM if kind is ReductionKind.OR else ReductionKind.MINIMUM
                wide = code.method(value, "to", code.path("tl.int32"))
                combine = self._combine(f"_{same}")
                scanned = code.call("tl.associative_scan", wide, axis, combine, **keywords)
                expression = code.compare("!=", scanned, code.constant(0))
            case _:
                combine = self._combine(f"_{kind}")
                expression = code.call("tl.associative_scan", value, axis, combine, **keywords)
        self.tensors.add(op.result)
        self._define(op.result, expression, _REDUCED[kind])

    def _arg_reduce(self, op: tile.ArgReduceOp) -> None:
        pair = code.tuple_of([self.values[op.value], self.values[op.index]])
        axis = code.constant(axis_names(op.value.type).index(op.axis.data))
        combine = self._combine(f"_{op.kind.data}")
        names = [self._variable(op.extreme, "best"), self._variable(op.position, "best_index")]
        self.writer.assign_all(names, code.call("tl.reduce", pair, axis, combine))
        for result, variable in zip(op.results, names):
            self.values[result] = code.name(variable)
            self.tensors.add(result)

    def _dot(self, op: tile.DotOp) -> None:
        args = [self.values[op.lhs], self.values[op.rhs]]
        keywords: dict[str, ast.expr] = {}
        element = element_of(op.lhs.type)
        if op.acc is not None:
            args.append(self.values[op.acc])
        if element == f32:
            precision = self.kernel.precision
            named = "ieee" if precision is None else precision.data
            chosen = "ieee" if named == "narrow" else named
            keywords["input_precision"] = code.constant(chosen)
        if is_integer(element):
            keywords["out_dtype"] = code.path("tl.int32")
        self._define(op.result, code.call("tl.dot", *args, **keywords), "product")

    def _for(self, op: scf.ForOp) -> None:
        iv, *carried = op.body.block.args
        targets: list[str] = []
        for number, (arg, init) in enumerate(zip(carried, op.iter_args)):
            result = op.results[number]
            variable = self._variable(result, "acc")
            targets.append(variable)
            hidden = combines_reduced_load(op, number)
            self.writer.assign(variable, self._initial(init, hidden))
            self.values[arg] = self.values[result] = code.name(variable)
            self.tensors.update((arg, result))
        index = self._variable(iv, "i")
        self.values[iv] = code.name(index)
        if self.far:
            # Triton's interpreter makes plain numbers of loops' indices, which lose their width.
            wide = code.name(self.signature.index)
            self.values[iv] = code.call("tl.cast", code.name(index), wide)
        self.wide.add(iv)
        options = range_options(op)
        unrolled = unrolled_trips(op) is not None
        # The bounds of a loop that vanishes are constants of Python.
        bounds = [self.values[op.lb], self.values[op.ub] if unrolled else self._bound(op)]
        step = constant_of(op.step)
        if step is None or step.value.data != 1:
            bounds.append(self.values[op.step])
        start = constant_of(op.lb)
        if start is not None and start.value.data == 0 and len(bounds) == 2:
            bounds = bounds[1:]
        function = "tl.range" if options else "range"
        if unrolled:
            # The loop vanishes: its index is a constant of each copy of the body.
            function, options = "tl.static_range", {}
            self.wide.discard(iv)
        self.name_offsets(op)
        with self.writer.loop(index, code.call(function, *bounds, **options)):
            self._wait_in(op, Wait.BEGIN)
            self._block(op.body.block)
            if carried:
                assert isinstance(last := op.body.block.last_op, scf.YieldOp)
                values = [self.values[value] for value in last.arguments]
                # Several are assigned at once: one may stand on the right of another.
                whole = values[0] if len(values) == 1 else code.tuple_of(values)
                self.writer.assign_all(targets, whole)
            self._wait_in(op, Wait.END)

    def _wait_in(self, op: scf.ForOp, place: Wait) -> None:
        if self.waiting.get(op) is place:
            self.helpers.add(place)
            with self.writer.branch(code.name(self.signature.hopper)):
                self.writer.expression(code.call(place))

    def _bound(self, op: scf.ForOp) -> ast.expr:
        """The end of a loop, as wide as indices: what is behind it must not wrap either."""
        bound, known, step = self.values[op.ub], constant_of(op.ub), constant_of(op.step)
        reach = None if known is None or step is None else known.value.data + step.value.data
        if op.ub in self.wide or (reach is not None and reach < 2**31 and not self.far):
            return bound
        return code.call("tl.cast", bound, code.name(self.signature.index))

    def _initial(self, value: SSAValue, hidden: bool = False) -> ast.expr:
        self.helpers.update([HIDDEN] if hidden else [])
        return initial_value(value, self.values[value], self._shape, hidden)
