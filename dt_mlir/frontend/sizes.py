"""Infers the sizes of labels from the reads of a program.

A label that indexes an axis by itself has the size of the axis (a). A declaration may give a label
a size (b). Any other label gets the largest size for which every read stays in bounds (c), or else
the caller gives it (d). `docs/language.md` has the rules in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects.index_ranges import (
    collected,
    factor_of,
    solve_at_most,
    terms_of,
)
from dt_mlir.dialects.indices import (
    add,
    compacted,
    has_dimension,
    number,
    shifted_dims,
    substitute,
    symbol,
)
from dt_mlir.frontend.indices import Axis, IndexForm
from dt_mlir.frontend.printer import print_expression
from dt_mlir.frontend.symbols import REDUCTIONS, SizeTable, Symbols, split_reduction
from dt_mlir.frontend.syntax import Call, Expr, Infix, Position, Prefix, Read


class _Access(NamedTuple):
    """The index of one axis of a read."""

    axis: Axis
    """The axis, of an input or of a function."""
    form: IndexForm | None
    """The index; None if it is data."""
    guarded: bool
    """True if a boundary condition holds there."""
    needed: bool
    """True if an output needs the function that reads."""
    at: Position
    shown: str
    """The read as the source has it."""
    constraints: tuple[IndexForm, ...]
    """The expressions that are not negative where the reductions around read."""


class _Inference:
    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.table = symbols.sizes = SizeTable()
        self.accesses: list[_Access] = []
        self.needed = True
        self.constraints: tuple[IndexForm, ...] = ()
        self.guarded: list[tuple[str, Axis]] = []
        """Labels that index an axis by themselves under a boundary condition."""
        self.same: DisjointSet[str] = DisjointSet(())
        self.sized: set[str] = set()
        """The first labels of the sets whose size an axis or a declaration gives."""

    def run(self) -> None:
        needed = self.symbols.needed()
        for name, definition in self.symbols.definitions.items():
            self.needed = name in needed
            self._collect(definition.expression, False)
        self._name_axes()
        for label, expr in self.symbols.declared_sizes():
            form = self.symbols.index_form(expr)
            assert form is not None
            labels = [self.table.label_of(size) for size in form.sizes]
            # The size of an axis that the label indexes by itself is what the label has anyway.
            if form.expr != symbol(0) or self._root(labels[0]) != self._root(label):
                self.table.declared[label] = _over_labels([form.expr], labels)
        self._check_cycles()
        self._infer()

    # The reads

    def _collect(self, expr: Expr, guarded: bool) -> None:
        match expr:
            case Read(name, indices, at):
                for position, index in enumerate(indices):
                    form = self.symbols.index_form(index)
                    if form is None:
                        self._collect(index, False)
                    shown = print_expression(expr)
                    axis = Axis(name, position)
                    self.accesses.append(
                        _Access(
                            axis, form, guarded, self.needed, index.at or at, shown,
                            self.constraints,
                        )
                    )  # fmt: skip
            case Prefix(_, operand):
                self._collect(operand, False)
            case Infix(_, left, right):
                self._collect(left, False)
                self._collect(right, False)
            case Call(name, arguments):
                values = arguments
                if name in REDUCTIONS:
                    self._collect_reduction(expr)
                    return
                if name in ("len", "size"):
                    values = ()
                elif name in ("cast", "reshape"):
                    values = arguments[:1]
                for i, argument in enumerate(values):
                    # A value outside may be read, too.
                    self._collect(argument, i == 0 and name in BOUNDARIES)
            case _:
                pass

    def _collect_reduction(self, expr: Call) -> None:
        """Collects the reads of a reduction, of which those of its terms are in its domain."""
        terms, labels, conditions = split_reduction(expr)
        bound = {label.name for label in labels}
        before = self.constraints
        # A label that is bound anew is not the one of the conditions around.
        kept = [form for form in before if bound.isdisjoint(form.dims)]
        for condition in conditions:
            self._collect(condition, False)
            kept += self.symbols.constraints(condition) or []
        self.constraints = tuple(kept)
        for term in terms:
            self._collect(term, False)
        self.constraints = before

    def _by_axis(self) -> dict[Axis, list[_Access]]:
        found: dict[Axis, list[_Access]] = {}
        for access in self.accesses:
            found.setdefault(access.axis, []).append(access)
        return found

    def _own_label(self, axis: Axis) -> str | None:
        """Returns the label of a function's axis; None for an input's."""
        definition = self.symbols.definitions.get(axis.tensor)
        return None if definition is None else definition.labels[axis.number]

    # (a) and the labels of axes

    def _name_axes(self) -> None:
        """Makes the sizes of labels equal that index one axis by themselves, and names axes."""
        by_axis = self._by_axis()
        shifted: dict[Axis, set[str]] = {}
        for axis, accesses in by_axis.items():
            forms = _open_forms(accesses)
            shifted[axis] = {form.dims[i] for form in forms for i in shifted_dims(form.expr)}
        void = {axis: set(labels) for axis, labels in shifted.items()}
        while True:
            firsts = self._join_labels(void)
            # A label that is shifted along an axis cannot have the size of that axis, through a
            # function that is read at the label by itself and has the size of the axis either.
            further = [
                (other, label)
                for axis, labels in shifted.items() if axis in firsts for label in labels
                if self.same.find(label) == self.same.find(firsts[axis])
                for other, first in firsts.items()
                if label not in void[other] and self.same.find(first) == self.same.find(label)
                and label in (form.label for form in _open_forms(by_axis[other]))
            ]  # fmt: skip
            if not further:
                break
            for axis, label in further:
                void[axis].add(label)
        for name, rank in self.symbols.ranks.items():
            self.table.axes[name] = [""] * rank
        for axis, accesses in by_axis.items():
            own = self._own_label(axis)
            if axis in firsts and own is None:
                self.table.axes[axis.tensor][axis.number] = firsts[axis]
                bare = {form.label for form in _open_forms(accesses)} - void[axis]
                self.sized.update(label for label in bare if label is not None)
            self.guarded += [
                (a.form.label, axis) for a in accesses
                if a.needed and a.guarded and a.form is not None and a.form.label is not None
            ]  # fmt: skip
        bounded = {
            self.same.find(label) for a in self.accesses
            if a.needed and not a.guarded and a.form is not None for label in a.form.dims
        } | {self.same.find(label) for label, _ in self.symbols.declared_sizes()}
        for axis, accesses in by_axis.items():
            if self.symbols.axis_label(*axis):
                continue
            plain = all(
                a.form is not None and a.form.constant is not None and not a.guarded
                for a in accesses
            )
            if not plain or axis in self.symbols.asked:
                # A read under a boundary condition sizes a label that nothing else does.
                labels = [n for n, at in self.guarded if at == axis]
                free = [n for n in labels if self.same.find(n) not in bounded]
                self._name_axis(axis, free[0] if free else None)

    def _join_labels(self, void: Mapping[Axis, set[str]]) -> dict[Axis, str]:
        """Makes the sizes of labels equal that index one axis by themselves.

        Args:
            void: the labels that an axis does not size though they index it by themselves.

        Returns:
            The label whose size each axis has: a function's own one, an input's first one.
        """
        self.same = DisjointSet(self.symbols.labels())
        firsts: dict[Axis, str] = {}
        for axis, accesses in self._by_axis().items():
            bare = (form.label for form in _open_forms(accesses))
            names = [label for label in bare if label is not None and label not in void[axis]]
            own = self._own_label(axis)
            if own is not None or names:
                firsts[axis] = first = names[0] if own is None else own
                for label in names:
                    self.same.union(first, label)
        return firsts

    def _name_axis(self, axis: Axis, label: str | None) -> None:
        """Gives an axis of an input a label: one of the program's, or one of its own."""
        self.table.explicit.add(axis.tensor)
        if label is not None:
            self.table.axes[axis.tensor][axis.number] = label
            self.sized.add(label)
            return
        name = f"{axis.tensor}_{axis.number}"
        while name in self.symbols.declarations or name in self.table.implicit:
            name += "_"
        self.table.axes[axis.tensor][axis.number] = name
        self.table.implicit.append(name)

    def _check_cycles(self) -> None:
        """Checks that no size depends on itself.

        Raises:
            CompileError: with the labels of the cycle.
        """
        def visit(label: str, path: list[str]) -> None:
            # Labels of one size are the same here.
            roots = [self._root(other) for other in path]
            if self._root(label) in roots:
                first = roots.index(self._root(label))
                cycle = " -> ".join([*path[first:], label])
                at = self.symbols.declarations[path[first]].at
                raise self._error(f"the sizes of labels form a cycle: {cycle}", at)
            for other in self.table.declared.get(label, (None, ()))[1]:
                visit(other, [*path, label])

        for label in self.table.declared:
            visit(label, [])

    # (c)

    def _root(self, label: str) -> str:
        return self.same.find(label) if label in self.symbols.declarations else label

    def _infer(self) -> None:
        known = {self._root(label) for label in (*self.sized, *self.table.declared)}
        known.update(self.table.implicit)
        pending: dict[str, list[_Access]] = {}
        for access in self.accesses:
            if access.guarded or access.form is None or not access.needed:
                continue
            for label in access.form.dims:
                root = self._root(label)
                own = self._own_label(access.axis)
                if own is not None and access.form.label is not None and self._root(own) == root:
                    continue
                if root not in known:
                    pending.setdefault(root, []).append(access)
        while pending:
            ready = [r for r, accesses in pending.items() if self._is_ready(r, accesses, known)]
            if not ready:
                break
            for root in ready:
                self._solve(root, pending.pop(root))
                known.add(root)
        for root, accesses in pending.items():
            # What no axis bounds is for the caller to say.
            self._unsolved(root, accesses, known)
        for label, axis in self.guarded:
            root = self._root(label)
            size = self.symbols.axis_label(*axis)
            if root not in known and self._root(size) != root:
                self.table.inferred[root] = _over_labels([symbol(0)], [size])
                known.add(root)

    def _is_ready(self, root: str, accesses: list[_Access], known: set[str]) -> bool:
        """Returns whether the sizes of the axes and of the other labels are known."""
        for access in accesses:
            assert access.form is not None
            others = {self._root(label) for label in access.form.dims} - {root}
            sizes = {self._root(self.table.label_of(size)) for size in access.form.sizes}
            bound = self._root(self.symbols.axis_label(*access.axis))
            if not (others | sizes | {bound}) <= known:
                return False
        return True

    def _unsolved(self, root: str, accesses: list[_Access], known: set[str]) -> None:
        for access in accesses:
            assert access.form is not None
            bound = self._root(self.symbols.axis_label(*access.axis))
            if bound not in known and bound != root:
                continue
            others = [label for label in access.form.dims if self._root(label) != root]
            missing = [label for label in others if self._root(label) not in known]
            because = f"'{missing[0]}' has none either" if missing else (
                f"the size of axis {access.axis.number} of '{access.axis.tensor}' depends on it"
            )
            raise self._undeclared(root, access, because)

    def _solve(self, root: str, accesses: list[_Access]) -> None:
        results: list[AffineExpr] = []
        labels: list[str] = []

        def size_of(label: str) -> AffineExpr:
            label = self._root(label)
            if label not in labels:
                labels.append(label)
            return symbol(labels.index(label))

        for access in accesses:
            form = access.form
            assert form is not None
            own = [i for i, label in enumerate(form.dims) if self._root(label) == root]
            sizes = [size_of(self.table.label_of(size)) for size in form.sizes]
            dims: list[AffineExpr] = [AffineDimExpr(i) for i in range(len(form.dims))]
            expr = substitute(form.expr, dims, sizes)
            if _occurs_only_under_modulus(expr, own):
                continue
            ends = [add(size_of(label), number(-1)) for label in form.dims]
            for i in set(range(len(form.dims))) - set(own):
                first, last = self._ends(root, access, i)
                ends[i] = ends[i] if last is None else number(last)
                dims[i] = add(dims[i], number(first))
                ends[i] = add(ends[i], number(-first))
            expr = substitute(form.expr, dims, sizes)
            bound = add(size_of(self.symbols.axis_label(*access.axis)), number(-1))
            end = solve_at_most(expr, own[0], bound, ends) if len(own) == 1 else None
            if end is None:
                raise self._undeclared(
                    root, access, "the index does not increase with it without bound"
                )
            results.append(collected(add(end, number(1))))
        if results:
            self.table.inferred[root] = _over_labels(_least(results), labels)

    def _ends(self, root: str, access: _Access, position: int) -> tuple[int, int | None]:
        """Returns the ends of another label in the domain of the reductions around a read.

        Args:
            root: the label whose size is wanted.
            access: the index.
            position: the dimension of the other label.

        Returns:
            The first value, and the last one if conditions narrow it.

        Raises:
            CompileError: if a condition narrows the label, and its end is not a known number, or
                the index may be negative.
        """
        assert access.form is not None
        label = access.form.dims[position]
        sign = factor_of(access.form.expr, position)
        known, first, last = self._number(label), 0, None
        factors = {
            form: factor_of(form.expr, form.dims.index(label))
            for form in access.constraints if label in form.dims
        }  # fmt: skip
        if sign < 0 and all(factor > 0 for factor in factors.values()):
            because = f"nothing keeps the index at 0 or above where '{label}' is large"
            raise self._undeclared(root, access, because)
        for form, factor in factors.items():
            if sign * factor > 0:
                # It bounds the label where the index is small.
                continue
            if known is None or form.dims != (label,) or form.sizes or 0 in (sign, factor):
                raise self._undeclared(root, access, f"a condition narrows '{label}'")
            # factor * label + rest >= 0
            rest = form.expr.eval([0], [])
            if factor > 0:
                first = max(first, -(rest // factor))
            else:
                end = known - 1 if last is None else last
                last = max(0, min(end, known - 1, rest // -factor))
        return first, last

    def _number(self, label: str) -> int | None:
        """Returns the size of a label that is declared as a number."""
        declared = self.table.declared.get(label)
        if declared is None or not isinstance(declared[0].results[0], AffineConstantExpr):
            return None
        return declared[0].results[0].value

    def _undeclared(self, root: str, access: _Access, because: str) -> CompileError:
        kind = self.symbols.kind(root) or "Var"
        return self._error(
            f"the size of '{root}' does not follow from '{access.shown}': {because}",
            access.at,
            f"declare it, as in '{kind} {root} = (size({access.axis.tensor}, "
            f"{access.axis.number}) - 3) // 2 + 1;'",
        )

    def _error(self, message: str, at: Position, hint: str | None = None) -> CompileError:
        return CompileError(message, self.symbols.location(at), hint)


def _open_forms(accesses: Iterable[_Access]) -> list[IndexForm]:
    """Returns the affine indices that an output needs and that no boundary condition guards."""
    return [a.form for a in accesses if a.needed and not a.guarded and a.form is not None]


def _over_labels(
    results: Sequence[AffineExpr], labels: Sequence[str]
) -> tuple[AffineMap, list[str]]:
    """Returns size expressions as a map, and the labels whose sizes its symbols are.

    Args:
        results: the expressions.
        labels: the label of each of their symbols.
    """
    unique = list(dict.fromkeys(labels))
    symbols = [symbol(unique.index(label)) for label in labels]
    found = compacted([substitute(expr, [], symbols) for expr in results])
    return found.map, [unique[i] for i in found.symbols]


def _least(results: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
    """Returns expressions without those that others are below by a number."""
    kept: dict[AffineExpr, int] = {}
    for expr in results:
        terms = terms_of(collected(expr))
        constant = sum(factor for term, factor in terms if term == number(1))
        rest = collected(add(expr, number(-constant)))
        kept[rest] = min(kept.get(rest, constant), constant)
    return tuple(add(rest, number(constant)) for rest, constant in kept.items())


def _occurs_only_under_modulus(expr: AffineExpr, positions: Sequence[int]) -> bool:
    """Returns whether dimensions occur in an index only under `%`."""
    match expr:
        case AffineDimExpr(position):
            return position not in positions
        case AffineBinaryOpExpr(kind, left, right):
            if kind.get_token() == "mod" and not has_dimension(right):
                return True
            return all(_occurs_only_under_modulus(side, positions) for side in (left, right))
        case _:
            return True


def infer_sizes(symbols: Symbols) -> None:
    """Infers the sizes of a checked program's labels, and keeps them with it.

    Raises:
        CompileError: where the size of a label follows from nothing and must be declared, or sizes
            form a cycle.
    """
    _Inference(symbols).run()
