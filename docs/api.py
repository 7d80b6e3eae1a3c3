"""Writes the reference of the language in Python from signatures and docstrings."""

import inspect
import textwrap
from enum import Enum
from functools import cache
from typing import Any

from griffe import Class, Function, GriffeLoader, Parser
from xdsl.ir import Operation

import dt_mlir
from dt_mlir import kernels
from dt_mlir.language import functions
from dt_mlir.language.directives import Directives

INTRODUCTION = """\
# Reference of DT in Python

What `import dt_mlir as dt` gives. [DT in Python](python.md) shows it at work, and
[From PyTorch to a tuned kernel](pytorch.md) from the beginning.
"""
DIRECTIVES = textwrap.fill(
    "Directives are methods, too: "
    + ", ".join(
        f"[`{name}`](passes/schedule-{name.replace('_', '-')}.md)"
        for name, value in vars(Directives).items()
        if inspect.isfunction(value) and not name.startswith("_") and name != "direct"
    )
    + ".",
    width=120, break_long_words=False, break_on_hyphens=False,
)  # fmt: skip
ELEMENTS = textwrap.fill(
    "They take expressions and numbers, and reductions one or several `RVar`; each gives an "
    "expression, whose type [the language](language.md) says. Errors are of "
    "[measured size](accuracy.md). What has the wrong type is refused when the program is "
    "compiled.",
    width=120,
)
GROUPS = (
    ("Programs", ("Var", "RVar", "In", "SIn", "Func", "Expr", "Program", "parse", "compile")),
    ("Schedules", ("Schedule", "Knob", "one_of", "load")),
    ("Kernels", ("Kernel", "interpret", "CompileError")),
    (
        "Exploring schedules",
        (
            "auto", "Automatic", "tune", "Tuned", "TunedForSizes", "Dispatched", "Autotuned",
            "best",
        ),
    ),
    ("Expressions", ("where", "cast", "reshape", "len", "size")),
)


def _sections(thing: Class | Function) -> list[str]:
    """A docstring's text, and tables of its sections."""
    if thing.docstring is None:
        return []
    lines: list[str] = []
    for section in thing.docstring.parse(Parser.google):
        if section.kind.value == "text":
            lines += [section.value, ""]
        elif section.kind.value in ("parameters", "raises", "returns", "attributes"):
            titles = {"parameters": "argument", "raises": "raises", "returns": "returns"}
            lines += [f"| {titles.get(section.kind.value, 'attribute')} | |", "| --- | --- |"]
            for item in section.value:
                name = getattr(item, "name", "") or str(item.annotation or "")
                text = " ".join(str(item.description).split()).replace("|", "\\|")
                lines.append(f"| {f'`{name}`' if name else ''} | {text} |")
            lines.append("")
        else:
            raise ValueError(f"{thing.path}: docs/api.py has no way to show '{section.kind.value}'")
    return lines


class _Text(str):
    """An annotation as it is written, without quotes."""

    __repr__ = str.__str__


def _signature(name: str, thing: Any, result: bool = True) -> str:
    signature = inspect.signature(thing)
    given = [
        p.replace(annotation=p.annotation if p.annotation is p.empty else _Text(p.annotation))
        for p in signature.parameters.values() if p.name != "self"
    ]  # fmt: skip
    returned = signature.return_annotation
    if not result or returned is signature.empty:
        returned = signature.empty
    else:
        returned = _Text(returned)
    text = str(signature.replace(parameters=given, return_annotation=returned))
    return f"```python\n{name}{text}\n```"


def _bases(cls: type, loader: GriffeLoader) -> list[Class]:
    """Returns a class and those of the same name that it extends, the base first."""
    same = [base for base in reversed(cls.__mro__) if base.__name__ == cls.__name__]
    return [loader.modules_collection[base.__module__].members[cls.__name__] for base in same]


def class_lines(name: str, cls: type, bases: list[Class]) -> list[str]:
    """The section of a class, whose members are those of the bases of its name, too."""
    lines = [f"### `{name}`", ""]
    # The constructors that operations and enumerations inherit say nothing.
    inherits = issubclass(cls, Operation | Enum) and "__init__" not in cls.__dict__
    if cls.__init__ is not object.__init__ and not inherits:
        lines += [_signature(name, cls, result=False), ""]
    lines += _sections(bases[0])
    members: dict[str, Any] = {}
    for base in bases:
        members |= base.members
    fields = [
        (key, member)
        for key, member in members.items()
        if not key.startswith("_") and not member.is_alias and not member.is_function
        and member.docstring is not None
    ]  # fmt: skip
    if fields:
        lines += ["| attribute | |", "| --- | --- |"]
        for key, member in fields:
            text = " ".join(member.docstring.value.split()).replace("|", "\\|")
            lines.append(f"| `{key}` | {text} |")
        lines.append("")
    if issubclass(cls, Enum) and not {item.name for item in cls} & {key for key, _ in fields}:
        lines += [f"Its members are {', '.join(f'`{item.name}`' for item in cls)}.", ""]
    if issubclass(cls, Directives):
        lines += [DIRECTIVES, ""]
    for key, member in members.items():
        public = not key.startswith("_") or key in ("__call__", "__getitem__", "__setitem__")
        if not member.is_function or not public or member.docstring is None:
            continue
        lines += [f"#### `{name}.{key}`", "", _signature(key, getattr(cls, key)), ""]
        lines += _sections(member)
    return lines


def function_lines(name: str, value: Any, thing: Function) -> list[str]:
    """The section of a function."""
    return [f"### `{name}`", "", _signature(name, value), "", *_sections(thing)]


@cache
def package_loader() -> GriffeLoader:
    """The package's modules with their docstrings; a load visits all of them."""
    loader = GriffeLoader()
    loader.load("dt_mlir")
    return loader


def api_page() -> str:
    """The page, without its header.

    Raises:
        ValueError: if a public name is not documented, or in no group.
    """
    loader = package_loader()
    grouped = {name for _, names in GROUPS for name in names}
    missing = {*kernels.__all__} - grouped - {*functions.__all__}
    if missing:
        raise ValueError(f"docs/api.py has no group for {', '.join(sorted(missing))}")
    lines = [INTRODUCTION]
    for title, names in GROUPS:
        lines += [f"## {title}", ""]
        for name in names:
            value = getattr(dt_mlir, name)
            home = loader.modules_collection[value.__module__]
            thing = home.members[value.__name__]
            if not value.__doc__:
                raise ValueError(f"dt_mlir.{name} has no docstring")
            if isinstance(value, type):
                lines += class_lines(name, value, _bases(value, loader))
            else:
                lines += function_lines(name, value, thing)
    lines += ["## Functions and reductions", "", ELEMENTS, "", "| function | |", "| --- | --- |"]
    for name in functions.__all__:
        value = getattr(functions, name)
        given = ", ".join(
            f"{'*' if p.kind is p.VAR_POSITIONAL else ''}{p.name}"
            for p in inspect.signature(value).parameters.values()
        )
        text = " ".join((inspect.getdoc(value) or "").split()).replace("|", "\\|")
        lines.append(f"| `{name}({given})` | {text} |")
    return "\n".join(lines).rstrip() + "\n"
