"""Prints the host part of a module: the function that takes tensors and launches the kernels."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    IntegerType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, SSAValue

from dt_mlir.analysis.tile_sizes import TILE_LIMIT
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.boxes import described
from dt_mlir.backend.triton.clear import BLOCK, CLEAR
from dt_mlir.backend.triton.scalars import constant_of
from dt_mlir.backend.triton.signature import RESERVED, Signature
from dt_mlir.backend.triton.sizes import (
    SMALL_OFFSET,
    bounded_range,
    reach_of,
    size_expression,
)
from dt_mlir.dialects import host, tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import Axis, axes_of
from dt_mlir.element_types import (
    MODERATE,
    TORCH_TYPES,
    integer_range,
    is_bool,
    is_float,
    type_name,
)
from dt_mlir.traversal import operations, operations_of, values_of


def torch_type(type: Attribute) -> ast.expr:
    """PyTorch's name of an element type."""
    return code.path(f"torch.{TORCH_TYPES[type_name(type)]}")


@dataclass
class _Tensor:
    """A tensor of the host function."""

    name: str
    variable: str
    axes: tuple[str, ...]
    element: Attribute
    ranked: bool = True


class WrapperPrinter:
    """Prints the wrapper of a module.

    Args:
        function: the host function.
        kernels: the kernels.
        signatures: the kernels' signatures, by symbol.
        name: the wrapper's name.
    """

    def __init__(
        self,
        function: host.FuncOp,
        kernels: Sequence[GridKernelOp],
        signatures: dict[str, Signature],
        name: str,
    ) -> None:
        self.function = function
        self.kernels = {op.sym_name.data: (op, signatures[op.sym_name.data]) for op in kernels}
        taken = {name, *(signature.name for signature in signatures.values())}
        self.name = name
        self.names = code.Names({*RESERVED, *taken, "out"})
        self.same = function.first_of_same()
        self.writer = code.Writer()
        self.tensors: dict[SSAValue, _Tensor] = {}
        self.scalars: dict[SSAValue, str] = {}
        self.sizes: dict[str, str] = {}
        self.paddings: dict[tuple[str, int], str] = {}
        """The padded extent of a whole label, by the label and its least extent."""
        self.used: set[str] = set()

    def print(self) -> ast.FunctionDef:
        """The function."""
        for value, name, axes, _ in self.function.arguments():
            variable = self.names.fresh(name)
            type = value.type
            if isinstance(type, MemRefType | UnrankedMemRefType):
                ranked = isinstance(type, MemRefType)
                element = type.element_type
                self.tensors[value] = _Tensor(name, variable, axes, element, ranked)
            else:
                self.scalars[value] = variable
        inputs = list(self.tensors.values())
        free = self._free_labels(inputs)
        parameters = [t.variable for t in inputs] + list(self.scalars.values())
        keywords = [self._size_name(label) for label in free]
        self._check_inputs(inputs)
        self._sizes(inputs, free)
        self._definitions(inputs)
        self._least()
        self._bounds()
        self._outputs(inputs)
        self._launches(inputs)
        results = [code.name(self.tensors[value].variable) for value in self.function.returned()]
        self.writer.returns(results[0] if len(results) == 1 else code.tuple_of(results))
        return code.function(
            self.name, [code.Parameter(parameter) for parameter in parameters],
            self._documentation(inputs, free), self.writer.statements,
            [*map(code.Parameter, keywords), code.Parameter("out", None, code.constant(None))],
        )  # fmt: skip

    def _label(self, label: str) -> str:
        """The first of the labels that have a label's size."""
        return self.same.get(label, label)

    def _needed_labels(self) -> list[str]:
        """The labels whose sizes the algorithm needs, one for each size.

        Those that a schedule leaves without a loop are among them: how a program is called, and
        what it refuses, does not depend on its schedule.
        """
        return list(dict.fromkeys(map(self._label, self.function.label_names)))

    def _free_labels(self, inputs: list[_Tensor]) -> list[str]:
        """The labels that only the caller knows."""
        bound = {self._label(axis) for t in inputs for axis in t.axes}
        bound |= {self._label(item.label) for item in self.function.definitions()}
        return [label for label in self._needed_labels() if label not in bound]

    def _size_name(self, label: str) -> str:
        if label not in self.sizes:
            self.sizes[label] = self.names.fresh(label)
        return self.sizes[label]

    def _size(self, label: str) -> ast.expr:
        return code.name(self.sizes[self._label(label)])

    def _documentation(self, inputs: list[_Tensor], free: list[str]) -> list[str]:
        results = ", ".join(
            f"{host.tensor_name(value)}[{', '.join(host.tensor_axes(value))}]"
            for value in self.function.returned()
        )
        lines = [f"Compute {results}.", "", "Args:"]
        for t in inputs:
            axes = f"[{', '.join(a or '_' for a in t.axes)}]" if t.ranked else ""
            lines.append(f"    {t.variable}: {t.name}{axes}, of {type_name(t.element)}.")
        lines.extend(f"    {v}: a scalar of {type_name(s.type)}." for s, v in self.scalars.items())
        lines.extend(f"    {self.sizes[label]}: the size of '{label}'." for label in free)
        lines.append("    out: where the result goes (several: a tuple); allocated if None.")
        return lines

    def _call(self, helper: str, *args: ast.expr) -> ast.expr:
        self.used.add(helper)
        return code.call(helper, code.constant(self.name), *args)

    def _check_inputs(self, inputs: list[_Tensor]) -> None:
        for t in inputs:
            axes = (
                code.tuple_of([code.constant(axis or "_") for axis in t.axes])
                if t.ranked
                else code.constant(None)
            )
            self.writer.expression(
                self._call(
                    "_check_tensor",
                    code.constant(t.name),
                    code.name(t.variable),
                    axes,
                    torch_type(t.element),
                )
            )
        for value, variable in self.scalars.items():
            kind = "bool" if is_bool(value.type) else (
                "numbers.Real" if is_float(value.type) else "numbers.Integral"
            )
            args = [code.constant(variable), code.name(variable), code.path(kind)]
            if isinstance(value.type, IntegerType) and not is_bool(value.type):
                args += map(code.constant, integer_range(value.type))
            self.writer.assign(variable, self._call("_check_scalar", *args))
        for t in inputs[1:]:
            first = inputs[0]
            self.writer.expression(
                self._call(
                    "_check_device",
                    code.constant(t.name),
                    code.name(t.variable),
                    code.constant(first.name),
                    code.name(first.variable),
                )
            )

    def _sizes(self, inputs: list[_Tensor], free: list[str]) -> None:
        for label in free:
            self.writer.expression(
                self._call("_check_label", code.constant(label), self._size(label))
            )
        known: dict[str, tuple[str, int]] = {}
        for t in inputs:
            for axis, label in enumerate(t.axes):
                if not label:
                    continue
                size = code.subscript(
                    code.path(f"{t.variable}.shape"), [code.constant(axis)]
                )
                first = self._label(label)
                if first not in known:
                    known[first] = t.name, axis
                    self.writer.assign(self._size_name(first), size)
                    continue
                name, at = known[first]
                self.writer.expression(
                    self._call(
                        "_check_size",
                        code.constant(label),
                        code.constant(t.name),
                        code.constant(axis),
                        size,
                        code.constant(name),
                        code.constant(at),
                        self._size(first),
                    )
                )

    def _definitions(self, inputs: list[_Tensor]) -> None:
        """Sizes that follow from others."""
        bound = {self._label(axis) for t in inputs for axis in t.axes}
        for item in self.function.definitions():
            label = self._label(item.label)
            sizes = [self._size(other) for other in item.sizes]
            value = size_expression(item.map, sizes)
            known = [code.name(self.sizes[label])] if label in bound else []
            helper = "_inferred_size" if item.inferred else "_defined_size"
            found = self._call(
                helper, code.constant(item.label), code.function_of_nothing(value), *known
            )
            if known:
                self.writer.expression(found)
            else:
                self.writer.assign(self._size_name(label), found)
                bound.add(label)

    def _bounds(self) -> None:
        """Checks of indices that are not a label or a number by themselves."""
        for item in self.function.bounds():
            scope = [self._size(label) for label in item.over]
            sizes = [self._size(label) for label in item.sizes]
            ends = code.tuple_of(list(bounded_range(item.expr, item.constraints, scope, sizes)))
            scope = list({code.text(size): size for size in scope}.values())
            self.writer.expression(
                self._call(
                    "_check_index", code.constant(item.reason), code.tuple_of(scope),
                    code.function_of_nothing(ends), self._size(item.label),
                )  # fmt: skip
            )

    def _least(self) -> None:
        """Sizes that reading by numbers, or a reduction without identity, asks for."""
        for value, name, _, minimums in self.function.arguments():
            for axis, least in enumerate(minimums):
                if not least:
                    continue
                variable = self.tensors[value].variable
                size = code.subscript(code.path(f"{variable}.shape"), [code.constant(axis)])
                what = f"axis {axis} of '{name}'"
                rank = len(self.tensors[value].axes)
                reason = f"reading {name}[{host.shown_indices(axis, least - 1, rank)}]"
                self._check_least(what, size, least, reason)
        needed = set(self._needed_labels())
        checked: dict[tuple[str, int], str] = {}
        for label, size in self.function.fixed_sizes().items():
            # Of labels of one size, the one that is asked for may not be the one that is fixed.
            checked.setdefault((self._label(label), size), label)
        for (own, size), label in checked.items():
            if own in needed:
                sizes = self._size(label), code.constant(size)
                check = self._call("_check_fixed", code.constant(label), *sizes)
                self.writer.expression(check)
        for item in self.function.nonempty or ():
            label = item.label.data
            if self._label(label) in needed:
                size, reason = self._size(label), item.reason.data
                self._check_least(f"'{label}'", size, item.size.data, reason)

    def _check_least(self, what: str, size: ast.expr, least: int, reason: str) -> None:
        self.writer.expression(
            self._call(
                "_check_least", code.constant(what), size, code.constant(least),
                code.constant(reason),
            )  # fmt: skip
        )

    def _outputs(self, inputs: list[_Tensor]) -> None:
        device = code.path(f"{inputs[0].variable}.device") if inputs else self._default_device()
        several = len(self.function.returned()) > 1
        if several:
            count = len(self.function.returned())
            outs = self._call("_check_outs", code.name("out"), code.constant(count))
            self.writer.assign("out", outs)
        for op in self.function.allocations():
            value, axes, name = op.result, op.axis_names, op.tensor.data
            assert isinstance(value.type, MemRefType)
            element = value.type.element_type
            single = value in self.function.returned() and not several
            variable = "out" if single else self.names.fresh(name)
            tensor = _Tensor(name, variable, axes, element)
            order = op.storage_order
            extents = [
                _rounded_up(self._size(axis), multiple)
                for axis, multiple in zip(axes, host.alignment_of(value))
            ]
            shape = code.tuple_of([extents[axis] for axis in order])
            if value in self.function.returned():
                given = code.name("out")
                if several:
                    number = self.function.returned().index(value)
                    given = code.subscript(given, [code.constant(number)])
                shown = ast.Dict(
                    [code.constant(t.name) for t in self.tensors.values()],
                    [code.name(t.variable) for t in self.tensors.values()],
                )
                result = self._call(
                    "_check_out", code.constant(name), given, shape, torch_type(element), device,
                    shown,
                )  # fmt: skip
            else:
                if op.summed is not None:
                    shape = code.tuple_of([code.constant(1), *extents[1:]])
                result = code.call(
                    "torch.empty", shape, dtype=torch_type(element), device=device
                )
                if op.summed is not None:
                    # The indices of the first axis share an element.
                    first = code.call("max", extents[0], code.constant(1))
                    rest = [code.constant(-1)] * (len(extents) - 1)
                    result = code.method(result, "expand", first, *rest)
                if order != sorted(order):
                    places = [code.constant(order.index(axis)) for axis in range(len(order))]
                    result = code.method(result, "permute", *places)
            self.writer.assign(tensor.variable, result)
            self.tensors[value] = tensor

    def _default_device(self) -> ast.expr:
        self.used.add("_default_device")
        return code.call("_default_device", code.name("out"))

    def _launches(self, inputs: list[_Tensor]) -> None:
        first = next(iter(self.tensors.values()))
        for op in self.function.launches():
            kernel, signature = self.kernels[op.kernel_name]
            self._constants(kernel, signature, op)
        device = code.path(f"{first.variable}.device")
        for op in self.function.launches():
            kernel, _ = self.kernels[op.kernel_name]
            what = code.constant(f"'{op.kernel_name}'{largest_tile(kernel)}")
            with self.writer.context(self._call("_launching", device, what)):
                self._launch(op)

    def _constants(self, kernel: GridKernelOp, signature: Signature, op: host.LaunchOp) -> None:
        """The padded extents of whole labels, and the checks of the tiles that have them."""
        for label in signature.tiles:
            least = kernel.least_extents.get(label, 1)
            if (label, least) in self.paddings:
                continue
            variable = self.paddings[label, least] = self.names.fresh(f"{label}_TILE")
            power = code.call("triton.next_power_of_2", self._size(label))
            self.writer.assign(variable, code.call("max", code.constant(least), power))
        for tile_axes, count, symbols, where in symbolic_tiles(kernel):
            factors: list[ast.expr] = [code.constant(count)] if count > 1 else []
            factors += [self._tile_constant(kernel, label) for label in symbols]
            self.writer.expression(
                self._call(
                    "_check_tile", code.constant(tile_axes), code.total("*", factors),
                    code.constant(where),
                )  # fmt: skip
            )

    def _tile_constant(self, kernel: GridKernelOp, label: str) -> ast.expr:
        return code.name(self.paddings[label, kernel.least_extents.get(label, 1)])

    def _launch(self, op: host.LaunchOp) -> None:
        self._launch_kernel(op, op.kernel_name)

    def _launch_kernel(self, op: host.LaunchOp, name: str) -> None:
        kernel, signature = self.kernels[name]
        stored = [self.tensors[v] for v in self._written(op, kernel)]
        blocks = [
            code.call("triton.cdiv", self._size(label), code.constant(extent))
            if extent > 1
            else self._size(label)
            for label, extent in kernel.grid
        ]
        grid: ast.expr = code.tuple_of([code.constant(1)])
        if blocks:
            grid = self._call("_grid", code.total("*", blocks))
        if kernel.programs is not None:
            device = code.path(f"{next(iter(self.tensors.values())).variable}.device")
            programs = code.constant(kernel.programs.value.data)
            grid = self._call("_persistent_grid", code.total("*", blocks), device, programs)
        # There is nothing to do for an empty result, and no instance to launch.
        summed = [t for t in stored if t.name in kernel.summed_names]
        counts = [
            code.total("*", [self._size(axis) for axis in t.axes]) if t in summed
            # What is added to has storage where it has no parts.
            else code.method(code.name(t.variable), "numel")
            for t in stored
        ]  # fmt: skip
        wanted = code.disjunction(counts) if all(t.axes for t in stored) else None
        for tensor in summed:
            self._clear(tensor)
        args, keywords = self._arguments(op, kernel, signature)
        launcher = code.subscript(code.name(signature.name), [grid])
        with self.writer.branch(wanted):
            self.writer.expression(code.call(launcher, *args, **keywords))

    def _clear(self, tensor: _Tensor) -> None:
        """Launches the kernel that clears what is added to."""
        sizes = [self._size(axis) for axis in tensor.axes[1:]]
        count = code.total("*", sizes) if sizes else code.constant(1)
        grid = self._call("_grid", code.call("triton.cdiv", count, code.constant(BLOCK)))
        launcher = code.subscript(code.name(CLEAR), [grid])
        with self.writer.branch(count if len(tensor.axes) > 1 else None):
            self.writer.expression(
                code.call(launcher, code.name(tensor.variable), count, BLOCK=code.constant(BLOCK))
            )

    def _arguments(
        self, op: host.LaunchOp, kernel: GridKernelOp, signature: Signature
    ) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        """The arguments of a launch: those by position, and those by name."""
        args: list[ast.expr] = []
        tensors: list[str] = []
        for value in op.arguments:
            if value in self.tensors:
                variable = self.tensors[value].variable
                tensors.append(variable)
                args.append(code.name(variable))
        for value in op.arguments:
            if value in self.scalars:
                args.append(code.name(self.scalars[value]))
        self.used.add("_is_wide")
        reach = self._reach(kernel, signature)
        wide = code.call("_is_wide", reach, *(code.name(t) for t in tensors))
        if signature.boxes:
            variable = self.names.fresh("is_wide")
            self.writer.assign(variable, wide)
            wide = code.name(variable)
        args.extend(self._boxes(op, kernel, signature, wide))
        args.extend(self._size(label) for label in signature.sizes)
        for value, arg in zip(op.arguments, kernel.args):
            for axis in range(len(signature.strides.get(arg, []))):
                stride = code.path(f"{self.tensors[value].variable}.stride")
                args.append(ast.Call(stride, [code.constant(axis)], []))
        args.extend(self._tile_constant(kernel, label) for label in signature.tiles)
        variables = dict[SSAValue, SSAValue](zip(kernel.args, op.arguments))
        args.extend(self._is_moderate(variables[scalar]) for scalar in signature.moderate)
        keywords: dict[str, ast.expr] = {
            signature.index: code.conditional(
                wide, code.path("tl.int64"), code.path("tl.int32")
            )
        }
        if signature.hopper:
            device = code.path(f"{tensors[0]}.device")
            self.used.add("_is_hopper")
            keywords[signature.hopper] = code.call("_is_hopper", device)
        for hint in ("num_warps", "num_stages"):
            value = kernel.int_hint(hint)
            if value is not None:
                keywords[hint] = code.constant(value)
        if signature.dependent:
            self.used.add("_dependent_launch")
            keywords["**"] = code.call("_dependent_launch", code.path(f"{tensors[0]}.device"))
        return args, keywords

    def _boxes(
        self, op: host.LaunchOp, kernel: GridKernelOp, signature: Signature, wide: ast.expr
    ) -> list[ast.expr]:
        """The descriptors of a launch; none where the device or a tensor does not allow them."""
        if not signature.boxes:
            return []
        given = dict[SSAValue, SSAValue](zip(kernel.args, op.arguments))
        tensors = {base: self.tensors[given[base]] for base, _, _ in signature.boxes}
        self.used.update(["_takes_descriptors", "_tensor_box"])
        allowed = code.call(
            "_takes_descriptors", code.tuple_of([code.name(t.variable) for t in tensors.values()])
        )
        sizes = [code.compare("==", *map(self._size, pair)) for pair in described(kernel).equal]
        variable = self.names.fresh("has_boxes")
        test = code.conjunction([ast.UnaryOp(ast.Not(), wide), *sizes, allowed])
        self.writer.assign(variable, test)
        return [
            code.conditional(
                code.name(variable),
                code.call(
                    "_tensor_box", code.name(tensors[base].variable), code.numbers(extents),
                    *self._ends(ends),
                ),
                code.constant(None),
            ) for base, extents, ends in signature.boxes
        ]  # fmt: skip

    def _ends(self, labels: Sequence[str]) -> list[ast.expr]:
        """The argument that says where a tensor ends for its boxes; none where its storage does."""
        ends = [self._size(label) if label else code.constant(None) for label in labels]
        return [code.tuple_of(ends)] if ends else []

    def _is_moderate(self, scalar: SSAValue) -> ast.expr:
        """The comparison that says whether a scalar is positive and of moderate size."""
        least, most = map(code.constant, MODERATE)
        variable = code.name(self.scalars[scalar])
        return ast.Compare(least, [ast.LtE(), ast.LtE()], [variable, most])

    def _reach(self, kernel: GridKernelOp, signature: Signature) -> ast.expr:
        """The largest index that a tile at the end of a label may have, masked elements too."""
        steps = [extent for _, extent in kernel.grid]
        for op in operations(kernel):
            if isinstance(op, tile.RangeOp) and op.span is not None:
                steps.append(op.span)
            elif isinstance(op, tile.JoinedRangeOp):
                steps += op.extents
            elif isinstance(op, scf.ForOp) and (step := constant_of(op.step)) is not None:
                steps.append(int(step.value.data))
        sizes = [self._size(label) for label in signature.sizes]
        most = sizes[:1] if len(sizes) < 2 else [code.call("max", *sizes)]
        margin = code.constant(max(steps, default=1))
        largest, reach = code.total("+", [*most, margin]), reach_of(kernel)
        if reach is None:
            # An index is multiplied by a size.
            return code.constant(2**31)
        if reach.factor > 1:
            largest = code.binary("*", code.constant(reach.factor), largest)
        far = reach.offset >= SMALL_OFFSET
        return code.binary("+", largest, code.constant(reach.offset)) if far else largest

    def _written(self, op: host.LaunchOp, kernel: GridKernelOp) -> list[SSAValue]:
        """The tensors that a kernel stores to."""
        stored = {inner.base for inner in operations_of(kernel, tile.StoreOp)}
        return [v for v, arg in zip(op.arguments, kernel.args) if arg in stored]


