"""Parts of a program by themselves: some functions, the rest of what they read being inputs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation

from dt_mlir.analysis.algorithm_sizes import shifted_labels
from dt_mlir.analysis.interface import Interface
from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import argument_named, loops_in, reads_of
from dt_mlir.autoscheduling.decisions import Decision, copies
from dt_mlir.copying import copy_of
from dt_mlir.costs.reading import work_of
from dt_mlir.costs.work import Work
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, loop
from dt_mlir.dialects.formats import name_array, symbol_name
from dt_mlir.passes.convert_dt_to_loop import kernel_of, module_of
from dt_mlir.passes.convert_dt_to_loop_program import AlgorithmProgram
from dt_mlir.passes.schedule_fuse_at_copies import set_arguments
from dt_mlir.passes.schedule_online import OnlinePass
from dt_mlir.passes.schedule_rfactor import RfactorPass
from dt_mlir.passes.schedule_rfactor_parts import set_count
from dt_mlir.scheduling.directive import Directive, Phase
from dt_mlir.traversal import operations_of

KEPT = 24
"""The most parts with fused functions that are remembered: a function nearly always joins one that
was made a few steps before."""

MOST_READS = 32
"""The most reads of a function that joins a kernel. Each may need a copy of it, and of the function
that it reads as many as it has reads itself."""

_Key = tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]


@dataclass(frozen=True)
class _Fused:
    """The key by which a part with fused functions is remembered."""

    functions: tuple[str, ...]
    moves: tuple[Decision, ...]
    """The directives that fuse them."""
    stored: frozenset[str]

    def begins(self, other: _Fused) -> bool:
        """Returns whether another part is this one with more functions, and directives on them."""
        return (
            self.functions == other.functions[: len(self.functions)]
            and self.moves == other.moves[: len(self.moves)]
            and self.stored == other.stored.intersection(self.functions)
        )


@dataclass
class Algorithm:
    """The functions of a program, and what reads what.

    Args:
        module: the program at the `dt` level.
        sizes: a size for each label.
    """

    module: ModuleOp
    sizes: Mapping[str, int]
    functions: dict[str, dt.FuncOp] = field(init=False)
    """The functions by name, each behind those that it reads."""
    outputs: list[str] = field(init=False)
    reads: dict[str, list[str]] = field(init=False)
    """The functions that each function reads, in the order in which it does."""
    readers: dict[str, list[str]] = field(init=False)
    """The functions that read each function."""

    same: dict[str, str] = field(init=False)
    """The first of the labels that have the size of a label, for each."""
    axes: dict[str, ArrayAttr[StringAttr]] = field(init=False)
    """The labels of the axes of each input."""
    _reductions: dict[str, list[dt.ReduceOp]] = field(
        init=False, default_factory=dict[str, list[dt.ReduceOp]]
    )
    _reads: dict[str, dict[str, list[dt.ReadOp]]] = field(
        init=False, default_factory=dict[str, dict[str, list[dt.ReadOp]]]
    )
    """The reads of each function by what they read."""
    _needing: dict[str, set[str]] = field(init=False, default_factory=dict[str, set[str]])
    """The functions that need each label."""
    _reducing: dict[str, set[str]] = field(init=False, default_factory=dict[str, set[str]])
    """The functions that reduce over each label, or read others that do."""
    _shifted: set[tuple[str, int, str]] = field(init=False)
    """The result of `shifted_labels`."""
    _kernel_only: bool = field(init=False)
    """True if the program has no wrapper."""
    _dynamic: bool = field(init=False)
    """True if sizes and strides are run-time arguments of its kernels."""
    _inputs: dict[str, dt.InputOp] = field(init=False, default_factory=dict[str, dt.InputOp])
    """Inputs, and functions as inputs, of parts."""
    _kernels: dict[str, loop.KernelOp] = field(
        init=False, default_factory=dict[str, loop.KernelOp]
    )
    """The kernel of each function by itself."""
    _parts: dict[_Key, LoopProgram] = field(init=False, default_factory=dict[_Key, LoopProgram])
    """Parts at the `loop` level, by their functions, those that are stored, and the directives
    about reductions that are computed together."""

    _splits: dict[Hashable, LoopProgram] = field(
        init=False, default_factory=dict[Hashable, LoopProgram]
    )
    """Parts in which a reduction is split, by all but the number of its parts, which changes in
    them: who keeps one copies it."""
    _known: dict[_Fused, LoopProgram] = field(
        init=False, default_factory=dict[_Fused, LoopProgram]
    )
    """Parts with fused functions, those that were made last at the end."""

    def __post_init__(self) -> None:
        interface = Interface.of(self.module)
        self.same = {label: group[0] for group in interface.groups for label in group}
        self.axes = {
            item.name: name_array([a if isinstance(a, str) else "" for a in item.axes])
            for item in interface.inputs
            if item.axes
        }
        found = {op.sym_name.data: op for op in self.module.ops if isinstance(op, dt.FuncOp)}
        outputs = [op for op in self.module.ops if isinstance(op, dt.OutputOp)]
        self.outputs = [symbol_name(op.function) for op in outputs]
        self._kernel_only = any(op.kernel_only is not None for op in outputs)
        self._dynamic = any(op.dynamic is not None for op in outputs)
        reads = {
            name: list(dict.fromkeys(
                symbol_name(r.source) for r in operations_of(op, dt.ReadOp)
                if symbol_name(r.source) in found
            )) for name, op in found.items()
        }  # fmt: skip
        order: dict[str, None] = {}

        def visit(name: str) -> None:
            if name not in order:
                for read in reads[name]:
                    visit(read)
                order[name] = None

        for name in self.outputs:
            visit(name)
        self.functions = {name: found[name] for name in order}
        self._shifted = shifted_labels(self.functions.values())
        self.reads = {name: reads[name] for name in order}
        self.readers = {name: [] for name in order}
        for name in order:
            for read in reads[name]:
                self.readers[read].append(name)

    def reductions(self, name: str) -> list[dt.ReduceOp]:
        """Returns the reductions of a function."""
        if name not in self._reductions:
            self._reductions[name] = operations_of(self.functions[name], dt.ReduceOp)
        return self._reductions[name]

    def accesses(self, reader: str, name: str) -> list[dt.ReadOp]:
        """Returns the reads of a function by another one."""
        return self._accesses(reader).get(name, [])

    def sources(self, reader: str) -> list[str]:
        """Returns the inputs and functions that a function reads, in the order in which it does."""
        return list(self._accesses(reader))

    def _accesses(self, reader: str) -> dict[str, list[dt.ReadOp]]:
        if reader not in self._reads:
            known = self._reads[reader] = {}
            for op in operations_of(self.functions[reader], dt.ReadOp):
                known.setdefault(symbol_name(op.source), []).append(op)
        return self._reads[reader]

    def needs(self, name: str, label: str) -> bool:
        """Returns whether a function has a label, reduces over it, or reads one that does, by the
        names of labels."""
        if label not in self._needing:
            self._needing[label] = self.with_any_of([label], self.functions)
        return name in self._needing[label]

    def is_along(self, name: str, label: str) -> bool:
        """Returns whether a function has a label, or surely takes reductions over it."""
        if label not in self._reducing:
            found = self._reducing[label] = set[str]()
            for other in self.functions:
                reduced = {each for op in self.reductions(other) for each in op.label_names}
                if label in reduced or not found.isdisjoint(self.reads[other]):
                    found.add(other)
        return name in self._reducing[label] or label in self.functions[name].label_names

    def with_any_of(self, labels: Collection[str], functions: Collection[str]) -> set[str]:
        """Returns those of some functions that have one of some labels, reduce over one, or read
        others of them that do, as `online` looks for what it computes: by names.

        A function that reads rows which are called `j` at another label is one of them, and not
        `is_along` it.
        """
        found = set[str]()
        for name, op in self.functions.items():
            if name in functions:
                own = {*op.label_names}.union(*(r.label_names for r in self.reductions(name)))
                if not (own.isdisjoint(labels) and found.isdisjoint(self.reads[name])):
                    found.add(name)
        return found

    def is_whole(self, functions: Collection[str]) -> bool:
        """Returns whether some functions are all that the program defines."""
        defined = (op.sym_name.data for op in self.module.ops if isinstance(op, dt.FuncOp))
        return {*functions} == {*defined}

    def part(self, functions: Sequence[str], stored: Collection[str] = ()) -> list[Operation]:
        """Returns the program of some functions; others that they read are its inputs.

        Args:
            functions: their names. The results of the first one are wanted, and of the others
                those that the whole program returns.
            stored: others of them whose results are wanted, too.

        Returns:
            The operations of the `dt` level, those of this program where they are the same.
        """
        kept = set(functions)
        read = {name for function in kept for name in self.reads[function]} - kept
        found: list[Operation] = []
        for op in self.module.ops:
            if isinstance(op, dt.LabelOp):
                found.append(op)
            elif isinstance(op, dt.InputOp):
                found.append(self._input(op))
            elif isinstance(op, dt.FuncOp):
                name = op.sym_name.data
                # One that reads itself is refused.
                found += [self._input(op)] if name in read else []
                found += [op] if name in kept else []
        for place, name in enumerate(functions):
            if place == 0 or name in self.outputs or name in stored:
                found.append(dt.OutputOp(name, self._kernel_only, self._dynamic))
        return found

    def _input(self, op: dt.InputOp | dt.FuncOp) -> dt.InputOp:
        """Returns an input, or a function as one, with the labels of its axes."""
        name = op.sym_name.data
        if name not in self._inputs:
            if isinstance(op, dt.InputOp):
                made = op.clone()
                # Functions that are left out may be what says how an axis is called.
                made.axes = made.axes or self.axes.get(name)
            else:
                shape = [DYNAMIC_INDEX] * len(op.label_names)
                made = dt.InputOp(name, TensorType(op.element, shape), op.label_names)
                made.location = op.location
            self._inputs[name] = made
        return self._inputs[name]

    def works(self, functions: Sequence[str], decisions: Sequence[Decision]) -> list[Work]:
        """Returns what the kernels of a part do under some directives.

        Args:
            functions: the part's functions, as for `part`.
            decisions: directives; those of one phase in the order in which they take effect.

        Raises:
            CompileError: where a directive is not legal.
        """
        module = self._divided(functions, decisions).module
        sizes = Interface.of(module).completed(self.sizes)
        # What is stored between kernels is aligned where that matters.
        stored = set(self.functions) - set(self.outputs) | copies(decisions)
        return [work_of(op, sizes, stored) for op in module.ops if isinstance(op, loop.KernelOp)]

    def loops(
        self, functions: Sequence[str], decisions: Sequence[Decision]
    ) -> set[tuple[str, str]]:
        """Returns the functions and labels of the loops of a part; arguments as for `works`."""
        said = [item.directive for item in decisions]
        made = [d for d, item in zip(decisions, said) if item.phase_among(said) < Phase.PARTITION]
        return {
            (op.function.data, op.label_name)
            for kernel in self._divided(functions, made).kernels for op in loops_in(kernel)
        }  # fmt: skip

    def _divided(self, functions: Sequence[str], decisions: Sequence[Decision]) -> LoopProgram:
        """Returns a part under some directives, to be read until the next one is made.

        Parts that differ in the number of parts of a reduction alone are one program, in which that
        number changes.
        """
        split = [item for item in decisions if item.name == "rfactor"]
        if len(split) != 1 or any(item.name == "scan" for item in decisions):
            return self._scheduled(functions, decisions)
        (label, count, _), *rest = split[0].arguments
        assert label is not None
        assert isinstance(count, int)
        others = tuple(item for item in decisions if item is not split[0])
        key = tuple(functions), others, split[0].function, label, tuple(rest)
        found = self._splits.get(key)
        if found is None:
            found = self._splits[key] = self._scheduled(functions, decisions, own=True)
        else:
            set_count(found, label, count)
        return found

    def scheduled(self, functions: Sequence[str], decisions: Sequence[Decision]) -> ModuleOp:
        """Returns a part at the `loop` level under some directives; arguments as for `works`.

        Raises:
            CompileError: where a directive is not legal.
        """
        said = [item.directive for item in decisions]
        phases = [item.phase_among(said) for item in said]
        # Directives about blocks and tiles change nothing that those before them look at.
        made = [item for item, phase in zip(decisions, phases) if phase < Phase.PARTITION]
        program = self._divided(functions, made).copy()
        rest = [item for item in zip(phases, said) if item[0] >= Phase.PARTITION]
        for _, directive in sorted(rest, key=lambda item: item[0]):
            directive.run(program, None)
        return program.module

    def share_kernels(self, other: Algorithm, functions: Iterable[str]) -> None:
        """Takes the kernels of functions by themselves from another program, as far as it has them.

        Args:
            other: the program.
            functions: functions that are the same in both, labels included.
        """
        known = ((name, other._kernels.get(name)) for name in functions)
        self._kernels.update((name, kernel) for name, kernel in known if kernel is not None)

    def is_legal(self, decisions: Sequence[Decision], others: Collection[str] = ()) -> bool:
        """Returns whether a schedule is legal whose kernels are, each by itself.

        Directives about the blocks and tiles of a kernel, hints and promises look at nothing else:
        it is enough that there is a kernel.

        Args:
            decisions: the schedule of the program, or of some of its kernels.
            others: the functions of its other kernels, which these must not compute.
        """
        rank = {name: place for place, name in enumerate(reversed(self.functions))}
        said = [item.directive for item in decisions]

        def order(directive: Directive) -> tuple[Phase, int]:
            phase = directive.phase_among(said)
            return phase, rank.get(directive.function, 0) if phase is Phase.FUSION else 0

        rest = [name for name in reversed(self.functions) if name not in self.outputs]
        program = self._converted((*self.outputs, *rest), ())
        try:
            for directive in sorted(said, key=order):
                phase = order(directive)[0]
                if phase < Phase.PARTITION or phase is Phase.STORAGE:
                    directive.run(program, None)
                elif program.kernel_of(directive.function) is None:
                    return False
        except CompileError:
            return False
        return all(program.kernel_of(name) is not None for name in others)

    def _scheduled(
        self, functions: Sequence[str], decisions: Sequence[Decision], own: bool = False
    ) -> LoopProgram:
        """Returns a part under some directives: one that may be changed, or shared with others."""
        stored = frozenset(name for item in decisions for name in item.stored)
        said = [item.directive for item in decisions]
        directives = sorted(said, key=lambda item: item.phase_among(said))
        moves = [i for i, d in zip(decisions, said) if d.phase_among(said) is Phase.FUSION]
        before = [item for item in directives if item.phase_among(said) < Phase.FUSION]
        if moves and (not before or self._may_follow(before, moves)):
            program = self._fused(tuple(functions), tuple(moves), stored)
            rest = [item for item in directives if item.phase_among(said) is not Phase.FUSION]
        else:
            together = [item for item in directives if item.phase is Phase.ALGEBRA]
            program = self._gathered(tuple(functions), stored, together)
            rest = directives[len(together) :]
        if rest or own:
            program = program.copy()
        for directive in rest:
            directive.run(program, None)
        return program

    def _may_follow(self, directives: Iterable[Directive], moves: Iterable[Decision]) -> bool:
        """Returns whether directives do the same behind those that fuse functions: the parts of a
        reduction read what is computed for an element of theirs as the whole of it does."""
        elementwise = all(
            item.name == "inline" and not self.reductions(item.function) for item in moves
        )
        return elementwise and all(isinstance(item, RfactorPass) for item in directives)

    def _fused(
        self, functions: tuple[str, ...], moves: tuple[Decision, ...], stored: frozenset[str]
    ) -> LoopProgram:
        """Returns a part whose functions are fused, made from one that was fused before.

        It holds what directives would make of all functions at once: those that joined later were
        inputs until then, and read nothing of it.

        Args:
            functions: the part's functions, as for `part`.
            moves: the directives that fuse them.
            stored: others of them whose results are wanted, too.

        Raises:
            CompileError: where a directive is not legal.
        """
        key = _Fused(functions, moves, stored)
        if key in self._known:
            return self._known[key]
        found = [
            other for other in self._known
            if other.begins(key) and not self._read_any_of(other.functions, functions)
        ]  # fmt: skip
        before = max(found, key=lambda o: (len(o.functions), len(o.moves)), default=None)
        done = 0 if before is None else len(before.moves)
        if before is None:
            program = self._converted(functions, stored)
        elif before.functions == functions:
            program = self._known[before].copy()
        else:
            program = self._widened(self._known[before], before.functions, functions, stored)
        for item in moves[done:]:
            if _reads_of(program, item.function) > MOST_READS:
                raise CompileError(f"'{item.function}' is read in more than {MOST_READS} places")
            item.directive.run(program, None)
        self._keep(key, program)
        return program

    def _read_any_of(self, part: Sequence[str], functions: Sequence[str]) -> bool:
        """Returns whether functions behind those of a part read what it computes."""
        others = functions[len(part) :]
        return any(not set(part).isdisjoint(self.reads[name]) for name in others)

    def _keep(self, key: _Fused, program: LoopProgram) -> None:
        self._known[key] = program
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]

    def _widened(
        self, program: LoopProgram, before: Sequence[str], functions: Sequence[str],
        stored: Collection[str],
    ) -> LoopProgram:
        """Returns a part with more functions, each of which has a kernel of its own.

        Args:
            program: the part with fewer functions; it is not changed.
            before: these functions.
            functions: all functions.
            stored: others of them whose results are wanted, too.
        """
        kernels = {kernel.root.data: copy_of(kernel) for kernel in program.kernels}
        ready = {name: kernels.get(name) for name in before}
        found = program.in_module(self._module(functions, stored, ready))
        used = {name for kernel in found.kernels for name in kernel.argument_names}
        for name in before:
            if name not in used:
                found.drop_tensor(name)
        self._order_arguments(found)
        return found

    def _converted(self, functions: Sequence[str], stored: Collection[str]) -> LoopProgram:
        """Returns a part at the `loop` level, which may be changed; arguments as for `part`."""
        found = LoopProgram(self._module(functions, stored, {}))
        self._order_arguments(found)
        return found

    def _module(
        self, functions: Sequence[str], stored: Collection[str],
        ready: Mapping[str, loop.KernelOp | None],
    ) -> ModuleOp:
        """Returns a part at the `loop` level, the arguments of its kernels in whatever order.

        Args:
            functions: the functions, as for `part`.
            stored: others of them whose results are wanted, as for `part`.
            ready: functions that have a kernel already, each with it, or with None if that of
                another one computes it.
        """
        # What a part reads, the rest may read in a window: the labels of that have other sizes.
        program = AlgorithmProgram(self.part(functions, stored), self._shifted)
        made = dict(ready)
        for name in program.order:
            if name not in made:
                if name not in self._kernels:
                    self._kernels[name] = kernel_of(program, copy_of(self.functions[name]))
                made[name] = copy_of(self._kernels[name])
        kernels = [kernel for name in program.order if (kernel := made[name]) is not None]
        return module_of(program, kernels)

    def _order_arguments(self, program: LoopProgram) -> None:
        """Gives kernels their arguments in order: a function that is an input has another place."""
        for kernel in program.kernels:
            set_arguments(program, kernel, {*kernel.argument_names})
            program.pass_arguments(kernel)

    def _gathered(
        self, functions: tuple[str, ...], stored: frozenset[str], directives: Sequence[Directive]
    ) -> LoopProgram:
        """Returns a part under directives about reductions that are computed together.

        Several schedules of a part have these in common, which take long.
        """
        key = functions, stored, tuple(item.text() for item in directives)
        found = self._parts.get(key)
        if found is None:
            found = self._gathered_before(key, directives)
        if found is None:
            found = self._converted(functions, stored)
            for directive in directives:
                directive.run(found, None)
        self._parts[key] = found
        return found

    def _gathered_before(self, key: _Key, directives: Sequence[Directive]) -> LoopProgram | None:
        """Returns a part under directives about passes, made from one with fewer functions under
        them; None if there is none to which the others mean nothing.

        That is where they read nothing of it, and neither have the labels of the passes, nor reduce
        over them, nor read what does in the part.
        """
        functions, stored, said = key
        labels = {item.label for item in directives if isinstance(item, OnlinePass)}
        if not all(isinstance(item, OnlinePass) for item in directives):
            return None
        meant = self.with_any_of(labels, functions)
        count = len(functions)
        while count and functions[count - 1] not in meant:
            count -= 1
            fewer = functions[:count]
            before = self._parts.get((fewer, stored, said))
            if before is not None and not self._read_any_of(fewer, functions):
                return self._widened(before, fewer, functions, stored)
        return None


def _reads_of(program: LoopProgram, function: str) -> int:
    """Returns how many operations read a function in the kernels that it does not define."""
    arguments = [argument_named(kernel, function) for kernel in program.users_of(function)]
    return sum(len(reads_of(found)) for found in arguments if found is not None)
