"""Smaller programs: with fewer directives, simpler expressions, smaller numbers and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dt_mlir.dialects.sched import Argument
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.printer import print_program
from dt_mlir.frontend.syntax import (
    Call,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    Name,
    Number,
    Prefix,
    Read,
    SyntaxTree,
    parts_of,
    with_parts,
)


@dataclass(frozen=True)
class ProgramCase:
    """A program, the sizes that it is run at, and how many passes of the pipeline are run."""

    program: SyntaxTree
    sizes: Mapping[str, int]
    passes: tuple[int, ...]
    """The numbers of the passes that are run."""

    def text(self) -> str:
        """The program's text."""
        return print_program(self.program)

    def key(self) -> object:
        """The identity of a case."""
        return self.text(), tuple(sorted(self.sizes.items())), self.passes


def smaller_passes(passes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Fewer passes: a half, or all but one."""
    half = len(passes) // 2
    if half:
        yield passes[:half]
        yield passes[half:]
    for i in reversed(range(len(passes))):
        yield passes[:i] + passes[i + 1 :]


def smaller_sizes(sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Smaller sizes of labels: of all, then of one at a time."""
    for part in (8, 4, 2):
        yield {label: max(1, size // part) for label, size in sizes.items()}
    for label, size in sizes.items():
        for less in dict.fromkeys((1, 2, size // 4, size // 2, size - 1)):
            if 0 < less < size:
                yield {**sizes, label: less}


def smaller_programs(case: ProgramCase) -> Iterator[ProgramCase]:
    """Smaller cases, the largest steps first.

    Sizes come early, as a program without its schedule walks all points one by one.
    """
    for passes in smaller_passes(case.passes):
        yield replace(case, passes=passes)
    for sizes in smaller_sizes(case.sizes):
        yield replace(case, sizes=sizes)
    program = case.program
    for directives in _without_some(program.directives):
        yield _cleaned(case, replace(program, directives=directives))
    for definition in program.definitions:
        yield _cleaned(case, _without_function(program, definition.name))
        yield _cleaned(case, _inlined(program, definition))
    for i, definition in enumerate(program.definitions):
        for expr in _simpler(definition.expression):
            definitions = list(program.definitions)
            definitions[i] = replace(definition, expression=expr)
            yield _cleaned(case, replace(program, definitions=definitions))
        for axis in range(len(definition.labels)):
            yield _cleaned(case, _without_axis(program, definition, axis))
    for i, directive in enumerate(program.directives):
        for arguments in _smaller_arguments(directive.arguments):
            directives = list(program.directives)
            directives[i] = replace(directive, arguments=arguments)
            yield _cleaned(case, replace(program, directives=directives))
    for i, declaration in enumerate(program.declarations):
        if declaration.type is not None:
            declarations = list(program.declarations)
            declarations[i] = replace(declaration, type=None)
            yield replace(case, program=replace(program, declarations=declarations))


def _without_some(items: list[DirectiveCall]) -> Iterator[list[DirectiveCall]]:
    """Without half of the directives, or without one."""
    half = len(items) // 2
    if half > 1:
        yield [d for d in items[:half] if d.name not in OUTPUT_DIRECTIVES] + _outputs(items)
        yield [d for d in items[half:] if d.name not in OUTPUT_DIRECTIVES] + _outputs(items)
    for i in range(len(items)):
        yield items[:i] + items[i + 1 :]


def _outputs(items: list[DirectiveCall]) -> list[DirectiveCall]:
    return [item for item in items if item.name in OUTPUT_DIRECTIVES]


def _without_function(program: SyntaxTree, name: str) -> SyntaxTree:
    """Without a function: where it was read stands a 1."""

    def gone(expr: Expr) -> Expr:
        if isinstance(expr, Read | Name) and expr.name == name:
            return Number(1.0)
        return with_parts(expr, [gone(child) for child in parts_of(expr)])

    definitions = [
        replace(d, expression=gone(d.expression)) for d in program.definitions if d.name != name
    ]
    directives = [
        d
        for d in program.directives
        if d.function != name and all(name not in (a.key, a.value) for a in d.arguments)
    ]
    return replace(program, definitions=definitions, directives=directives)


def _inlined(program: SyntaxTree, function: Definition) -> SyntaxTree:
    """Substitutes a function's expression where it was read."""

    def inside(expr: Expr) -> Expr:
        children = [inside(child) for child in parts_of(expr)]
        if isinstance(expr, Read | Name) and expr.name == function.name:
            return _substituted(function.expression, dict(zip(function.labels, children)))
        return with_parts(expr, children)

    rest = _without_function(program, function.name)
    definitions = [
        replace(d, expression=inside(d.expression))
        for d in program.definitions
        if d.name != function.name
    ]
    return replace(rest, definitions=definitions)


def _substituted(expr: Expr, indices: Mapping[str, Expr]) -> Expr:
    if isinstance(expr, Name):
        return indices.get(expr.name, expr)
    return with_parts(expr, [_substituted(child, indices) for child in parts_of(expr)])


def _without_axis(program: SyntaxTree, definition: Definition, axis: int) -> SyntaxTree:
    """Removes an axis of a function; index 0 replaces the label inside."""
    label, name = definition.labels[axis], definition.name

    def outside(expr: Expr) -> Expr:
        children = [outside(child) for child in parts_of(expr)]
        if isinstance(expr, Read) and expr.name == name:
            del children[axis]
            return replace(expr, indices=tuple(children)) if children else Name(name)
        return with_parts(expr, children)

    def inside(expr: Expr) -> Expr:
        if isinstance(expr, Name) and expr.name == label:
            return Number(0)
        return with_parts(expr, [inside(child) for child in parts_of(expr)])

    definitions: list[Definition] = []
    for other in program.definitions:
        if other.name == name:
            labels = other.labels[:axis] + other.labels[axis + 1 :]
            expression = inside(other.expression)
            definitions.append(replace(other, labels=labels, expression=expression))
        else:
            definitions.append(replace(other, expression=outside(other.expression)))
    directives: list[DirectiveCall] = []
    for item in program.directives:
        arguments = tuple(a for a in item.arguments if label not in (a.key, a.value))
        if item.function != name or len(arguments) == len(item.arguments):
            directives.append(item)
        elif arguments:
            directives.append(replace(item, arguments=arguments))
    return replace(program, definitions=definitions, directives=directives)


def _simpler(expr: Expr) -> Iterator[Expr]:
    """Expressions with one part replaced by a part of it, or by a number."""
    if isinstance(expr, Call | Prefix | Infix):
        yield from parts_of(expr)
        yield Number(1.0)
    if isinstance(expr, Read):
        yield Number(1.0)
    if isinstance(expr, Number) and expr.value not in (0, 1):
        yield Number(type(expr.value)(1))
    if isinstance(expr, Call) and len(expr.arguments) > 2:
        # A reduction over fewer labels.
        for i in range(1, len(expr.arguments)):
            yield replace(expr, arguments=expr.arguments[:i] + expr.arguments[i + 1 :])
    children = parts_of(expr)
    for i, child in enumerate(children):
        if isinstance(expr, Read):
            # An index is a label or a number.
            simpler = iter([Number(0)] if isinstance(child, Name) else [])
        else:
            simpler = _simpler(child)
        for new in simpler:
            yield with_parts(expr, [*children[:i], new, *children[i + 1 :]])


def _smaller_arguments(arguments: tuple[Argument, ...]) -> Iterator[tuple[Argument, ...]]:
    """Removes an argument, or makes a number smaller."""
    if len(arguments) > 1:
        for i in range(len(arguments)):
            yield arguments[:i] + arguments[i + 1 :]
    for i, argument in enumerate(arguments):
        for field_name in ("value", "factor"):
            number = getattr(argument, field_name)
            if isinstance(number, int) and number > 1:
                for less in dict.fromkeys((1, 2, number // 2)):
                    if less < number:
                        new = argument._replace(**{field_name: less})
                        yield (*arguments[:i], new, *arguments[i + 1 :])


def _cleaned(case: ProgramCase, program: SyntaxTree) -> ProgramCase:
    """A case with this program, without declarations that nothing uses."""
    used: set[str] = set()

    def note(expr: Expr) -> None:
        if isinstance(expr, Read | Name):
            used.add(expr.name)
        for child in parts_of(expr):
            note(child)

    for definition in program.definitions:
        used.update((definition.name, *definition.labels))
        note(definition.expression)
    for directive in program.directives:
        used.add(directive.function)
        for argument in directive.arguments:
            used.update(x for x in (argument.key, argument.value) if isinstance(x, str))
    declarations = [d for d in program.declarations if d.name in used]
    labels = {d.name for d in declarations if d.kind in ("Var", "RVar")}
    sizes = {label: size for label, size in case.sizes.items() if label in labels}
    return replace(case, program=replace(program, declarations=declarations), sizes=sizes)
