"""Emits `dt` IR from a checked syntax tree; this is where types are inferred."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, Note, did_you_mean, give_locations
from dt_mlir.dialects import dt, sched
from dt_mlir.dialects.sched import Argument, KnobReference
from dt_mlir.element_types import ELEMENT_TYPES, compute_type
from dt_mlir.frontend.analysis import analyse
from dt_mlir.frontend.expressions import ExpressionEmitter
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.symbols import Symbols
from dt_mlir.frontend.syntax import Declaration, DirectiveCall, SyntaxTree


@compiling()
def compile_text(
    text: str, file: str, types: Iterable[tuple[str, str]] = ()
) -> tuple[ModuleOp, list[Note]]:
    """Compiles a program's text to a module of the `dt` level.

    Args:
        text: the program.
        file: what to call it in locations and messages.
        types: element types of inputs and functions that are declared anew, as pairs of a name and
            DT's name of a type. Numbers are still exact here; they are rounded in a module.

    Returns:
        The module, and the warnings and remarks.

    Raises:
        CompileError: at the first mistake of the program.
    """
    symbols = analyse(set_types(parse_program(text, file), types))
    return emit(symbols), symbols.warnings


def emit_program(program: SyntaxTree) -> ModuleOp:
    """Emits the module of a syntax tree.

    Raises:
        CompileError: at the first mistake.
    """
    return emit(analyse(program))


@compiling()
def emit(symbols: Symbols) -> ModuleOp:
    """Emits the module of a checked program.

    Raises:
        CompileError: where an operator is not defined on its operands' types.
    """
    warnings, known = list(symbols.warnings), set(symbols.wide_scalars)
    functions, elements = _functions(symbols)
    if symbols.wide_scalars != known:
        # A scalar of no declared type has the widest one that something takes it in.
        symbols.warnings[:] = warnings
        functions, elements = _functions(symbols)
    ops: list[Operation] = []
    for item in symbols.declarations.values():
        match item.kind:
            case "Var" | "RVar":
                op: Operation = _label(symbols, item)
            case "In" | "SIn":
                type = _input_type(symbols, item.name, elements)
                declared = item.kind == "SIn" and item.type in ("f32", "f64")
                op = dt.InputOp(item.name, type, _axes(symbols, item.name), declared)
            case _:
                continue
        op.location = symbols.location(item.at)
        ops.append(op)
    implicit: list[Operation] = [dt.LabelOp(name, axis=True) for name in symbols.sizes.implicit]
    for op in implicit:
        # Nothing declares them; functions that are read in windows need them.
        op.location = next(function.location for function in functions.values())
    ops[:0] = implicit
    ops.extend(functions[name] for name in symbols.definitions)
    schedule = _schedule(symbols)
    if schedule:
        whole = sched.ScheduleOp(Region(Block(schedule)))
        whole.location = schedule[0].location
        ops.append(whole)
    for item in symbols.outputs:
        dynamic = any(a.key == "dynamic" and a.value == 1 for a in item.arguments)
        op = dt.OutputOp(item.function, item.name == "compile_to_kernel", dynamic)
        op.location = symbols.location(item.at)
        ops.append(op)
    return ModuleOp(ops)


def _label(symbols: Symbols, item: Declaration) -> dt.LabelOp:
    """The declaration of a label, with its size if it has one of its own."""
    op = dt.LabelOp(item.name, item.kind == "RVar")
    for table, inferred in ((symbols.sizes.declared, False), (symbols.sizes.inferred, True)):
        if item.name in table:
            map, sizes = table[item.name]
            op.set_size(map, sizes, inferred)
    return op


def _axes(symbols: Symbols, name: str) -> list[str] | None:
    """The labels of an input's axes; None where its reads say them."""
    return symbols.sizes.axes[name] if name in symbols.sizes.explicit else None


