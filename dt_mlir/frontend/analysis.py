"""Names and well-formedness of a program: everything that can be said before types are known."""

from __future__ import annotations

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, Note, did_you_mean
from dt_mlir.dialects.indices import MOST_INDEX
from dt_mlir.dialects.sched import KnobReference
from dt_mlir.element_types import ELEMENT_TYPES
from dt_mlir.frontend.indices import Axis, NotPositiveError
from dt_mlir.frontend.own_labels import halo_of, separate_labels
from dt_mlir.frontend.sizes import infer_sizes
from dt_mlir.frontend.symbols import CONSTANTS, REDUCTIONS, Symbols, free_labels, split_reduction
from dt_mlir.frontend.syntax import (
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    Name,
    Number,
    Position,
    Prefix,
    Read,
    SyntaxTree,
)

OUTPUT_DIRECTIVES = ("compile", "compile_to_kernel")
"""The directives that say what the program is compiled for; they are no part of the schedule."""


KINDS = {
    "Func": "a function", "In": "an input", "SIn": "an input", "Var": "a label", "RVar": "a label",
}  # fmt: skip
"""The kinds of declarations, in words."""


def _one_of(name: str, labels: list[str]) -> str:
    """A hint for a label that is not declared."""
    known = f", or use one of {', '.join(labels)}" if labels else ""
    return f"add 'Var {name};'{known}"


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def _indices(count: int) -> str:
    return "1 index" if count == 1 else f"{count} indices"


