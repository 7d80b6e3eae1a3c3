"""Prints one kernel of the `tile` level as a `triton.jit` function."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    UnrealizedConversionCastOp,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from dt_mlir.analysis.moving_addresses import MovingAccess, MovingAddresses, Part
from dt_mlir.analysis.unrolled_loops import unrolled_trips
from dt_mlir.backend.triton import code
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
from dt_mlir.backend.triton.signature import Signature
from dt_mlir.backend.triton.sizes import SMALL_OFFSET, reach_of
from dt_mlir.diagnostics import CompileError, directive_location
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of
from dt_mlir.element_types import is_bool, is_float, is_integer
from dt_mlir.traversal import operations

INLINE = 60
"""The longest expression, in characters, that stands inside another."""

_REDUCED = {
    ReductionKind.ADD: "total",
    ReductionKind.MUL: "product",
    ReductionKind.MAXIMUM: "largest",
    ReductionKind.MINIMUM: "smallest",
    ReductionKind.AND: "every",
    ReductionKind.OR: "some",
}
"""Names of reduced values that the source has no name for."""


class KernelPrinter:
    """Prints a kernel.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        helpers: collects the names of the combine functions that it uses.
    """

    def __init__(
        self, kernel: tile.KernelOp, signature: Signature, helpers: set[str]
    ) -> None:
        self.kernel = kernel
        self.signature = signature
        self.helpers = helpers
        self.names = signature.names
        self.writer = code.Writer()
        self.values: dict[SSAValue, ast.expr] = {}
        self.tensors: set[SSAValue] = set()
        found = reach_of(kernel)
        self.far = found is None or found.factor > 1 or found.offset >= SMALL_OFFSET
        """True if indices may wrap though loops' indices do not, and are as wide as offsets."""
        self.wide: set[SSAValue] = set()
        """Indices that are as wide as offsets, tensors of Triton's or not."""
        self.addresses = MovingAddresses(kernel)
        self.moving: dict[Operation, tuple[ast.expr, MovingAccess]] = {}
        """Accesses with the pointers that were computed before a loop."""
        self.pointers: dict[tuple[Block | None, str], ast.expr] = {}
        """The names of such pointers, by the block in which they stand and their text."""

    def print(self, documentation: Sequence[str]) -> ast.FunctionDef:
        """The function.

        Args:
            documentation: the lines of its docstring.
        """
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
            self._op(op)

    # Names and inlining

    def _variable(self, value: SSAValue, default: str) -> str:
        # Text loses the numbers that tell equal hints apart, so they must not count.
        hint = re.sub(r"(_\d+)+$", "", value.name_hint or "") or default
        hint = re.sub(r"\W", "_", hint)
        return self.names.fresh(hint if not hint[0].isdigit() else default)

    def _define(self, value: SSAValue, expression: ast.expr, default: str = "value") -> None:
        """Binds a value: in place where it is used once, nearby and short, else as a variable."""
        uses = list(value.uses)
        user = uses[0].operation if len(uses) == 1 else None
        nearby = user is not None and user.parent is self._block_of(value)
        nearby = nearby and value not in self.addresses.parts
        yielded = nearby and isinstance(user, tile.YieldOp | scf.YieldOp)
        short = len(code.text(expression)) <= INLINE and not self._must_name(user)
        if yielded or (nearby and short):
            self.values[value] = expression
        else:
            self._assign(value, expression, default)

    def _must_name(self, user: Operation | None) -> bool:
        """Returns whether an operand reads better as a name."""
        return isinstance(user, tile.DotOp)

    def _assign(self, value: SSAValue, expression: ast.expr, default: str) -> None:
        if not value.uses:
            return
        variable = self._variable(value, default)
        self.writer.assign(variable, expression)
        self.values[value] = code.name(variable)

    def _block_of(self, value: SSAValue) -> Block | None:
        owner = value.owner
        return owner if isinstance(owner, Block) else owner.parent

    def _is_tensor(self, value: SSAValue) -> bool:
        """Returns whether a value is surely a tensor of Triton's (an index may be a number)."""
        return bool(axes_of(value.type)) or value in self.tensors

    # Shapes

    def _extent(self, axis: Axis) -> ast.expr:
        if isinstance(axis.extent, str):
            return code.name(self.signature.tiles[axis.extent])
        return code.constant(axis.extent)

    def _shape(self, type: Attribute) -> ast.expr:
        return code.tuple_of([self._extent(axis) for axis in axes_of(type)])

    def _spread(self, value: SSAValue, axes: Sequence[Axis]) -> ast.expr:
        """A value with its axes in an order, and axes of one element for those that it lacks."""
        return self._spread_out(self.values[value], value.type, axes)

    def _spread_out(self, found: ast.expr, type: Attribute, axes: Sequence[Axis]) -> ast.expr:
        names = axis_names(type)
        order = [names.index(axis.name) for axis in axes if axis.name in names]
        if order != sorted(order):
            found = _transposed(found, order)
        return code.new_axes(found, [axis.name in names for axis in axes])

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
                index = code.call("tl.program_id", code.constant(0))
                wide = code.method(index, "to", code.name(self.signature.index))
                self.tensors.add(op.result)
                self.wide.add(op.result)
                self._assign(op.result, wide, "pid")
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
        accurate = self.kernel.is_accurate
        expression = scalar_expression(op, lambda v: self.values[v], self._is_tensor, accurate)
        if not isinstance(result.type, IndexType) or any(
            operand in self.tensors for operand in op.operands
        ):
            self.tensors.add(result)
        if any(operand in self.wide for operand in op.operands):
            self.wide.add(result)
        if is_bool(result.type) and meets_tiles:
            # Triton's interpreter takes what a comparison of scalars gives for a number of the
            # compared type when it broadcasts it, and fails or negates it wrongly.
            truth = [code.constant(True), code.constant(False)]
            expression = code.call("tl.where", expression, *truth)
        self._define(result, expression)

    def _range(self, op: tile.RangeOp) -> None:
        self._assign(op.result, self._from(op.origin, self._distances(op.result)), op.label.data)

    def _joined_range(self, op: tile.JoinedRangeOp) -> None:
        for label, origin, indices in zip(names(op.labels), op.origins, op.indices):
            self._assign(indices, self._from(origin, self._distances(indices)), label)

    def _distances(self, value: SSAValue) -> ast.expr:
        """What the indices of a range are from its origin."""
        op = value.owner
        assert isinstance(op, tile.RangeOp | tile.JoinedRangeOp)
        found = code.call("tl.arange", code.constant(0), self._extent(op.axis))
        if op.origin_of(value) not in self.tensors:
            # What comes from the program's id is wide already; a sum is widened before it wraps.
            found = code.method(found, "to", code.name(self.signature.index))
        if isinstance(op, tile.JoinedRangeOp):
            number = op.side_of(value)
            behind = math.prod(op.extents[number + 1 :])
            if behind > 1:
                found = code.binary("//", found, code.constant(behind))
            if number:
                found = code.binary("%", found, code.constant(op.extents[number]))
        elif op.stride > 1:
            found = code.binary("*", found, code.constant(op.stride))
        return found

    def _from(self, origin: SSAValue, distances: ast.expr) -> ast.expr:
        known = constant_of(origin)
        if known is not None and known.value.data == 0:
            return distances
        return code.binary("+", self.values[origin], distances)

    def _mask(self, op: tile.MaskOp) -> ast.expr:
        bound = self.values[op.bound]
        below = code.compare("<", self.values[op.index], bound)
        axis = axes_of(op.index.type)[0]
        if op.divisor is not None and not self.signature.dynamic:
            needed = code.binary("%", bound, code.constant(op.divisor.value.data))
        elif op.whole is not None and not self.signature.dynamic:
            needed = code.compare("!=", self._extent(axis), bound)
        elif op.end is not None and not self.signature.dynamic:
            needed = code.compare("<", bound, self.values[op.end])
        else:
            return below
        all_true = code.call(
            "tl.full", code.tuple_of([self._extent(axis)]), code.constant(True),
            code.path("tl.int1"),
        )  # fmt: skip
        return code.conditional(needed, below, all_true)

    def _pointer(self, op: tile.LoadOp | tile.StoreOp, axes: Sequence[Axis]) -> ast.expr:
        assert isinstance(op.base, BlockArgument)
        base, strides = self.values[op.base], self.signature.strides[op.base]
        terms: list[ast.expr] = []
        if op in self.moving:
            fixed, access = self.moving[op]
            for index, stride in zip(access.indices, strides):
                moved = self._sum(index.moving, index.number, axes) if index.moving else None
                terms += [] if moved is None else [code.binary("*", moved, code.name(stride))]
            return code.binary("+", fixed, code.total("+", terms))
        for index, stride in zip(op.indices, strides):
            known = constant_of(index)
            if known is None or known.value.data != 0:
                factor = self._sum([Part(index, 1)], 0, axes)
                terms.append(code.binary("*", factor, code.name(stride)))
        return code.binary("+", base, code.total("+", terms)) if terms else base

    def _fixed(self, access: MovingAccess) -> ast.expr:
        """The pointers of an access that are known before a loop."""
        op = access.op
        axes = axes_of(op.result.type if isinstance(op, tile.LoadOp) else op.value.type)
        terms: list[ast.expr] = []
        for index, stride in zip(access.indices, self.signature.strides[op.base]):
            number = 0 if index.moving else index.number
            if index.fixed or number:
                total = self._sum(index.fixed, number, axes)
                terms.append(code.binary("*", total, code.name(stride)))
        return code.binary("+", self.values[op.base], code.total("+", terms))

    def _sum(self, parts: Sequence[Part], number: int, axes: Sequence[Axis]) -> ast.expr:
        """A sum of multiples of indices, as wide as offsets."""
        total: ast.expr | None = code.constant(number) if not parts else None
        for part in parts:
            found = self._distances(part.value) if part.from_origin else self.values[part.value]
            if not axes_of(part.value.type) and part.value not in self.tensors:
                found = code.call("tl.cast", found, code.name(self.signature.index))
            size = abs(part.factor)
            found = found if size == 1 else code.binary("*", found, code.constant(size))
            term = self._spread_out(found, part.value.type, axes)
            if total is None:
                total = term if part.factor > 0 else code.negative(term)
            else:
                total = code.binary("+" if part.factor > 0 else "-", total, term)
        assert total is not None
        if parts and number:
            sign = "+" if number > 0 else "-"
            total = code.binary(sign, total, code.constant(abs(number)))
        return total

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
        pointer = self._pointer(op, axes)
        loaded = code.call("tl.load", pointer, **keywords, **_eviction(op))
        if op.fill is not None and str(op.fill) != str(other):
            # Lanes that are masked off keep the pad, whatever their bounds.
            outside = code.total("&", [*masks, code.inverted(code.total("&", bounds))])
            loaded = code.call("tl.where", outside, typed_literal(op.fill), loaded)
        self._assign(op.result, loaded, "loaded")

    def _store(self, op: tile.StoreOp) -> None:
        axes = axes_of(op.value.type)
        mask = self._masks(op, axes)
        keywords = {} if mask is None else {"mask": mask}
        pointer = self._pointer(op, axes)
        attr = constant_of(op.value)
        value = self.values[op.value] if attr is None else memory_literal(attr)
        self.writer.expression(
            code.call("tl.store", pointer, value, **keywords, **_eviction(op))
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
        self._define(op.result, _transposed(value, [before.index(name) for name in after]))

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
            self._scalar(inner, meets_tiles=not covered[result])
        value = op.yielded
        expression = self.values[value]
        if not covered[value]:
            attr = constant_of(value)
            shown = expression if attr is None else literal(attr)
            expression = filled(self._shape(op.result.type), shown, value.type)
        elif len(covered[value]) < len(axes):
            shape = self._shape(op.result.type)
            expression = code.call("tl.broadcast_to", expression, shape)
        self._define(op.result, expression)

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
        for arg, init, result in zip(carried, op.iter_args, op.results):
            variable = self._variable(result, "acc")
            targets.append(variable)
            self.writer.assign(variable, self._initial(init))
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
        self._name_pointers(op)
        with self.writer.loop(index, code.call(function, *bounds, **options)):
            self._block(op.body.block)
            last = op.body.block.last_op
            assert isinstance(last, scf.YieldOp)
            if carried:
                values = [self.values[value] for value in last.arguments]
                # Several are assigned at once: one may stand on the right of another.
                whole = values[0] if len(values) == 1 else code.tuple_of(values)
                self.writer.assign_all(targets, whole)

    def _name_pointers(self, op: scf.ForOp) -> None:
        """Names the pointers that a loop's accesses are moved from; equal ones once."""
        for access in self.addresses.accesses.get(op, ()):
            fixed = self._fixed(access)
            shown = code.text(fixed)
            block = op.parent
            while block is not None and (block, shown) not in self.pointers:
                block = block.parent_block()
            if block is None:
                block = op.parent
                tensor = self.signature.variables[access.op.base].removesuffix("_ptr")
                variable = self.names.fresh(f"{tensor}_ptrs")
                self.writer.assign(variable, fixed)
                self.pointers[block, shown] = code.name(variable)
            self.moving[access.op] = self.pointers[block, shown], access

    def _bound(self, op: scf.ForOp) -> ast.expr:
        """The end of a loop, as wide as indices: what is behind it must not wrap either."""
        bound, known, step = self.values[op.ub], constant_of(op.ub), constant_of(op.step)
        reach = None if known is None or step is None else known.value.data + step.value.data
        if op.ub in self.wide or (reach is not None and reach < 2**31 and not self.far):
            return bound
        return code.call("tl.cast", bound, code.name(self.signature.index))

    def _initial(self, value: SSAValue) -> ast.expr:
        """Returns the initial value of a loop-carried variable, as a value of its type."""
        attr = constant_of(value)
        if attr is None or (attr.type == f32 and isinstance(attr, FloatAttr)):
            return self.values[value]
        assert isinstance(attr, FloatAttr | IntegerAttr)
        return literal(attr) if attr.type == i32 else typed_literal(attr)


def _transposed(value: ast.expr, order: Sequence[int]) -> ast.expr:
    if len(order) == 2:
        return code.call("tl.trans", value)
    return code.call("tl.permute", value, code.tuple_of([code.constant(n) for n in order]))


def check_consumed(kernel: tile.KernelOp) -> None:
    """Checks that each attribute which a directive or a pass has left is one that is printed.

    Raises:
        CompileError: at the operation with an attribute that nothing prints.
    """
    for op in operations(kernel):
        for name in op.attributes:
            printed = isinstance(op, scf.ForOp) and name == tile.RANGE_OPTIONS
            if not printed and tile.triton_printer(op) is None:
                hint = "a pass that understands it must take it away before the kernel is printed"
                if isinstance(op, scf.ForOp):
                    hint += f"; options of tl.range are printed from '{tile.RANGE_OPTIONS}'"
                raise CompileError(
                    f"nothing has consumed the attribute '{name}' of '{op.name}'",
                    directive_location(op.location), hint,
                )  # fmt: skip


def _eviction(op: tile.LoadOp | tile.StoreOp) -> dict[str, ast.expr]:
    policy = op.eviction_policy
    return {} if policy is None else {"eviction_policy": code.constant(policy.data)}
