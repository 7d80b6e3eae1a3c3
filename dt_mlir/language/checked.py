"""Calls of directives' methods, checked against their signatures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from dt_mlir.language.names import Named
from dt_mlir.language.places import refusal

_Method = TypeVar("_Method", bound=Callable[..., Any])


def checked(form: str) -> Callable[[_Method], _Method]:
    """Makes a method refuse what does not fit its parameters, with how the directive is written.

    Where labels are given with a number or a name each, a dictionary does too: `block({x: 8})`.

    Args:
        form: how the directive is written.
    """

    def wrap(method: _Method) -> _Method:
        signature = inspect.signature(method)
        parameters = list(signature.parameters.values())[1:]
        by_name = bool(parameters) and parameters[0].kind is inspect.Parameter.VAR_KEYWORD

        @functools.wraps(method)
        def call(self: Any, /, *given: Any, **named: Any) -> Any:
            if by_name and len(given) == 1 and isinstance(given[0], Mapping):
                sizes: Mapping[Any, Any] = given[0]
                given = ()
                for label, size in sizes.items():
                    name = _label(label)
                    if name in named:
                        raise refusal(f"{method.__name__}: label '{name}' is given twice")
                    named[name] = size
            try:
                signature.bind(self, *given, **named)
            except TypeError as error:
                pairs = ", ".join(
                    f"{_label(label)}={size}" for label, size in zip(given[::2], given[1::2])
                )
                labels = all(isinstance(label, Named | str) for label in given[::2])
                hint = f"{method.__name__}({pairs})" if by_name and pairs and labels else form
                message = f"{method.__name__}: {_reason(error, by_name)}"
                raise refusal(message, f"write '{hint}'") from None
            return method(self, *given, **named)

        return cast(_Method, call)

    return wrap


def _label(label: Any) -> str:
    return label.name if isinstance(label, Named) else str(label)


def _reason(error: TypeError, by_name: bool) -> str:
    return "labels are given by name, as x=…" if by_name else str(error)