class _Checker:
    def __init__(self, program: SyntaxTree) -> None:
        self.program = program
        self.symbols = Symbols(program, {}, {}, [], {}, [], [])
        self.first_reads: dict[str, Position] = {}
        self.of_halos: list[DirectiveCall] = []
        """The directives about what are perhaps outputs with their halos."""

    def error(
        self, message: str, at: Position, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> CompileError:
        return CompileError(message, self.symbols.location(at), hint, notes)

    def check(self) -> Symbols:
        self._declare()
        self._define()
        for definition in self.symbols.definitions.values():
            self.symbols.used[definition.name] = set()
            self._expression(definition.expression, definition, set(definition.labels))
        self._order()
        self._directives()
        self._sizes()
        separate_labels(self.symbols)
        self._halos()
        infer_sizes(self.symbols)
        return self.symbols

    def _declare(self) -> None:
        declarations = self.symbols.declarations
        for item in self.program.declarations:
            earlier = declarations.get(item.name)
            if earlier is not None:
                note = Note("it was declared here", self.symbols.location(earlier.at))
                raise self.error(f"'{item.name}' is declared twice", item.at, None, (note,))
            if item.type is not None:
                if item.kind in ("Var", "RVar"):
                    raise self.error("a label has no type", item.type_at)
                if item.type not in ELEMENT_TYPES:
                    raise self.error(
                        f"'{item.type}' is not an element type",
                        item.type_at,
                        did_you_mean(item.type, ELEMENT_TYPES)
                        or f"there are {', '.join(ELEMENT_TYPES)}",
                    )
            if item.size is not None and item.kind not in ("Var", "RVar"):
                raise self.error(
                    "only the declaration of a label gives a value, its size", item.at,
                    "a type stands behind a colon, as in 'In A : f16'; functions are defined by "
                    "'f[x] = …'",
                )
            declarations[item.name] = item

    def _define(self) -> None:
        for item in self.program.definitions:
            declared = self._declared(item.name, item.at, "Func")
            if declared.kind != "Func":
                note = Note("it is declared here", self.symbols.location(declared.at))
                raise self.error(
                    f"'{item.name}' is {KINDS[declared.kind]} and cannot be defined",
                    item.at,
                    f"declare it with 'Func {item.name};' instead, or define another function",
                    (note,),
                )
            earlier = self.symbols.definitions.get(item.name)
            if earlier is not None:
                note = Note("it was defined here", self.symbols.location(earlier.at))
                raise self.error(f"'{item.name}' is defined twice", item.at, None, (note,))
            positions = item.label_positions or (item.at,) * len(item.labels)
            for i, (label, at) in enumerate(zip(item.labels, positions)):
                self._label(label, at)
                if label in item.labels[:i]:
                    raise self.error(f"'{label}' stands twice on the left of '{item.name}'", at)
            self.symbols.definitions[item.name] = item
        for item in self.symbols.declarations.values():
            if item.kind == "Func" and item.name not in self.symbols.definitions:
                raise self.error(
                    f"function '{item.name}' is declared but never defined",
                    item.at,
                    f"add '{item.name}[…] = …;' or drop the declaration",
                )

    def _declared(self, name: str, at: Position, kind: str) -> Declaration:
        found = self.symbols.declarations.get(name)
        if found is None:
            hint = did_you_mean(name, self.symbols.declarations)
            raise self.error(
                f"'{name}' is not declared", at, hint or f"add '{kind} {name};'"
            )
        return found

    def _label(self, name: str, at: Position) -> None:
        if name not in self.symbols.declarations:
            labels = self.symbols.labels()
            raise self.error(
                f"label '{name}' is not declared",
                at,
                did_you_mean(name, labels) or _one_of(name, labels),
            )
        if not self.symbols.is_label(name):
            raise self.error(
                f"'{name}' is declared as {self.symbols.kind(name)}, not as a label", at
            )

    def _bound(self, name: str, at: Position, definition: Definition, scope: set[str]) -> None:
        self._label(name, at)
        if name not in scope:
            raise self.error(
                f"label '{name}' is neither an axis of '{definition.name}' nor reduced here",
                at,
                f"put it on the left or reduce over it, as in 'rsum(…, {name})'",
            )

    def _expression(self, expr: Expr, definition: Definition, scope: set[str]) -> None:
        match expr:
            case Number(value, at):
                if value == 2**63:
                    raise self.error("the number does not fit in 64 bits", at)
            case Name(name, at):
                self._name(name, at, definition, scope)
            case Read():
                self._read(expr, definition, scope)
            case Prefix(_, operand):
                self._expression(operand, definition, scope)
            case Infix(_, left, right):
                self._expression(left, definition, scope)
                self._expression(right, definition, scope)
            case Call():
                self._call(expr, definition, scope)

    def _name(self, name: str, at: Position, definition: Definition, scope: set[str]) -> None:
        if name in CONSTANTS and name not in self.symbols.declarations:
            return
        kind = self._declared(name, at, "SIn").kind
        if kind in ("Var", "RVar"):
            self._bound(name, at, definition, scope)
        elif kind == "Func":
            self._use(name, definition)
            rank = len(self.symbols.definitions[name].labels)
            if rank:
                raise self.error(
                    f"function '{name}' is read without indices", at,
                    f"write '{name}[{', '.join(self.symbols.definitions[name].labels)}]'",
                )
        elif kind == "In":
            raise self.error(
                f"tensor '{name}' is read without indices", at,
                f"write '{name}[…]', or '{name}[]' of one that has no axes",
            )

    def _use(self, name: str, definition: Definition) -> None:
        self.symbols.used[definition.name].add(name)

    def _index(
        self, index: Expr, definition: Definition, scope: set[str], guarded: bool
    ) -> None:
        """Checks the index of an axis."""
        match index:
            case Name(name, at) if name not in self.symbols.declarations:
                self._label(name, at)
            case Number(float(), at):
                raise self.error("an index is a whole number", at)
            case Number(int(value), at) if abs(value) > MOST_INDEX:
                raise self.error(f"an index is at most {MOST_INDEX}", at)
            case _:
                self._expression(index, definition, scope)
        try:
            form = self.symbols.index_form(index)
        except NotPositiveError as error:
            raise self.error(
                "an index divides by a positive number, or by sizes", error.at
            ) from None
        constant = None if form is None else form.constant
        if constant is not None and constant < 0 and not guarded:
            raise self.error(
                "an index cannot be negative", index.at,
                "a boundary condition says what lies outside, as in 'repeat_edge(A[x - 1])'",
            )  # fmt: skip

    def _boundary(self, expr: Call, definition: Definition, scope: set[str]) -> None:
        """Checks a read under a boundary condition."""
        arguments = expr.arguments
        wanted = 2 if expr.name == CONSTANT else 1
        shown = "a read and the value outside" if wanted == 2 else "a read"
        example = f"{expr.name}(A[x - 1]{', 0' if wanted == 2 else ''})"
        if len(arguments) != wanted or not isinstance(arguments[0], Read):
            raise self.error(f"'{expr.name}' takes {shown}", expr.at, f"as in '{example}'")
        self._read(arguments[0], definition, scope, guarded=True)
        for value in arguments[1:]:
            self._expression(value, definition, scope)

    def _axis_size(self, expr: Call) -> None:
        """Checks the size of a tensor's axis: `size(X, 2)`."""
        match expr.arguments:
            case (Name(name, at), Number(int(axis), axis_at)):
                kind = self._declared(name, at, "In").kind
                if kind not in ("In", "Func"):
                    raise self.error(f"'{name}' is {KINDS[kind]} and has no axes", at)
                if kind == "In":
                    self.symbols.asked.setdefault(Axis(name, axis), axis_at)
                elif not 0 <= axis < len(self.symbols.definitions[name].labels):
                    raise self._no_axis(name, axis, axis_at)
            case _:
                raise self.error(
                    "'size' takes a tensor and the number of an axis", expr.at,
                    "as in 'size(X, 0)'",
                )  # fmt: skip

    def _no_axis(self, name: str, axis: int, at: Position) -> CompileError:
        definition = self.symbols.definitions.get(name)
        rank = self.symbols.ranks.get(name) if definition is None else len(definition.labels)
        if rank is None:
            return self.error(f"nothing reads '{name}', so that its axes are not known", at)
        return self.error(f"'{name}' has {_axes(rank)}, counted from 0, and no axis {axis}", at)

    def _sizes(self) -> None:
        """Checks the sizes that are declared, and the axes whose sizes are asked for."""
        for label, expr in self.symbols.declared_sizes():
            self._size(label, expr)
            try:
                form = self.symbols.index_form(expr)
            except NotPositiveError as error:
                raise self.error("a size divides by a positive number", error.at) from None
            assert form is not None
            if form.constant is not None and form.constant < 0:
                raise self.error(f"the size of '{label}' is negative", expr.at)
        for axis, at in self.symbols.asked.items():
            if not 0 <= axis.number < self.symbols.ranks.get(axis.tensor, 0):
                raise self._no_axis(axis.tensor, axis.number, at)

    def _size(self, label: str, expr: Expr) -> None:
        """Checks an expression of the size of a label."""
        match expr:
            case Number(int(value), at):
                if value > MOST_INDEX:
                    raise self.error(f"a size is at most {MOST_INDEX}", at)
            case Prefix("-", operand):
                self._size(label, operand)
            case Infix(operator, left, right) if operator in ("+", "-", "*", "//", "%"):
                self._size(label, left)
                self._size(label, right)
            case Call("len", (Name(name, at),)):
                self._label(name, at)
            case Call("size"):
                self._axis_size(expr)
            case _:
                raise self.error(
                    f"the size of '{label}' is made of whole numbers, len, size and + - * // %",
                    expr.at,
                    f"as in 'Var {label} = (size(X, 0) - 3) // 2 + 1;'",
                )

    def _read(
        self, expr: Read, definition: Definition, scope: set[str], guarded: bool = False
    ) -> None:
        kind = self._declared(expr.name, expr.at, "In").kind
        if kind in ("Var", "RVar", "SIn"):
            what = "a scalar" if kind == "SIn" else "a label"
            raise self.error(f"'{expr.name}' is {what} and cannot be indexed", expr.at)
        for index in expr.indices:
            self._index(index, definition, scope, guarded)
        rank = len(expr.indices)
        if kind == "Func":
            self._use(expr.name, definition)
            known = len(self.symbols.definitions[expr.name].labels)
            if known != rank:
                defined = self.symbols.definitions[expr.name]
                note = Note("it is defined here", self.symbols.location(defined.at))
                raise self.error(
                    f"function '{expr.name}' has {_axes(known)} but is read with {_indices(rank)}",
                    expr.at,
                    f"write '{expr.name}[{', '.join(defined.labels)}]', or a number for an axis",
                    (note,),
                )
        elif self.symbols.ranks.setdefault(expr.name, rank) != rank:
            first = self.symbols.ranks[expr.name]
            note = Note(
                f"it is read with {_indices(first)} here",
                self.symbols.location(self.first_reads[expr.name]),
            )
            raise self.error(
                f"tensor '{expr.name}' is read with {_indices(rank)} here and with {first} "
                "elsewhere",
                expr.at,
                "a tensor has one number of axes: give each an index, a label or a number",
                (note,),
            )
        else:
            self.first_reads.setdefault(expr.name, expr.at)

    def _call(self, expr: Call, definition: Definition, scope: set[str]) -> None:
        from dt_mlir.callables import RESERVED, find_function, is_taken, load_others
        from dt_mlir.elementwise import FUNCTIONS

        if not is_taken(expr.name):
            load_others()
        arguments = expr.arguments
        if expr.name in REDUCTIONS:
            values = 2 if expr.name == "rdot" else 1
            if len(arguments) <= values:
                shown = "two values" if values == 2 else "a value"
                written = "…, …" if values == 2 else "…"
                label = next(iter(self.symbols.labels()), "k")
                raise self.error(
                    f"'{expr.name}' takes {shown} and the labels to reduce over", expr.at,
                    f"name at least one label, as in '{expr.name}({written}, {label})'",
                )
            reduced: list[str] = []
            _, labels, conditions = split_reduction(expr)
            if not labels:
                raise self.error(
                    f"'{expr.name}' reduces over labels", arguments[values].at,
                    "labels come first, then conditions, as in 'rsum(A[k], k, k <= x)'",
                )  # fmt: skip
            for label in labels:
                self._label(label.name, label.at)
                if label.name in reduced:
                    raise self.error(f"'{expr.name}' reduces '{label.name}' twice", label.at)
                reduced.append(label.name)
            for value in (*arguments[:values], *conditions):
                self._expression(value, definition, scope | set(reduced))
        elif expr.name == "len":
            if len(arguments) != 1 or not isinstance(arguments[0], Name):
                raise self.error("'len' takes a label", expr.at)
            self._label(arguments[0].name, arguments[0].at)
        elif expr.name == "size":
            self._axis_size(expr)
        elif expr.name in BOUNDARIES:
            self._boundary(expr, definition, scope)
        elif expr.name == "cast":
            if len(arguments) != 2 or not isinstance(arguments[1], Name):
                raise self.error("'cast' takes a value and a type", expr.at)
            type = arguments[1].name
            if type not in ELEMENT_TYPES:
                raise self.error(
                    f"'{type}' is not an element type", arguments[1].at,
                    did_you_mean(type, ELEMENT_TYPES) or f"there are {', '.join(ELEMENT_TYPES)}",
                )
            self._expression(arguments[0], definition, scope)
        elif expr.name == "reshape":
            self._reshape(expr, definition, scope)
        elif expr.name == "where":
            self._arity(expr, 3)
            for argument in arguments:
                self._expression(argument, definition, scope)
        elif (function := find_function(expr.name)) is not None:
            self._arity(expr, function.arity)
            for argument in arguments:
                self._expression(argument, definition, scope)
        else:
            known = [*FUNCTIONS, *RESERVED, *BOUNDARIES]
            raise self.error(
                f"'{expr.name}' is not a function", expr.at,
                did_you_mean(expr.name, known)
                or "a function of another package needs its file: --load FILE.py",
            )

    def _arity(self, expr: Call, arity: int) -> None:
        if len(expr.arguments) != arity:
            raise self.error(
                f"'{expr.name}' takes {arity} operand{'s' if arity > 1 else ''} "
                f"but has {len(expr.arguments)}",
                expr.at,
            )

    def _reshape(self, expr: Call, definition: Definition, scope: set[str]) -> None:
        if len(expr.arguments) < 2:
            raise self.error("'reshape' takes a value and its labels or 1", expr.at)
        value, *dims = expr.arguments
        self._expression(value, definition, scope)
        stated: set[str] = set()
        for dim in dims:
            match dim:
                case Name(name, at):
                    self._bound(name, at, definition, scope)
                    stated.add(name)
                case Number(1):
                    pass
                case _:
                    raise self.error("'reshape' takes labels and 1", dim.at)
        actual = free_labels(value, self.symbols)
        if stated != actual:
            shown = ", ".join(sorted(actual)) or "none"
            raise self.error(
                f"'reshape' does not agree with the labels of its value ({shown})", expr.at
            )

    def _order(self) -> None:
        done: dict[str, bool] = {}

        def visit(name: str, path: list[str]) -> None:
            if done.get(name):
                return
            if name in path:
                cycle = " -> ".join([*path[path.index(name) :], name])
                at = self.symbols.definitions[name].at
                raise self.error(f"the definitions form a cycle: {cycle}", at)
            for used in self.symbols.definitions:
                if used in self.symbols.used[name]:
                    visit(used, [*path, name])
            done[name] = True
            self.symbols.order.append(name)

        for name in self.symbols.definitions:
            visit(name, [])

    def _knobs(self) -> None:
        """Checks the names of knobs and alternatives, and that each knob turns something."""
        known: dict[str, Position] = {}
        named = [*self.program.knobs, *(a for a in self.program.alternatives if a.name is not None)]
        for item in named:
            name = item.name or ""
            declared = self.symbols.declarations.get(name)
            earlier = known.get(name) or (None if declared is None else declared.at)
            if earlier is not None:
                note = Note("it was declared here", self.symbols.location(earlier))
                raise self.error(f"'{name}' is declared twice", item.at, None, (note,))
            known[name] = item.at
        knobs = [item.name for item in self.program.knobs]
        used: set[object] = set()
        for item in self.program.all_directives():
            for argument in item.arguments:
                used.add(argument.value)
                if argument.factor is not None and argument.value in knobs:
                    raise self.error(
                        f"'{argument.value}' is a knob, and cannot name the inner part of a split",
                        item.name_at, "give the part another name",
                    )  # fmt: skip
                if isinstance(argument.factor, KnobReference):
                    used.add(argument.factor.name)
                    if argument.factor.name not in knobs:
                        raise self.error(
                            f"there is no knob '{argument.factor}'", item.name_at,
                            did_you_mean(argument.factor.name, knobs)
                            or f"define it, as in '{argument.factor} = {{4, 8}};'",
                        )  # fmt: skip
        for item in self.program.knobs:
            if item.name not in used:
                raise self.error(
                    f"no directive uses '{item.name}'", item.at, "use it as a parameter, or drop it"
                )

    def _directives(self) -> None:
        self._knobs()
        for choice in self.program.alternatives:
            for item in (call for branch in choice.branches for call in branch):
                if item.name in OUTPUT_DIRECTIVES:
                    raise self.error(
                        f"'{item.name}' says what is compiled, and is not an alternative",
                        item.name_at,
                    )
        # A directive may define a function that it names; others are refused when it is applied.
        named = {
            argument.value
            for item in self.program.all_directives()
            for argument in item.arguments
            if argument.key is None and item.name not in OUTPUT_DIRECTIVES
        }
        halos = {
            halo_of(item.function) for item in self.program.all_directives()
            if item.name in OUTPUT_DIRECTIVES
        }  # fmt: skip
        for item in self.program.all_directives():
            declared = self.symbols.declarations.get(item.function)
            if declared is None and item.name not in OUTPUT_DIRECTIVES:
                if item.function in named:
                    continue
                if item.function.rstrip("_") in halos:
                    self.of_halos.append(item)
                    continue
            if declared is None or declared.kind != "Func":
                raise self._no_function(item)
            if item.name in OUTPUT_DIRECTIVES:
                self._output(item)
        self.symbols.schedule += [
            item for item in self.program.directives if item.name not in OUTPUT_DIRECTIVES
        ]
        if not self.symbols.outputs:
            at = Position(1, 1)
            if self.symbols.definitions:
                at = next(reversed(self.symbols.definitions.values())).at
            raise self.error(
                "nothing is compiled", at, "end the program with '….compile();'"
            )
        wanted = self.symbols.needed()
        for name, definition in self.symbols.definitions.items():
            if name not in wanted:
                self.symbols.warnings.append(
                    Note(f"function '{name}' is never used", self.symbols.location(definition.at))
                )

    def _halos(self) -> None:
        """Refuses directives about the halo of an output that has none."""
        for item in self.of_halos:
            if item.function not in self.symbols.definitions:
                raise self._no_function(item)

    def _no_function(self, item: DirectiveCall) -> CompileError:
        """Returns what is wrong with a directive about no function."""
        hint = did_you_mean(item.function, list(self.symbols.definitions))
        return self.error(f"'{item.function}' is not a function", item.at, hint)

    def _output(self, item: DirectiveCall) -> None:
        for argument in item.arguments:
            known = argument.key == "dynamic" and item.name == "compile"
            if not known or argument.value not in (0, 1):
                raise self.error(
                    f"'{item.name}' takes no argument '{argument}'",
                    item.name_at,
                    "it takes dynamic:1" if item.name == "compile" else None,
                )
        for other in self.symbols.outputs:
            note = Note("the other one is here", self.symbols.location(other.at))
            if other.function == item.function:
                raise self.error(f"'{item.function}' is compiled twice", item.at, None, (note,))
            if other.name != item.name or other.arguments != item.arguments:
                raise self.error(
                    "the outputs of a program are compiled in one way", item.at, None, (note,)
                )
        self.symbols.outputs.append(item)


@compiling()
def analyse(program: SyntaxTree) -> Symbols:
    """Checks the names of a program.

    Raises:
        CompileError: at the first mistake.
    """
    return _Checker(program).check()
