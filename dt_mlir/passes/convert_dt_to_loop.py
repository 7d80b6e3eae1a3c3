"""`convert-dt-to-loop`: writes the default schedule of an algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.builders.indices import build_index
from dt_mlir.diagnostics import CompileError, give_locations
from dt_mlir.dialects import dt, host, loop, sched
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.identifiers import memory_hint, value_hint
from dt_mlir.dialects.index_ranges import collected, factor_of
from dt_mlir.dialects.indices import add, dimension, multiply, number, substitute, symbol
from dt_mlir.dialects.numbers import constant
from dt_mlir.passes.convert_dt_to_loop_program import (
    AlgorithmProgram,
    Source,
    host_function,
    is_conditional,
    source_of,
)
from dt_mlir.traversal import operations_of


@dataclass
class _Binder:
    """A loop around the place where something is computed."""

    label: str
    block: Block
    iv: SSAValue
    lowered: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The values of the algorithm that the block computes."""


class _KernelBuilder:
    """Builds the kernel of one function: a nest of loops of step 1 over its labels.

    What the function computes with moves into the kernel, so that nothing can be asked of the
    function afterwards.
    """

    def __init__(self, program: AlgorithmProgram, function: dt.FuncOp) -> None:
        self.program = program
        self.function = function
        self.name = function.sym_name.data
        wanted = {self.name, *(r.source_name for r in program.reads(function))}
        self.arguments = program.in_argument_order(wanted)
        self.entry = Block(arg_types=[program.memref_of(name) for name in self.arguments])
        self.values = dict(zip(self.arguments, self.entry.args))
        for name, value in self.values.items():
            value.name_hint = memory_hint(name)
        self.free: dict[Operation, frozenset[str]] = {}
        self.operands: dict[Operation, tuple[SSAValue, ...]] = {}
        """The operands in the function of the operations that have moved to the kernel."""
        used = program.labels_of(function)
        self.labels = [label for label in program.labels if label in used]
        for op in operations_of(function, dt.ReduceOp):
            self._free_labels(op)

    def build(self) -> loop.KernelOp:
        grid = Block()
        chain = [_Binder("", grid, self.entry.args[0])]
        loops: list[Operation] = []
        for label in self.function.label_names:
            op = loop.ForOp(label, self.name, Region(Block(arg_types=[IndexType()])))
            op.location = self.function.location
            op.iv.name_hint = value_hint(label)
            loops.append(op)
            chain.append(_Binder(label, op.body.block, op.iv))
        value = self.lower(self.function.value, chain)
        ivs = [binder.iv for binder in chain[1:]]
        write = loop.WriteOp(value, self.values[self.name], ivs)
        write.location = self.function.location
        chain[-1].block.add_op(write)
        for binder, op in zip(chain, loops):
            binder.block.add_op(op)
        self.entry.add_op(loop.GridOp(Region(grid)))
        kernel = loop.KernelOp(
            f"{self.name}_kernel",
            self.name,
            self.labels,
            [(name, self.program.axis_labels(name)) for name in self.arguments],
            Region(self.entry),
            dynamic=UnitAttr() if any(o.dynamic for o in self.program.outputs) else None,
        )
        kernel.location = self.function.location
        return kernel

    def lower(self, value: SSAValue, chain: list[_Binder]) -> SSAValue:
        """Lowers what computes a value to the block of the chain's last binder, or further out."""
        for binder in chain:
            found = binder.lowered.get(value)
            if found is not None:
                return found
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, dt.ReduceOp):
            # A reduction belongs to the level of the labels that it depends on.
            chain = chain[: self._depth(op, chain) + 1]
            found = chain[-1].lowered.get(value)
            if found is not None:
                return found
            result = self._reduce(op, op.label_names, chain)
        else:
            result = self._scalar(op, chain)
        chain[-1].lowered[value] = result
        return result

    def _depth(self, op: Operation, chain: list[_Binder]) -> int:
        """The index in the chain of the innermost loop that an operation depends on."""
        free = self._free_labels(op)
        depth = 0
        for i, binder in enumerate(chain):
            if binder.label in free:
                # The innermost loop over a label is the one that is meant.
                depth = i
        return depth

    def _free_labels(self, op: Operation) -> frozenset[str]:
        """The labels that an operation depends on, itself or through what it captures."""
        known = self.free.get(op)
        if known is not None:
            return known
        found: set[str] = set()
        if isinstance(op, dt.ReadOp | dt.IndexOp):
            found.update(op.used_labels)
        for operand in op.operands:
            if isinstance(operand.owner, Operation):
                found |= self._free_labels(operand.owner)
        if isinstance(op, dt.ReduceOp):
            inside = [self._free_labels(inner) for inner in op.body.block.ops]
            found |= frozenset[str]().union(*inside, op.constrained_labels) - set(op.label_names)
        self.free[op] = frozenset(found)
        return self.free[op]

    def _reduce(
        self, op: dt.ReduceOp, labels: tuple[str, ...], chain: list[_Binder]
    ) -> SSAValue:
        label, *rest = labels
        kind = op.kind.data
        body = Block(arg_types=[IndexType()])
        inner = [*chain, _Binder(label, body, body.args[0])]
        last = op.body.block.last_op
        assert isinstance(last, dt.YieldOp)
        if rest:
            # What a domain says of the inner labels alone is said there.
            nested = self._reduce(op, tuple(rest), inner).owner
            assert isinstance(nested, loop.ReduceOp)
            values = [nested.result] if nested.extreme is None else [nested.extreme, nested.result]
            kind = ReductionKind.ADD if kind is ReductionKind.DOT else kind
        else:
            values = [self.lower(value, inner) for value in last.values]
            if kind.is_arg and len(op.labels) > 1:
                values.append(self._place(op, inner))
        body.add_op(loop.YieldOp(*values))
        # Reductions around this one need the element that the index is of.
        partial = kind.is_arg and len(labels) < len(op.labels)
        extreme = values[0].type if partial else None
        result = loop.ReduceOp(kind, label, self.name, op.result.type, Region(body), extreme)
        result.location = op.location
        result.iv.name_hint = value_hint(label)
        self._restrict(op, label, rest, result, chain)
        chain[-1].block.add_op(result)
        return result.result

    def _restrict(
        self,
        op: dt.ReduceOp,
        label: str,
        inner: Sequence[str],
        loop_op: loop.ReduceOp,
        chain: list[_Binder],
    ) -> None:
        """Gives a loop the constraints whose innermost reduced label is its own."""
        labels = op.constrained_labels

        def labels_of(expr: AffineExpr) -> set[str]:
            return {labels[position] for position in expr.used_dims() if position < len(labels)}

        constraints: list[AffineExpr] = []
        for expr in op.constraints:
            used = labels_of(expr)
            if used & set(inner):
                continue
            if label in used or (not inner and not used & set(op.label_names)):
                constraints.append(expr)
        if not constraints:
            return
        used = set[str]().union(*map(labels_of, constraints))
        others = [name for name in labels if name in used and name != label]
        binders = [next(b for b in reversed(chain) if b.label == name) for name in others]
        dims = [dimension(1 + others.index(n)) if n in others else dimension(0) for n in labels]
        symbols = [symbol(i) for i in range(len(op.size_labels))]
        sizes = [self._size(op, name, chain[-1].block) for name in op.size_labels]
        values = [binder.iv for binder in binders]
        results: list[AffineExpr] = []
        for expr in constraints:
            # An expression has one value at most, which is moved for that expression alone.
            place = dimension(1 + len(values))
            results.append(substitute(expr, [*dims, *(place for _ in op.values)], symbols))
            data = [position for position in expr.used_dims() if position >= len(labels)]
            values += [self._bounded(op, expr, position, chain) for position in data]
        loop_op.set_domain(results, values, sizes)

    def _bounded(
        self, op: dt.ReduceOp, expr: AffineExpr, position: int, chain: list[_Binder]
    ) -> SSAValue:
        """Builds a value of a domain as an index that is not beyond what a constraint compares.

        Where `rest + value >= 0` holds does not change if the value is moved to within one of what
        `-rest` can be: the one beyond is for the value that the constraint excludes everywhere.

        Args:
            op: the reduction.
            expr: a constraint with the value, which is added to a sum or taken from it.
            position: the value's dimension.
            chain: the loops around the reduction.
        """
        labels = op.constrained_labels
        value = op.values[position - len(labels)]
        assert isinstance(value.owner, Operation)
        # It is computed around all loops that it does not depend on.
        chain = chain[: self._depth(value.owner, chain) + 1]
        sign = factor_of(expr, position)
        others = add(expr, multiply(dimension(position), number(-sign)))
        rest = collected(multiply(others, number(-sign)))
        occurring = [label for i, label in enumerate(labels) if i in rest.used_dims()]
        names = list(dict.fromkeys([*occurring, *op.size_labels]))
        sizes = [self._size(op, name, chain[-1].block) for name in names]
        symbols = [symbol(names.index(name)) for name in op.size_labels]
        lasts = {i: add(symbol(names.index(labels[i])), number(-1)) for i in rest.used_dims()}
        builder = Builder(InsertPoint.at_end(chain[-1].block))

        def end(largest: bool, beyond: int) -> SSAValue:
            """Builds the largest or the least number that `rest` can be, and one beyond it."""
            ends = [
                lasts[i] if i in lasts and (factor_of(rest, i) > 0) == largest else number(0)
                for i in range(len(labels))
            ]
            found = add(substitute(rest, ends, symbols), number(beyond))
            index = build_index(builder, collected(found), [], sizes)
            return builder.insert(arith.IndexCastOp(index, i64)).result

        below, above = end(False, -1 if sign > 0 else 0), end(True, 0 if sign > 0 else 1)
        lowered = self.lower(value, chain)
        clamped = builder.insert(arith.MaxSIOp(lowered, below)).result
        clamped = builder.insert(arith.MinSIOp(clamped, above)).result
        index = builder.insert(arith.IndexCastOp(clamped, IndexType())).result
        assert isinstance(index.owner, Operation)
        index.name_hint = value.name_hint
        return index

    def _place(self, op: dt.ReduceOp, chain: list[_Binder]) -> SSAValue:
        """The place of an element among all that are reduced, the last label fastest."""
        block = chain[-1].block

        def add(new: Operation) -> SSAValue:
            new.location = op.location
            block.add_op(new)
            return new.results[0]

        place: SSAValue | None = None
        for label, binder in zip(op.label_names, chain[-len(op.labels) :]):
            index = add(arith.IndexCastOp(binder.iv, i64))
            if place is not None:
                size = add(arith.IndexCastOp(add(loop.SizeOp(label)), i64))
                index = add(arith.AddiOp(add(arith.MuliOp(place, size)), index))
            place = index
        assert place is not None
        return place

    def _scalar(self, op: Operation, chain: list[_Binder]) -> SSAValue:
        block = chain[-1].block
        match op:
            case dt.ReadOp():
                return self._read(op, chain)
            case dt.IndexOp():
                iv = next(b.iv for b in reversed(chain) if b.label == op.label.data)
                new: Operation = arith.IndexCastOp(iv, op.result.type)
            case dt.SizeOp():
                new = arith.IndexCastOp(self._size(op, op.label.data, block), op.result.type)
            case dt.ClampOp():
                return self._clamp(op, chain)
            case _:
                new = self._moved(op, chain)
        new.location = op.location
        block.add_op(new)
        return new.results[0]

    def _size(self, op: Operation, label: str, block: Block) -> SSAValue:
        size = loop.SizeOp(label)
        size.location = op.location
        block.add_op(size)
        return size.result

    def _clamp(self, op: dt.ClampOp, chain: list[_Binder]) -> SSAValue:
        """The nearest index in bounds; 0 where the axis is empty, and nothing is read."""
        value, type = self.lower(op.value, chain), op.value.type
        block = chain[-1].block

        def add(new: Operation) -> SSAValue:
            new.location = op.location
            block.add_op(new)
            return new.results[0]

        size = add(arith.IndexCastOp(self._size(op, op.label.data, block), type))
        one, zero = (add(arith.ConstantOp(constant(n, type))) for n in (1, 0))
        below = add(arith.MinSIOp(value, add(arith.SubiOp(size, one))))
        return add(arith.MaxSIOp(below, zero))

    def _narrowed(self, op: dt.ReadOp, value: SSAValue, label: str, block: Block) -> SSAValue:
        """An index that is data as one that reads the same and is about as large as its axis.

        The indices of a kernel have 32 bits where its tensors are small, and data may have 64.
        """
        type = value.type

        def add(new: Operation) -> SSAValue:
            new.location = op.location
            block.add_op(new)
            return new.results[0]

        def number_of(n: int) -> SSAValue:
            return add(arith.ConstantOp(constant(n, type)))

        assert op.boundary is not None
        kind = op.boundary.data
        size = add(arith.IndexCastOp(self._size(op, label, block), type))
        if kind in (CONSTANT, "repeat_edge"):
            below = add(arith.MinSIOp(value, size))
            return add(arith.MaxSIOp(below, number_of(-1)))
        period = size
        if kind == "mirror_interior":
            period = add(arith.SubiOp(period, number_of(1)))
        if kind != "repeat_image":
            period = add(arith.MuliOp(period, number_of(2)))
        period = add(arith.MaxSIOp(period, number_of(1)))
        # The remainder keeps the sign of the value, which the boundary condition takes care of.
        return add(arith.RemSIOp(value, period))

    def _moved(self, op: Operation, chain: list[_Binder]) -> Operation:
        """An operation on lowered operands: itself, or a copy where it is needed again."""
        operands = self.operands.get(op)
        if operands is None:
            operands = self.operands[op] = tuple(op.operands)
            lowered = [self.lower(value, chain) for value in operands]
            op.detach()
        else:
            lowered = [self.lower(value, chain) for value in operands]
            op = op.clone_without_regions()
        op.operands = lowered
        return op

    def _read(self, op: dt.ReadOp, chain: list[_Binder]) -> SSAValue:
        base = self.values[op.source_name]
        block = chain[-1].block
        if not isinstance(base.type, MemRefType):
            if base.type == op.result.type:
                return base
            new: Operation = UnrealizedConversionCastOp.get([base], [op.result.type])
        else:
            values = [
                next(b.iv for b in reversed(chain) if b.label == label)
                for label in op.used_labels
            ]
            for i, value in enumerate(op.values, len(op.labels)):
                data = self.lower(value, chain)
                if op.is_guarded:
                    axis = next(a for a, expr in enumerate(op.indices) if i in expr.used_dims())
                    data = self._narrowed(op, data, self.program.axis_label(op, axis), block)
                cast = arith.IndexCastOp(data, IndexType())
                cast.location = op.location
                block.add_op(cast)
                values.append(cast.result)
            new = loop.ReadOp(base, [])
            new.set_map(op.indices, values, op.size_labels)
            new.boundary, new.exterior = op.boundary, op.exterior
            if op.boundary is None and is_conditional(op):
                # Out of bounds there is nothing in the domain; a mask says so to every level.
                new.boundary = StringAttr(CONSTANT)
                new.exterior = constant(0, new.result.type)
        new.location = op.location
        new.results[0].name_hint = value_hint(op.source_name)
        block.add_op(new)
        return new.results[0]


