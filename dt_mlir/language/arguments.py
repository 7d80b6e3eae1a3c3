"""Arguments of directives as Python values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from dt_mlir.dialects.sched import Argument, Options
from dt_mlir.frontend.syntax import KnobDefinition
from dt_mlir.language.names import Named
from dt_mlir.language.places import here, is_a, refusal, serial
from dt_mlir.scheduling.parameters import ArgumentError, parse_argument


class Knob:
    """Options that several arguments of a space share: `BM = Knob("BM", 64, 128)`.

    Args:
        name: what the space calls it.
        options: numbers or names, of which one is chosen.
    """

    def __init__(self, name: str, *options: int | str) -> None:
        if not is_a(name, str) or not name.isidentifier():
            raise refusal(f"{name!r} is not a name")
        self.name = name
        self.definition = KnobDefinition(name, _options(options), here())
        self.serial = next(serial)


@dataclass(frozen=True)
class Choices:
    """The options of an argument, of which one is chosen: `one_of(64, 128)`."""

    options: Options


def one_of(*options: int | str) -> Choices:
    """A set-valued argument of a space of schedules.

    Args:
        options: numbers or names, all different.
    """
    return Choices(_options(options))


Size = int | Knob | Choices
"""A number, or a space of them."""


NameLike = Named | Knob | Choices | str
"""A label or a function, or its name; of `map` a split as well: `"x:x1/8"`."""


def _options(values: Sequence[int | str]) -> Options:
    if not values:
        raise refusal("a set of options needs at least one")
    for value in values:
        if isinstance(value, bool) or not is_a(value, int, str):
            raise refusal(f"{value!r} is not an option", "there are whole numbers and names")
        if isinstance(value, str) and not value.isidentifier():
            raise refusal(f"{value!r} is not a name")
        if isinstance(value, int):
            _fitting(value)
    if len(set(values)) < len(values):
        raise refusal("the options of a set must be different")
    return Options(tuple(values))


def _fitting(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise refusal("the number does not fit in 64 bits")
    return value


def arguments_of(
    positional: Sequence[object], keyed: dict[str, object]
) -> tuple[tuple[Argument, ...], list[Knob]]:
    """Arguments of a directive, and the knobs among them.

    Raises:
        CompileError: if a value is not an argument.
    """
    knobs: list[Knob] = []

    def value(given: object) -> int | str | Options:
        match given:
            case bool():
                raise refusal(f"{given} is not an argument of a directive", "write 0 or 1")
            case str():
                return given
            case Integral():
                return _fitting(int(given))
            case Choices(options):
                return options
            case Knob():
                knobs.append(given)
                # As the parser gives it; that it is a knob follows from its definition.
                return given.name
            case Named():
                return given.name
            case _:
                raise refusal(
                    f"a {type(given).__name__} is not an argument of a directive",
                    "there are numbers, names, labels, functions, knobs and one_of(…)",
                )

    found: list[Argument] = []
    for item in positional:
        if isinstance(item, str):
            try:
                found.append(parse_argument(item))
            except ArgumentError as error:
                raise refusal(str(error), error.hint) from None
        else:
            found.append(Argument(None, value(item)))
    found += [Argument(key, value(item)) for key, item in keyed.items()]
    return tuple(found), knobs
