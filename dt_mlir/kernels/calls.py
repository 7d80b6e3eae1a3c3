"""The arguments of kernels: inputs by place or by name, sizes of labels, and `out`."""

from __future__ import annotations

import inspect
import keyword
import operator
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import torch

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.element_types import ELEMENT_TYPES, integer_range, is_float
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.language.places import refusal
from dt_mlir.language.program import Program

LARGEST_SIZE = 2**63 - 1


def parameter_names(names: Iterable[str]) -> dict[str, str]:
    """Returns the parameters of a function for names, of which Python and PyTorch's compiler keep
    some to themselves.

    `lambda` is called `lambda_`.
    """
    known = [*names]
    found: dict[str, str] = {}
    for name in known:
        parameter = name
        while _is_kept(parameter) or parameter != name and parameter in known:
            parameter += "_"
        found[name] = parameter
    return found


def _is_kept(name: str) -> bool:
    return keyword.iskeyword(name) or name == "self"


class Calls:
    """The signature of a program.

    Args:
        function: what to call the kernel in messages.
        program: the program.

    Raises:
        CompileError: if an input, or a label whose size callers give, has the name of a parameter
            of every kernel.
    """

    def __init__(self, function: str, program: Program) -> None:
        self.function = function
        declarations = program.tree.declarations
        self.tensors = [d.name for d in declarations if d.kind == "In"]
        self.numbers = {d.name: d.type or "f32" for d in declarations if d.kind == "SIn"}
        self.names = [*self.tensors, *self.numbers]
        outputs = [d for d in program.tree.all_directives() if d.name in OUTPUT_DIRECTIVES]
        self._has_several = len(outputs) > 1
        if "out" in self.names:
            raise refusal("'out' is a parameter of every kernel", "call the input something else")
        labels: list[str] = []
        with suppress(CompileError):
            # Mistakes of the program show when it is compiled.
            labels = Interface.of(program.module()).free_labels()
        if "out" in labels:
            raise refusal("'out' is a parameter of every kernel", "call the label something else")
        self._parameters = parameter_names([*self.names, *labels])

    def signature(self) -> inspect.Signature:
        """Returns the signature that `help` and editors show."""
        kinds = inspect.Parameter
        given = [
            kinds(self._parameters[name], kinds.POSITIONAL_OR_KEYWORD) for name in self.names
        ]
        sizes = "sizes"
        while sizes in self.names:
            sizes += "_"
        out = kinds("out", kinds.KEYWORD_ONLY, default=None)
        return inspect.Signature([*given, out, kinds(sizes, kinds.VAR_KEYWORD)])

    def placed(self, inputs: Sequence[Any], options: dict[str, Any]) -> tuple[Any, ...]:
        """The inputs in their places, those included that are given by name.

        Args:
            inputs: those that are given by place.
            options: what is given by name; inputs, and an `out` of None, are taken out.

        Raises:
            TypeError: if there are too many, too few, or one twice.
        """
        found = list(inputs)
        for name, parameter in self._parameters.items():
            if parameter != name and parameter in options:
                if name in options:
                    raise TypeError(
                        f"{self.function}: '{name}' is given twice, also as '{parameter}'"
                    )
                options[name] = options.pop(parameter)
        if len(found) > len(self.names):
            takes = ", ".join(self.names) or "none"
            raise TypeError(
                f"{self.function}: takes {len(self.names)} inputs ({takes}), not {len(found)}; "
                "give 'out' and sizes by name"
            )
        if "out" in options and options["out"] is None:
            del options["out"]
        elif self._has_several and isinstance(options.get("out"), list):
            options["out"] = tuple(options["out"])
        for name in self.names[: len(found)]:
            if name in options:
                raise TypeError(f"{self.function}: '{name}' is given twice, by place and by name")
        for name in self.names[len(found) :]:
            if name not in options:
                what = "number" if name in self.numbers else "tensor"
                raise TypeError(f"{self.function}: the {what} '{name}' is missing")
            found.append(options.pop(name))
        return tuple(found)

    def converted(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The inputs, numbers as Python's of their kind.

        Raises:
            TypeError: for what is not a number of its type's kind.
            ValueError: for a number that its type does not hold.
        """
        found = list(inputs)
        for place, (name, type_name) in enumerate(self.numbers.items(), len(self.tensors)):
            found[place] = self._number(name, ELEMENT_TYPES[type_name], found[place])
        return tuple(found)

    def _number(self, name: str, element: Any, value: Any) -> Any:
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return value
        text = f"{self.function}: '{name}' must be"
        kind = type(value).__name__
        truth = isinstance(value, bool) or kind in ("bool", "bool_")
        if element == ELEMENT_TYPES["bool"]:
            if not truth:
                raise TypeError(f"{text} True or False, not a {kind}")
            return bool(value)
        if is_float(element):
            if truth or not isinstance(value, Real):
                raise TypeError(f"{text} a real number, not a {kind}")
            try:
                return float(value)
            except OverflowError:
                raise ValueError(
                    f"{self.function}: '{name}' is too large for a floating-point number"
                ) from None
        if truth or not isinstance(value, Integral):
            raise TypeError(f"{text} a whole number, not a {kind}")
        least, most = integer_range(element)
        if not least <= int(value) <= most:
            raise ValueError(f"{text} within {least} and {most}, not {value}")
        return int(value)

    def options(self, given: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
        """The sizes of labels, and `out`.

        Args:
            given: what is given by name, without inputs.
            labels: the labels whose sizes no tensor has.

        Raises:
            TypeError: for another name, or a size that is not a whole number.
            ValueError: for a size below 0, or beyond what a tensor can have.
            RuntimeError: if a gradient is wanted of what is written to `out`.
        """
        found: dict[str, Any] = {}
        for name, value in given.items():
            if name == "out":
                self._check_out(value)
                found[name] = value
                continue
            if name not in labels:
                takes = ", ".join((*labels, "out"))
                raise TypeError(f"{self.function}: there is no '{name}' to give; there are {takes}")
            if isinstance(value, torch.SymInt):
                found[name] = value
                continue
            try:
                size = operator.index(value)
            except TypeError:
                size = None
            if size is None or isinstance(value, bool):
                raise TypeError(
                    f"{self.function}: the size of '{name}' must be a whole number, not a "
                    f"{type(value).__name__}"
                )
            if not 0 <= size <= LARGEST_SIZE:
                raise ValueError(f"{self.function}: the size of '{name}' cannot be {size}")
            found[name] = size
        for name in labels:
            if name not in found:
                raise TypeError(
                    f"{self.function}: the size of '{name}' is missing: no tensor has it; give it "
                    f"by name, as in {name}=16, or declare what it follows from, as in "
                    f"Var('{name}', size(A, 0))"
                )
        return found

    def _check_out(self, out: Any) -> None:
        for result in out if isinstance(out, tuple) else (out,):
            if getattr(result, "requires_grad", False) and torch.is_grad_enabled():
                raise RuntimeError(
                    f"{self.function}: 'out' requires a gradient, and what is written to it has "
                    "none; call it under torch.no_grad()"
                )
