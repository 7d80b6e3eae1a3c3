"""Makes the certificate of a compiled program."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.certificates.algorithm import Algorithm
from dt_mlir.certificates.attribution import attributed, kernels_of
from dt_mlir.certificates.equality import Equality, Finding
from dt_mlir.certificates.infinities import extremes_of, products_over_domains
from dt_mlir.certificates.obligation import Certificate, Kind, Obligation, Verdict
from dt_mlir.certificates.parts import Parts
from dt_mlir.certificates.protocols import proof_of
from dt_mlir.certificates.proving import SECONDS, WHOLE, Prover, Query, State
from dt_mlir.certificates.scalars import Scalars
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import Choice, Term, neutral
from dt_mlir.certificates.tests import Tests
from dt_mlir.certificates.tiles import Access, Program, stores_to
from dt_mlir.certificates.universe import Condition, Integer, Universe, evaluated, least
from dt_mlir.certificates.walks import Domain, Walk, all_visited, apart, foreign, visited_once
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, host, tile, warp
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.host.func import Argument
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.frontend.emit import compile_text
from dt_mlir.frontend.parser import parse_program
from dt_mlir.interpreters.hints import without_hints
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text
from dt_mlir.traversal import operations_of

_KINDS = {
    "value": Kind.VALUE, "neutral": Kind.NEUTRAL, "once": Kind.REDUCED, "all": Kind.REDUCED,
}  # fmt: skip
MOST_SCALARS = 3
"""The scalar arguments of a kernel of which each combination of orders is looked at."""
PROTOCOL = 60.0
"""The seconds that a proof about the barriers of a kernel may take."""
APPROXIMATED = (
    "the expansions of elementwise functions approximate them, by as much as is measured"
)
"""The assumption on elementwise functions."""


def certify(
    module: ModuleOp, seconds: float = SECONDS, whole: float = WHOLE, test: bool = True
) -> Certificate:
    """Returns the certificate of a program.

    Args:
        module: the program at the `tile` level, with its algorithm as an attribute of the wrapper.
        seconds: the time for a question to the solver.
        whole: the time for all of them; what is not proved by then is tested.
        test: whether to run the program where an obligation is not proved.

    Raises:
        CompileError: if the module has no wrapper, or kernels of another level.
    """
    return _Certifier(module, seconds, whole).certificate(test)


class _Certifier:
    def __init__(self, module: ModuleOp, seconds: float, whole: float) -> None:
        self.text = module_text(module)
        module = self.module = without_hints(module)
        wrappers = operations_of(module, host.FuncOp)
        if len(wrappers) != 1:
            raise CompileError(
                "a certificate is that of a compiled program: one host function, and what it "
                "launches", module, "dtc FILE --emit warp prints one",
            )  # fmt: skip
        self.wrapper = wrappers[0]
        text = "\n".join(
            line.data
            for lines in (self.wrapper.algorithm, self.wrapper.schedule, self.wrapper.compiled)
            for line in lines or ()
        )
        self.source, _ = compile_text(text, "the algorithm of the module")
        directives = "\n".join(
            line.data
            for lines in (self.wrapper.schedule, self.wrapper.compiled) for line in lines or ()
        )
        tree = parse_program(directives, "the schedule of the module")
        if tree.declarations or tree.definitions:
            raise CompileError(
                "the schedule of the host function defines something", self.wrapper,
                "what is computed is said by 'algorithm' alone",
            )  # fmt: skip
        run_pipeline(self.source, default_pipeline("dt"), verify=False)
        self.universe = Universe()
        self.prover = Prover(self.universe, seconds, whole)
        self.scalars = Scalars(self.prover)
        self.parts = Parts(self.universe)
        products = products_over_domains(self.source)
        self.equality = Equality(self.prover, {", ".join(labels) for _, labels in products})
        self.obligations: list[Obligation] = []
        self.launches = self._launches()
        self.kernels = [kernel for _, kernel in self.launches]
        roots = [kernel.root.data for kernel in self.kernels]
        axes = {item.name: self._axes(item) for item in self.wrapper.arguments()}
        self.algorithm = Algorithm(self.source, self.scalars, roots, axes)
        self.allocs = {op.tensor.data: op for op in operations_of(module, host.AllocOp)}
        self.filled: dict[str, list[Integer]] = {}
        """The extents up to which each element of a tensor is written, as far as is proved."""
        self._sizes()

    def _axes(self, item: Argument) -> list[Integer]:
        """Returns the extents of an argument; the wrapper checks that none is too small."""
        found: list[Integer] = []
        for label, smallest in zip(item.axes, item.minimums, strict=True):
            found.append(
                self.universe.size(label) if label else self.universe.variable(item.name)
            )
            self.universe.know(found[-1], found[-1] >= smallest)
        return found

    def _launches(self) -> list[tuple[host.LaunchOp, tile.KernelOp]]:
        """Returns the launches in their order, each with its kernel."""
        found: list[tuple[host.LaunchOp, tile.KernelOp]] = []
        for launch in operations_of(self.module, host.LaunchOp):
            kernel = launch.kernel_op()
            if not isinstance(kernel, tile.KernelOp):
                level = "no" if kernel is None else f"a '{kernel.name}'"
                raise CompileError(
                    f"a certificate is that of block programs, and '{launch.kernel_name}' is "
                    f"{level} operation", launch, "dtc FILE --emit warp prints one of them",
                )  # fmt: skip
            found.append((launch, kernel))
        return found

    def _sizes(self) -> None:
        """Notes what the wrapper makes sure of: sizes of labels, and what these are at least."""
        own = {op.sym_name.data for op in self.source.ops if isinstance(op, dt.LabelOp)}
        for op in operations_of(self.module, host.DefineOp):
            if op.label.data in own:
                continue
            symbols = [self.universe.size(label) for label in names(op.sizes)]
            size = least([evaluated(expr, [], symbols) for expr in op.size.data.results])
            self.universe.define(op.label.data, z3.If(size > 0, size, 0) if op.inferred else size)
        for label, number in self.wrapper.fixed_sizes().items():
            self.universe.define(label, z3.IntVal(number))
        for item in self.wrapper.nonempty or ():
            size = self.universe.size(item.label.data)
            self.universe.know(size, size >= item.size.data)
        for op in operations_of(self.module, host.InBoundsOp):
            self._checked(op)
        for group in self.wrapper.same or ():
            first, *rest = names(group)
            for label in rest:
                self.universe.define(label, self.universe.size(first))

    def _checked(self, op: host.InBoundsOp) -> None:
        """Notes that an index that the wrapper checks is in bounds at the ends of its labels."""
        bound = op.bound
        axis = self.universe.size(bound.label)
        sizes = [self.universe.size(label) for label in bound.sizes]
        counts = [self.universe.size(label) for label in bound.over]
        for ends in product(*([z3.IntVal(0), count - 1] for count in counts)):
            index = evaluated(bound.expr, ends, sizes)
            inside = [evaluated(expr, ends, sizes) >= 0 for expr in bound.constraints]
            held = z3.And(*(count > 0 for count in counts), *inside)
            self.universe.know(axis, z3.Implies(held, z3.And(index >= 0, index < axis)))

    def certificate(self, test: bool) -> Certificate:
        """Returns the certificate."""
        written: list[str] = []
        self._interface()
        if self._ranks() is not None:
            # There is no element to compare what is stored with.
            pass
        elif self.prover.satisfiable():
            for launch, kernel in self.launches:
                self._kernel(launch, kernel, written)
            for tensor in self.allocs:
                if tensor not in written:
                    text = f"each element of '{tensor}' is written"
                    self._add(Kind.WRITTEN, tensor, text, Verdict.REFUTED, "no kernel writes it")
            self._infinities()
            self._protocols()
        else:
            # All would follow from sizes that contradict each other.
            text = "what is stored is its value"
            reason = "the wrapper accepts no sizes but those of tensors without elements"
            self._open(Kind.VALUE, "", text, reason)
        if test:
            Tests(self.source, self.module).run(self.obligations)
        lines = "\n".join(line.data for line in self.wrapper.algorithm or ())
        kernels = kernels_of(self.source, [kernel.root.data for kernel in self.kernels])
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        directives = attributed(self.source, self.obligations, kernels)
        solver = f"Z3 {z3.get_version_string()}"
        return Certificate(lines, digest, tuple(self.obligations), directives, solver)

    def _infinities(self) -> None:
        """Adds the obligations about reductions over domains that concern what is not finite."""
        roots = {kernel.root.data for kernel in self.kernels}
        for found in extremes_of(self.source, self.prover):
            over = ", ".join(found.labels)
            text = f"the {found.kind} over {over} in '{found.function}' is finite"
            root = found.function if found.function in roots else ""
            if found.has_elements:
                questions = ("its domain has a point at each index",)
                self._add(Kind.VALUE, root, text, Verdict.PROVED, "", questions)
            else:
                self._open(Kind.VALUE, root, text, "it may have no finite element")
        for function, labels in products_over_domains(self.source):
            over = ", ".join(labels)
            text = f"no factor outside of its domain reaches the sum over {over} in '{function}'"
            root = function if function in roots else ""
            self._open(Kind.VALUE, root, text, "infinities are no terms")

    def _protocols(self) -> None:
        """Adds the obligations of specialized kernels."""
        for launch in operations_of(self.module, host.LaunchOp):
            kernel = launch.kernel_op()
            name = launch.specialized_name
            if name is None or not isinstance(kernel, tile.KernelOp):
                continue
            root = kernel.root.data
            text = f"'{name}' stores what '{launch.kernel_name}' does"
            self._open(Kind.VALUE, root, text, "it is not compared symbolically")
            for op in operations_of(self.module, warp.KernelOp):
                if op.sym_name.data == name:
                    self._protocol(root, op)

    def _protocol(self, root: str, kernel: warp.KernelOp) -> None:
        """Adds the obligation that the groups of warps of a kernel keep to an order."""
        name = kernel.sym_name.data
        text = f"the barriers of '{name}' are live, and its stages free of races"
        proof = proof_of(kernel, PROTOCOL)
        if not proof.reason:
            run = f"{proof.states} states, up to turns and rotations of the rings"
            self._add(Kind.PROTOCOL, root, text, Verdict.PROVED, "", (run,))
            return
        self._open(Kind.PROTOCOL, root, text, proof.reason)

    def _computing(self, tensor: str) -> list[Condition]:
        """Returns that some output has an element, without which nothing that is stored matters.

        Args:
            tensor: what is written; of an element of an output it is known.
        """
        outputs = output_names(self.source)
        if tensor in outputs:
            return []
        return [z3.Or([z3.And([n > 0 for n in self._extents(name)]) for name in outputs])]

    def _extents(self, tensor: str) -> list[Integer]:
        """Returns the sizes of a tensor's axes, without padding."""
        alloc = self.allocs.get(tensor)
        if alloc is None:
            return self.algorithm.axes(tensor)
        return [self.universe.size(label) for label in alloc.axis_names]

    def _stored_extents(self, tensor: str) -> list[Integer]:
        """Returns the extents of a tensor's axes in memory."""
        alloc = self.allocs.get(tensor)
        found = self._extents(tensor)
        if alloc is None:
            return found
        result: list[Integer] = []
        for extent, multiple in zip(found, alloc.alignment, strict=True):
            padded = (extent + (multiple - 1)) / multiple * multiple
            result.append(extent if multiple == 1 else padded)
        if alloc.summed is not None:
            result[0] = z3.IntVal(1)
        return result

    def _boxes(self, tensor: str) -> list[list[Integer]]:
        """Returns the extents up to which a tensor may be written, largest first.

        A kernel need not fill the padding of an axis; then no other may read it.
        """
        alloc, sizes = self.allocs.get(tensor), self._extents(tensor)
        if alloc is None or alloc.summed is not None:
            return [sizes]
        stored = self._stored_extents(tensor)
        ways = [(True, False) if multiple > 1 else (False,) for multiple in alloc.alignment]
        return [
            [stored[n] if filled else sizes[n] for n, filled in enumerate(axes)]
            for axes in sorted(product(*ways), key=sum, reverse=True)
        ]

    def _padded(self) -> dict[str, list[Integer]]:
        return {
            name: [self.universe.size(label) for label in alloc.axis_names]
            for name, alloc in self.allocs.items()
            if any(multiple > 1 for multiple in alloc.alignment)
        }

    def _interface(self) -> None:
        """Adds the obligation that the wrapper takes and returns what the algorithm says."""
        text = "it takes and returns what the algorithm says"
        problem = Interface.of(self.source).difference(Interface.of(self.module))
        names = output_names(self.source), output_names(self.module)
        if problem is None and names[0] != names[1]:
            problem = f"it returns {', '.join(names[1])}"
        problem = problem or self._ranks() or self._results(names[0])
        verdict = Verdict.PROVED if problem is None else Verdict.REFUTED
        self._add(Kind.VALUE, "", text, verdict, problem or "", (text,))

    def _ranks(self) -> str | None:
        """Returns which tensor has not as many axes as its function; None if none has not."""
        for name, alloc in self.allocs.items():
            function = self.algorithm.functions.get(name)
            if function is not None and len(function.label_names) != len(alloc.axis_names):
                axes = len(alloc.axis_names)
                return f"'{name}' has {axes} axes, and not {len(function.label_names)}"
        return None

    def _results(self, outputs: Sequence[str]) -> str | None:
        """Returns what is wrong with the tensors that are returned; None if nothing is."""
        for name in outputs:
            function, alloc = self.algorithm.functions[name], self.allocs[name]
            element = alloc.result.type.element_type
            if element != function.element:
                return f"'{name}' has elements of {element}, and not of {function.element}"
            axes, labels = tuple(alloc.axis_names), tuple(function.label_names)
            if axes != labels:
                return f"'{name}' has the axes {', '.join(axes)}, and not {', '.join(labels)}"
        return None

    def _kernel(
        self, launch: host.LaunchOp, kernel: tile.KernelOp, written: list[str]
    ) -> None:
        root = kernel.root.data
        tensors = [host.tensor_name(value) for value in launch.arguments]
        scalars = [op.scalar for op in operations_of(kernel, tile.FactorsOp)]
        # The wrapper decides the order of the factors of an argument at each call.
        free = list(dict.fromkeys(x for x in scalars if isinstance(x, BlockArgument)))
        orders = [[]] if len(free) > MOST_SCALARS else list(subsets(free))
        if len(free) > MOST_SCALARS:
            text = f"'{root}' does the same in each order of the factors of scalars"
            self._open(Kind.VALUE, root, text, f"{len(free)} scalars have many orders")
        programs = [
            Program(kernel, tensors, self.scalars, self._padded(), order) for order in orders
        ]
        program = programs[0]
        stored = {store.tensor for store in program.stores}
        for tensor in sorted(stored):
            if tensor not in self.allocs:
                reason = "it is an input"
            elif tensor in written:
                reason = "another kernel has written it"
            elif any(load.tensor == tensor for load in program.loads):
                reason = "the kernel reads it, too"
            elif len(orders) > 1 and tensor not in self.algorithm.functions:
                text = f"'{tensor}' is the same in both orders of the factors of a scalar"
                self._open(Kind.VALUE, root, text, "one of them stands for both")
                continue
            else:
                continue
            text = f"'{root}' may write '{tensor}'"
            self._add(Kind.WRITTEN, root, text, Verdict.REFUTED, reason)
        if program.endless:
            text = f"the loops of '{root}' end"
            self._open(Kind.VALUE, root, text, "the step of one may not be positive")
        for program in programs:
            for load in program.loads:
                self._load(root, load, written)
            for law in program.laws:
                for found in self.equality.compare(law.left, law.right, [], law.statement):
                    kind = Kind.LAW if found.kind == "value" else _KINDS[found.kind]
                    self._found(root, found, kind)
            for tensor in dict.fromkeys(store.tensor for store in program.stores):
                self._stores(root, tensor, stores_to(program.stores, tensor), program)
        written.extend(stored)

    def _load(self, root: str, load: Access, written: Sequence[str]) -> None:
        tensor = load.tensor
        if tensor in self.allocs and tensor not in written:
            self._add(
                Kind.VALUE, root, f"'{tensor}' is read after the kernel that writes it",
                Verdict.REFUTED, "its kernel is launched later",
            )  # fmt: skip
        extents = self.filled.get(tensor) or self._stored_extents(tensor)
        self._inside(root, load, "loads", extents)

    def _inside(
        self, root: str, access: Access, does: str, extents: Sequence[Integer]
    ) -> None:
        """Adds the obligation that an access is inside of its tensor."""
        text = f"what '{root}' {does} of '{access.tensor}' is inside of it"
        if len(access.indices) < len(access.op.indices):
            self._open(Kind.IN_BOUNDS, root, text, "an index is computed from data")
            return
        pairs = zip(access.indices, extents, strict=True)
        claims = [z3.And(i >= 0, i < n) for i, n in pairs]
        given = [*self.universe.closure(access.binders), access.mask]
        query = self.prover.ask(given, z3.And(*claims))
        found = "it does not hold"
        if query.state is State.REFUTED:
            place, sizes = query.at(access.indices), query.at(extents)
            found = f"it {does} {access.tensor}[{place}], and the sizes are [{sizes}]"
        self._asked(Kind.IN_BOUNDS, root, text, query, None, found)

    def _stores(
        self, root: str, tensor: str, stores: Sequence[Access], program: Program
    ) -> None:
        alloc = self.allocs.get(tensor)
        extents = self._stored_extents(tensor)
        if alloc is not None and alloc.summed is not None:
            extents = self._extents(tensor)
        for store in stores:
            self._inside(root, store, "stores", extents)
            if len(store.indices) < len(store.op.indices):
                self._open(
                    Kind.WRITTEN, root, f"each element of '{tensor}' is written once",
                    "an index is computed from data",
                )  # fmt: skip
                return
        walks = [Walk(s.binders, s.mask, s.indices) for s in stores]
        axes = [] if alloc is None else alloc.axis_names
        constants = [*self.universe.sizes.values(), *program.extents.values()]
        once = f"no element of '{tensor}' is written twice"
        every = f"each element of '{tensor}' is written"
        if any(foreign(walk, self.universe, constants) for walk in walks):
            self._open(Kind.WRITTEN, root, once, "it is written in a way that has no term")
            self._open(Kind.WRITTEN, root, every, "it is written in a way that has no term")
        else:
            for number, walk in enumerate(walks):
                self._once(root, tensor, walk, visited_once(self.prover, walk))
                for other in walks[:number]:
                    self._once(root, tensor, walk, apart(self.prover, walk, other))
            query, points = Query(State.UNKNOWN), tuple[Integer, ...]()
            for box in self._boxes(tensor):
                points = tuple(
                    self.universe.variable(label, lambda v, n=extent: [v >= 0, v < n])
                    for label, extent in zip(axes or ["i"] * len(box), box, strict=True)
                )
                query = all_visited(self.prover, walks, Domain(points), self._computing(tensor))
                if query.state is State.PROVED:
                    summed = alloc is not None and alloc.summed is not None
                    self.filled[tensor] = self._stored_extents(tensor) if summed else box
                if query.state is not State.REFUTED:
                    break
            at = [str(query.values.get(p.decl().name(), 0)) for p in points]
            left = f"{tensor}[{', '.join(at)}] is written by no program instance"
            self._asked(Kind.WRITTEN, root, every, query, None, left)
        if tensor not in self.algorithm.functions:
            for store in stores:
                self._padding(root, tensor, store)
            extent = self._extents(tensor)[0]
            self.parts.add(tensor, stores, extent if alloc and alloc.summed else None)
            return
        if alloc is not None and alloc.summed is not None:
            text = f"each element of '{tensor}' has a place of its own"
            reason = "the indices of its first axis share an element"
            self._add(Kind.WRITTEN, root, text, Verdict.REFUTED, reason)
        for store in stores:
            self._value(root, tensor, store)

    def _padding(self, root: str, tensor: str, store: Access) -> None:
        """Adds the obligation that padding holds zeros, which whoever reads it relies on."""
        inner = self._unpadded(tensor, store)
        given = [*self.universe.closure(store.binders), store.mask]
        if inner is None or not self.prover.possible([*given, z3.Not(inner)]):
            return
        assert store.value is not None
        zero = neutral(ReductionKind.ADD, self._type(store))
        text = f"what is stored beyond the end of '{tensor}' is 0"
        mine = self.parts.inlined(store.value)
        for found in self.equality.compare(mine, zero, [*given, z3.Not(inner)], text):
            self._found(root, found)

    def _unpadded(self, tensor: str, store: Access) -> Condition | None:
        """Returns that a store is inside of a tensor without its padding; None if it has none."""
        alloc = self.allocs.get(tensor)
        if alloc is None or all(multiple == 1 for multiple in alloc.alignment):
            return None
        sizes = [self.universe.size(label) for label in alloc.axis_names]
        return z3.And(*(i < n for i, n in zip(store.indices, sizes, strict=True)))

    def _once(self, root: str, tensor: str, walk: Walk, query: Query) -> None:
        """Adds the obligation that a store writes no element that another instance or trip does."""
        text = f"no element of '{tensor}' is written twice"
        found = "it does not hold"
        if query.state is State.REFUTED:
            found = f"{tensor}[{query.at(walk.targets)}] is written twice"
        self._asked(Kind.WRITTEN, root, text, query, None, found)

    def _value(self, root: str, tensor: str, store: Access) -> None:
        assert store.value is not None
        theirs: Term = self.algorithm.value(tensor, store.indices)
        inner = self._unpadded(tensor, store)
        if inner is not None:
            zero = neutral(ReductionKind.ADD, self._type(store))
            theirs = Choice(inner, theirs, zero)
        mine = self.parts.inlined(store.value)
        given = [*self.universe.closure(store.binders), store.mask]
        text = f"what is stored in '{tensor}' is its value"
        for found in self.equality.compare(mine, theirs, given, text):
            self._found(root, found)

    @staticmethod
    def _type(store: Access) -> Attribute:
        assert isinstance(store.op, tile.StoreOp)
        return element_of(store.op.value.type)

    def _found(self, root: str, found: Finding, kind: Kind | None = None) -> None:
        texts = tuple(found.texts)
        kind = kind or _KINDS[found.kind]
        if found.state is State.ASSUMED:
            self._add(kind, root, found.statement, Verdict.ASSUMED, APPROXIMATED, texts)
        elif found.state is State.REFUTED:
            # Another way to pair the values may exist, so that only a run refutes the value.
            reason = f"it fails with {shown(found.sizes)}"
            self._add(kind, root, found.statement, Verdict.TESTED, reason, texts, found.sizes)
        else:
            self._asked(kind, root, found.statement, Query(found.state), texts)

    def _asked(
        self,
        kind: Kind,
        root: str,
        text: str,
        query: Query,
        texts: tuple[str, ...] | None = None,
        counterexample: str = "it does not hold",
    ) -> None:
        texts = (query.text,) if texts is None else texts
        if query.state is State.PROVED:
            self._add(kind, root, text, Verdict.PROVED, "", texts)
        elif query.state is State.REFUTED:
            reason = f"with {shown(query.sizes)}, {counterexample}"
            self._add(kind, root, text, Verdict.REFUTED, reason, texts, query.sizes)
        else:
            self._open(kind, root, text, "", texts)

    def _open(
        self, kind: Kind, root: str, text: str, reason: str, texts: tuple[str, ...] = ()
    ) -> None:
        self._add(kind, root, text, Verdict.TESTED, reason, texts)

    def _add(
        self, kind: Kind, root: str, text: str, verdict: Verdict, reason: str,
        texts: tuple[str, ...] = (), sizes: dict[str, int] | None = None,
    ) -> None:  # fmt: skip
        found = Obligation(kind, root, text, verdict, reason, texts, sizes or {})
        same = [item for item in self.obligations if item.key == found.key]
        if all(item.questions != found.questions for item in same):
            self.obligations.append(found)


def subsets(items: Sequence[SSAValue]) -> Iterator[list[SSAValue]]:
    """Yields the subsets of some values, the empty one first."""
    for count in range(len(items) + 1):
        yield from map(list, combinations(items, count))


def shown(sizes: dict[str, int]) -> str:
    """Returns sizes of labels in words."""
    return ", ".join(f"{label} = {size}" for label, size in sizes.items()) or "any sizes"


