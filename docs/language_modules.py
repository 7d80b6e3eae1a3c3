"""Writes the modules of DT in Python that follow from definitions.

A function of `dt_mlir.elementwise`, a reduction and a directive are each defined once; that Python
and editors see them with signatures and documentation is what these modules are for.
"""

import inspect
import textwrap

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.elementwise import FUNCTIONS
from dt_mlir.frontend.symbols import REDUCTIONS
from dt_mlir.registry import PASSES
from dt_mlir.scheduling.directive import Directive
from dt_mlir.scheduling.parameters import (
    Choice,
    Integer,
    Kind,
    Name,
    NamedChoice,
    Names,
    Pairs,
    PartsOf,
    Setting,
    Sizes,
)

HEADER = '"""{}\n\nWritten by docs/generate.py from the definitions; not to be edited.\n"""\n\n'


def _doc(text: str, indent: int = 4) -> str:
    wrapped = textwrap.wrap(text, 96 - indent)
    if len(wrapped) == 1:
        return f'"""{wrapped[0]}"""'
    lines = [f'"""{wrapped[0]}', *wrapped[1:], '"""']
    return ("\n" + " " * indent).join(lines)


def functions_module() -> str:
    """The functions and reductions."""
    parts = [
        HEADER.format("The functions of DT in Python."),
        "from __future__ import annotations\n\n",
        "from dt_mlir.language.declarations import Label\n",
        "from dt_mlir.language.expressions import Expr, call\n\n",
        "__all__ = [\n",
        textwrap.fill(
            ", ".join(f'"{name}"' for name in (*FUNCTIONS, *BOUNDARIES, *REDUCTIONS)) + ",", 96,
            initial_indent="    ", subsequent_indent="    ",
        ),
        "\n]  # fmt: skip\n\n",
        "Value = Expr | int | float\n",
        '"""The operands of expressions; numbers have no type of their own."""\n',
    ]
    for function in FUNCTIONS.values():
        names = {"clamp": ("x", "low", "high")}.get(function.name, tuple("xyz"[: function.arity]))
        shown = ", ".join(f"{name}: Value" for name in names)
        parts.append(
            f"\n\ndef {function.name}({shown}) -> Expr:\n"
            f"    {_doc(f'Returns {function.summary}.')}\n"
            f'    return call("{function.name}", {", ".join(names)})\n'
        )
    for name, condition in BOUNDARIES.items():
        value = name == CONSTANT
        outside = ", value: Value" if value else ""
        text = f"Returns an element of a tensor; out of bounds it is {condition.summary}."
        given = "read, value" if value else "read"
        parts.append(
            f"\n\ndef {name}(read: Expr{outside}) -> Expr:\n"
            f"    {_doc(text)}\n"
            f'    return call("{name}", {given})\n'
        )
    for name, what in REDUCTIONS.items():
        names = ["a", "b"] if name == "rdot" else ["value"]
        first, given = ", ".join(f"{n}: Value" for n in names), ", ".join(names)
        parts.append(
            f"\n\ndef {name}({first}, *domain: Label | Expr) -> Expr:\n"
            f"    {_doc(f'Returns {what}, at the points where the conditions behind them hold.')}\n"
            f'    return call("{name}", {given}, *domain)\n'
        )
    return "".join(parts)


def _parameter(name: str, kind: Kind) -> tuple[str, str]:
    """Returns a parameter's declaration, and the argument that hands it on."""
    match kind:
        case Sizes():
            return f"**{name}: Size", f"**{name}"
        case Pairs():
            return f"**{name}: NameLike", f"**{name}"
        case Names():
            return f"*{name}: NameLike", f"*{name}"
        case Setting():
            return f"{name}: Size", f"{name}={name}"
        case Integer():
            return f"{name}: Size", name
        case NamedChoice(_, words):
            literals = ", ".join(f'"{word}"' for word in words)
            return f"{name}: Literal[{literals}] | Choices", f"{name}={name}"
        case Choice(words):
            literals = ", ".join(f'"{word}"' for word in words)
            return f"{name}: Literal[{literals}] | Choices", name
        case Name():
            return f"{name}: NameLike", name
        case PartsOf():
            return f"*{name}: NameLike, **sizes: Size", f"*{name}, **sizes"
        case _:
            return f"{name}: object", name


def _parameters(cls: type[Directive]) -> list[tuple[str, Kind, str]]:
    """Returns the parameters of a directive; those that Python gives by label come last."""
    return sorted(cls.parameters(), key=lambda item: isinstance(item[1], PartsOf))


def _form(cls: type[Directive]) -> str:
    """Returns a directive as a call in Python."""
    shown: list[str] = []
    for name, kind, _ in _parameters(cls):
        match kind:
            case PartsOf():
                shown.append("k=8")
            case Sizes():
                shown.append("x=64, …")
            case Pairs():
                shown.append("x='i', …")
            case Names():
                shown.append("x, y, …")
            case NamedChoice(_, words):
                shown.append(f"{name}='{words[-1]}'")
            case Choice(words):
                shown.append(f"'{words[0]}'")
            case _:
                shown.append(name)
    return f"{cls.directive_name()}({', '.join(shown)})"


def directives_module() -> str:
    """The directives as methods."""
    parts = [
        HEADER.format("The directives of the language as methods."),
        "from __future__ import annotations\n\n",
        "from abc import ABC, abstractmethod\n",
        "from typing import Literal, Self\n\n",
        "from dt_mlir.language.arguments import Choices, NameLike, Size\n",
        "from dt_mlir.language.checked import checked\n\n\n",
        "class Directives(ABC):\n",
        '    """Has a method for each directive; each gives back what it is called on."""\n\n',
        "    @abstractmethod\n",
        "    def direct(self, name: str, /, *arguments: object, **sizes: object) -> Self:\n",
        '        """Add a directive by its name, as a plug-in\'s is added."""\n',
    ]
    for load in PASSES.values():
        cls = load()
        if not issubclass(cls, Directive):
            continue
        declared, handed, rows = [], [], []
        for name, kind, doc in _parameters(cls):
            parameter, argument = _parameter(name, kind)
            if name in cls.defaults() and not kind.takes_rest:
                parameter = f"{parameter} = {cls.defaults()[name]!r}"
            declared.append(parameter)
            handed.append(argument)
            rows.append(f"            {name}: {doc[0].lower()}{doc[1:]}")
        first, *paragraphs = (inspect.getdoc(cls) or "").split("\n```")[0].strip().split("\n\n")
        name = cls.directive_name()
        body = "\n\n".join(
            textwrap.fill(" ".join(paragraph.split()), 98, initial_indent=" " * 8,
                          subsequent_indent=" " * 8, break_on_hyphens=False)
            for paragraph in paragraphs
        )
        arguments = "\n        Args:\n" + "\n".join(rows) + "\n" if rows else ""
        quoted = f'"{name}"'
        signature = f"    def {name}({', '.join(['self', '/', *declared])}) -> Self:\n"
        if len(signature) > 101:
            rows = ",\n        ".join(["self", "/", *declared])
            signature = f"    def {name}(\n        {rows},\n    ) -> Self:\n"
        parts.append(
            f'\n    @checked("{_form(cls)}")\n'
            f"{signature}"
            f'        """{first}\n\n{body}\n{arguments}        """\n'
            f'        return self.direct({", ".join([quoted, *handed])})\n'
        )
    return "".join(parts)