@dataclass(frozen=True)
class ConvertDtToLoopPass(ModulePass):
    """Writes the default schedule of an algorithm.

    Each function that the outputs need becomes a kernel of its own: one program instance, a nest
    of sequential loops of step 1 over the function's labels in their written order. A reduction
    is a loop at the level of the labels that it depends on. The host part allocates the
    functions' tensors and launches the kernels in dependence order. A schedule in the module
    stays, for `apply-schedule`.

    ```
    dt.func @f[x] : f32 {            loop.kernel @f_kernel(%A, %f) {
      %a = dt.read @A[x] : f32   ->    loop.grid () {
      dt.yield %a : f32                  loop.for %x = x of f {
    }                                      %a = loop.read %A[%x]
                                           loop.write %a, %f[%x]
    ```
    """

    name = "convert-dt-to-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert(op)


def convert(module: ModuleOp) -> None:
    """Gives each function a kernel of its own.

    Args:
        module: the module of the `dt` level, which becomes one of the `loop` level. Its host
            function holds the text of the program.

    Raises:
        CompileError: if the module is not of that level, or has no output.
    """
    if not any(isinstance(inner, dt.OutputOp) for inner in module.ops):
        raise CompileError(
            "there is no 'dt.output' to convert", module, "say what the program is compiled for"
        )
    for inner in module.ops:
        if not isinstance(inner, sched.ScheduleOp) and inner.name.split(".")[0] != "dt":
            raise CompileError(f"'{inner.name}' is not of the 'dt' level", inner)
    program = AlgorithmProgram(list(module.ops))
    source = source_of(program, module)
    kernels = [kernel_of(program, program.functions[name]) for name in program.order]
    new = [_host(program, source, kernels), *kernels]
    for inner in list(module.ops):
        if not isinstance(inner, sched.ScheduleOp):
            Rewriter.erase_op(inner, safe_erase=False)
    first = module.body.block.first_op
    if first is None:
        module.body.block.add_ops(new)
    else:
        module.body.block.insert_ops_before(new, first)


def kernel_of(program: AlgorithmProgram, function: dt.FuncOp) -> loop.KernelOp:
    """Returns the kernel of a function by itself.

    Args:
        program: what the function reads.
        function: the function, which is taken apart.
    """
    kernel = _KernelBuilder(program, function).build()
    give_locations(kernel)
    return kernel


def module_of(program: AlgorithmProgram, kernels: Sequence[loop.KernelOp]) -> ModuleOp:
    """Returns a module of the `loop` level without the program's text.

    Args:
        program: the program, whose functions' tensors are all allocated.
        kernels: its kernels, in the order in which they run, which move to the module. One may
            compute several functions.
    """
    return ModuleOp([_host(program, source_of(program), kernels), *kernels])


def _host(
    program: AlgorithmProgram, source: Source, kernels: Sequence[loop.KernelOp]
) -> host.FuncOp:
    """Returns the host function that launches kernels, which get names of their own."""
    taken = set(program.functions)
    for kernel in kernels:
        while kernel.sym_name.data in taken:
            kernel.sym_name = StringAttr(kernel.sym_name.data + "_")
        taken.add(kernel.sym_name.data)
    name = program.outputs[0].function.root_reference.data
    function = host_function(program, source, kernels, name)
    give_locations(function)
    return function