def _rounded_up(size: ast.expr, multiple: int) -> ast.expr:
    """The least multiple of a number that is no less than a size."""
    if multiple == 1:
        return size
    blocks = code.call("triton.cdiv", size, code.constant(multiple))
    return ast.BinOp(blocks, ast.Mult(), code.constant(multiple))


def largest_tile(kernel: GridKernelOp) -> str:
    """The largest tile of a kernel, as a part of a sentence."""
    best: tuple[int, tuple[Axis, ...]] = 1, ()
    for value in values_of(kernel):
        axes = axes_of(value.type)
        count = math.prod(a.extent if isinstance(a.extent, int) else 1024 for a in axes)
        best = max(best, (count, axes), key=lambda item: item[0])
    if not best[1]:
        return ""
    shown = " x ".join(f"{axis.name}: {axis.extent}" for axis in best[1])
    return f", whose largest tile is {shown},"


def symbolic_tiles(kernel: GridKernelOp) -> list[tuple[str, int, tuple[str, ...], str]]:
    """The largest tiles of a kernel for each set of labels that they hold whole.

    Returns:
        For each the axes as text, the product of the known extents, the labels, and where to
        make it smaller.
    """
    largest: dict[tuple[str, ...], tuple[int, tuple[Axis, ...]]] = {}
    for value in values_of(kernel):
        axes = axes_of(value.type)
        symbols = tuple(sorted(a.extent for a in axes if isinstance(a.extent, str)))
        if not symbols:
            continue
        count = 1
        for axis in axes:
            count *= axis.extent if isinstance(axis.extent, int) else 1
        if count > largest.get(symbols, (0, ()))[0]:
            largest[symbols] = count, axes
    places = {op.axis.extent: op for op in operations_of(kernel, tile.RangeOp)}
    found: list[tuple[str, int, tuple[str, ...], str]] = []
    for symbols, (count, axes) in largest.items():
        shown = " x ".join(f"{axis.name}: {axis.extent}" for axis in axes)
        range_op = places.get(symbols[0])
        label = symbols[0] if range_op is None else range_op.label.data
        where = f"step the loop over '{label}' by less than its whole extent, as in "
        where += f"{kernel.root.data}.tensorize({label}:64)"
        found.append((shown, count, symbols, where))
    assert TILE_LIMIT == 2**20
    return found