def _schedule(symbols: Symbols) -> list[Operation]:
    """The knobs, directives and alternatives."""
    knobs = {item.name for item in symbols.program.knobs}
    ops: list[Operation] = []
    for item in symbols.program.knobs:
        knob = sched.KnobOp(item.name, item.options)
        knob.location = symbols.location(item.at)
        ops.append(knob)
    ops += [_directive(symbols, item, knobs) for item in symbols.schedule]
    for item in symbols.program.alternatives:
        branches = [
            Region(Block([_directive(symbols, call, knobs) for call in branch]))
            for branch in item.branches
        ]
        alternatives = sched.AlternativesOp(item.name, branches)
        alternatives.location = symbols.location(item.at)
        ops.append(alternatives)
    return ops


def _directive(symbols: Symbols, item: DirectiveCall, knobs: set[str]) -> sched.DirectiveOp:
    def known(argument: Argument) -> Argument:
        value = argument.value
        if isinstance(value, str) and value in knobs:
            return argument._replace(value=KnobReference(value))
        return argument

    directive = sched.DirectiveOp.make(item.name, item.function, [known(a) for a in item.arguments])
    directive.location = symbols.location(item.name_at)
    directive.set_reason(item.reason)
    return directive


def _functions(symbols: Symbols) -> tuple[dict[str, dt.FuncOp], dict[str, Attribute]]:
    """Emits the functions; returns them, and the element types of inputs and functions."""
    elements = _input_elements(symbols)
    functions: dict[str, dt.FuncOp] = {}
    for name in symbols.order:
        functions[name] = _function(symbols, name, elements)
        elements[name] = functions[name].element
    return functions, elements


def _input_elements(symbols: Symbols) -> dict[str, Attribute]:
    def type_of(item: Declaration) -> str:
        return item.type or ("f64" if item.name in symbols.wide_scalars else "f32")

    return {
        item.name: ELEMENT_TYPES[type_of(item)]
        for item in symbols.declarations.values()
        if item.kind in ("In", "SIn")
    }


def _input_type(symbols: Symbols, name: str, elements: dict[str, Attribute]) -> Attribute:
    if symbols.kind(name) == "SIn":
        return elements[name]
    rank = symbols.ranks.get(name)
    if rank is None:
        return UnrankedTensorType(elements[name])
    return TensorType(elements[name], [DYNAMIC_INDEX] * rank)


def _function(symbols: Symbols, name: str, elements: dict[str, Attribute]) -> dt.FuncOp:
    definition = symbols.definitions[name]
    declared = symbols.declarations[name].type
    block = Block()
    emitter = ExpressionEmitter(symbols, elements, block)
    value = emitter.emit(definition.expression)
    natural = compute_type(emitter.element_of(value))
    element = ELEMENT_TYPES[declared] if declared is not None else natural
    location = symbols.location(definition.at)
    result = emitter.convert(value, element, definition.expression.at)
    block.add_op(dt.YieldOp(result))
    op = dt.FuncOp(name, definition.labels, element, Region(block), declared is not None)
    op.location = location
    give_locations(op)
    return op


def set_types(program: SyntaxTree, types: Iterable[tuple[str, str]]) -> SyntaxTree:
    """A program with element types declared anew.

    Args:
        program: the program.
        types: pairs of a function's or an input's name and DT's name of a type.

    Raises:
        CompileError: if there is no such name or type.
    """
    wanted = dict(types)
    by_name = {d.name: d for d in program.declarations}
    for name, type in wanted.items():
        found = by_name.get(name)
        if found is None or found.kind in ("Var", "RVar"):
            tensors = [d.name for d in program.declarations if d.kind not in ("Var", "RVar")]
            raise CompileError(
                f"there is no input or function '{name}' to give a type", None,
                did_you_mean(name, tensors),
            )
        if type not in ELEMENT_TYPES:
            raise CompileError(
                f"'{type}' is not an element type", None, f"there are {', '.join(ELEMENT_TYPES)}"
            )
    declarations = [
        replace(d, type=wanted.get(d.name, d.type))
        for d in program.declarations
    ]
    return replace(program, declarations=declarations)


