"""The kinds of parameters that a directive may take.

A kind knows how arguments of the source become the value of the pass option of the same name, and
back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.sched import Argument


class ArgumentError(VerifyException):
    """An argument that does not fit a directive's parameters."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Kind(ABC):
    """A kind of parameter."""

    @property
    @abstractmethod
    def form(self) -> str:
        """The form of the parameter, for messages and documentation."""

    @property
    def takes_rest(self) -> bool:
        """True if the parameter takes all remaining arguments."""
        return False

    @property
    def has_key(self) -> bool:
        """True if the argument stands behind a label, as in `k:8`."""
        return False

    @property
    def is_named(self) -> bool:
        """True if the argument stands behind the parameter's own name."""
        return False

    @abstractmethod
    def decode(self, arguments: list[Argument]) -> Any:
        """The option's value for arguments of the source.

        Raises:
            ArgumentError: if they are not of this kind.
        """

    @abstractmethod
    def encode(self, value: Any) -> list[Argument]:
        """The arguments that say an option's value."""


@dataclass(frozen=True)
class Sizes(Kind):
    """Labels with a number each: `x:128, y:64`; as an option `"x:128","y:64"`."""

    least: int = 1
    most: int = 2**31 - 1

    @property
    def form(self) -> str:
        return "label:number, …"

    @property
    def takes_rest(self) -> bool:
        return True

    def decode(self, arguments: list[Argument]) -> tuple[str, ...]:
        if not arguments:
            raise ArgumentError("it needs at least one label with its number, as in 'x:64'")
        found: dict[str, int] = {}
        for argument in arguments:
            key, value, factor = argument
            if key is None or not isinstance(value, int) or factor is not None:
                raise ArgumentError(f"'{argument}' is not a label with a number, as in 'x:64'")
            if value < self.least:
                usual = {0: "positive, or 0 for the whole extent", 1: "positive"}
                what = usual.get(self.least, f"{self.least} or more")
                raise ArgumentError(f"the number for '{key}' must be {what}, not {value}")
            if value > self.most:
                raise ArgumentError(f"the number for '{key}' must be {self.most} at most")
            if found.setdefault(key, value) != value:
                raise ArgumentError(f"label '{key}' is given twice")
        return tuple(f"{key}:{value}" for key, value in found.items())

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(key, size) for key, size in self.items(value)]

    def items(self, value: tuple[str, ...]) -> list[tuple[str, int]]:
        """The labels and numbers of an option's value."""
        arguments = [parse_argument(item) for item in value]
        self.decode(arguments)
        return [(cast(str, a.key), cast(int, a.value)) for a in arguments]


class _Named(Kind):
    """An argument behind the parameter's own name."""

    @property
    def has_key(self) -> bool:
        return True

    @property
    def is_named(self) -> bool:
        return True


@dataclass(frozen=True)
class Setting(_Named):
    """A number behind its name, `registers:232`; the parameter's name is the setting's."""

    name: str = "setting"
    least: int = 1
    most: int = 2**31 - 1
    multiple: int = 1

    @property
    def form(self) -> str:
        return f"{self.name}:number"

    def decode(self, arguments: list[Argument]) -> int:
        (argument,) = arguments
        if argument.key != self.name:
            raise ArgumentError(f"it takes no argument '{argument}'", f"write '{self.form}'")
        value = argument.value
        if not isinstance(value, int) or argument.factor is not None:
            raise ArgumentError(f"'{argument}' is not a number, as in '{self.name}:{self.least}'")
        if not self.least <= value <= self.most or value % self.multiple:
            multiples = f"a multiple of {self.multiple} " if self.multiple > 1 else ""
            raise ArgumentError(
                f"'{argument}' must be {multiples}from {self.least} to {self.most}"
            )
        return value

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(self.name, int(value))]


@dataclass(frozen=True)
class NamedChoice(_Named):
    """One of some words behind its name, `rounds:alternating`; the name is the parameter's."""

    name: str = "choice"
    words: tuple[str, ...] = field(default=())

    @property
    def form(self) -> str:
        return f"{self.name}:{' | '.join(self.words)}"

    def decode(self, arguments: list[Argument]) -> str:
        (argument,) = arguments
        if argument.factor is not None:
            raise ArgumentError(f"it takes no argument '{argument}'", f"write '{self.form}'")
        return _chosen(argument.value, self.words)

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(self.name, str(value))]


def _chosen(value: object, words: tuple[str, ...]) -> str:
    """Returns a word that is one of some.

    Raises:
        ArgumentError: if it is not.
    """
    if value not in words:
        from dt_mlir.diagnostics import did_you_mean

        hint = did_you_mean(str(value), words)
        raise ArgumentError(f"'{value}' is none of {', '.join(words)}", hint)
    return str(value)


DESCENDING = "descending"
"""The word for an order from the last block to the first, `x:descending`."""


@dataclass(frozen=True)
class Names(Kind):
    """Names in an order, some of them splits, or descending: `x:x1/8, y:descending, x1`."""

    splits: bool = False

    @property
    def form(self) -> str:
        return "name or label:name/number, …" if self.splits else "name, …"

    @property
    def takes_rest(self) -> bool:
        return True

    def decode(self, arguments: list[Argument]) -> tuple[str, ...]:
        if not arguments:
            raise ArgumentError("it needs at least one name")
        for argument in arguments:
            key, value, factor = argument
            is_split = key is not None and (factor is not None or value == DESCENDING)
            is_name = key is None and factor is None
            if not isinstance(value, str) or not (is_name or (self.splits and is_split)):
                raise ArgumentError(
                    f"'{argument}' is neither a name nor a split, as in 'x:x1/8'"
                    if self.splits
                    else f"'{argument}' is not a name"
                )
            if isinstance(factor, int) and factor < 1:
                raise ArgumentError(f"the factor of '{argument}' must be positive")
        return tuple(map(str, arguments))

    def encode(self, value: Any) -> list[Argument]:
        return [parse_argument(item) for item in value]


@dataclass(frozen=True)
class Pairs(Kind):
    """Labels with a name each: `a:i, b:j`."""

    @property
    def form(self) -> str:
        return "label:name, …"

    @property
    def takes_rest(self) -> bool:
        return True

    def decode(self, arguments: list[Argument]) -> tuple[str, ...]:
        if not arguments:
            raise ArgumentError("it needs at least one label with its name, as in 'a:i'")
        found: dict[str, str] = {}
        for argument in arguments:
            key, value, factor = argument
            if key is None or not isinstance(value, str) or factor is not None:
                raise ArgumentError(f"'{argument}' is not a label with a name, as in 'a:i'")
            if key in found:
                raise ArgumentError(f"label '{key}' is given twice")
            if value in found.values():
                raise ArgumentError(f"two labels cannot both be called '{value}'")
            found[key] = value
        return tuple(f"{key}:{value}" for key, value in found.items())

    def encode(self, value: Any) -> list[Argument]:
        return [parse_argument(item) for item in value]

    @staticmethod
    def of(value: tuple[str, ...]) -> dict[str, str]:
        """The labels of an option's value, each with its name."""
        arguments = [parse_argument(item) for item in value]
        return {cast(str, a.key): cast(str, a.value) for a in arguments}


@dataclass(frozen=True)
class Name(Kind):
    """One name: of a function or of a label."""

    what: str = "name"

    @property
    def form(self) -> str:
        return self.what

    def decode(self, arguments: list[Argument]) -> str:
        value = arguments[0].value
        if not isinstance(value, str) or arguments[0].factor is not None:
            raise ArgumentError(f"'{arguments[0]}' is not a {self.what}")
        return value

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(None, str(value))]


@dataclass(frozen=True)
class PartsOf(Kind):
    """A label with the number of its parts, `k:8`, or with their length, `k:k_in/4096`."""

    @property
    def form(self) -> str:
        return "label:number or label:name/number"

    @property
    def has_key(self) -> bool:
        return True

    def decode(self, arguments: list[Argument]) -> str:
        (argument,) = arguments
        key, value, factor = argument
        counts = isinstance(value, int) and factor is None
        if key is None or not (counts or (isinstance(value, str) and isinstance(factor, int))):
            raise ArgumentError(
                f"'{argument}' is neither a label with a number of parts, as in 'k:8', nor one "
                "with their length, as in 'k:k_in/4096'"
            )
        number = value if counts else factor
        if not isinstance(number, int) or not 0 < number < 2**31:
            raise ArgumentError(f"the number for '{key}' must be positive, and below 2^31")
        return str(argument)

    def encode(self, value: Any) -> list[Argument]:
        return [parse_argument(value)]

    @staticmethod
    def of(value: str) -> tuple[str, int | None, int]:
        """The label of an option's value, the number of parts or None, and their length or 0."""
        key, number, factor = parse_argument(value)
        if isinstance(number, int):
            return cast(str, key), number, 0
        return cast(str, key), None, cast(int, factor)


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    words: tuple[str, ...] = field(default=())

    @property
    def form(self) -> str:
        return " | ".join(self.words)

    def decode(self, arguments: list[Argument]) -> str:
        return _chosen(arguments[0].value, self.words)

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(None, str(value))]


@dataclass(frozen=True)
class Integer(Kind):
    """A whole number."""

    least: int = 1
    power_of_two: bool = False
    most: int | None = None

    @property
    def form(self) -> str:
        return "number"

    def decode(self, arguments: list[Argument]) -> int:
        value = arguments[0].value
        if not isinstance(value, int) or arguments[0].factor is not None:
            raise ArgumentError(f"'{arguments[0]}' is not a number")
        if value < self.least:
            raise ArgumentError(f"{value} is too small: at least {self.least} is needed")
        if self.power_of_two and value & (value - 1):
            below = 1 << (value.bit_length() - 1)
            raise ArgumentError(
                f"{value} is not a power of two", f"write {below} or {2 * below}"
            )
        if self.most is not None and value > self.most:
            raise ArgumentError(f"{value} is too large: at most {self.most} are possible")
        return value

    def encode(self, value: Any) -> list[Argument]:
        return [Argument(None, int(value))]


def parse_argument(text: str) -> Argument:
    """An argument from the text of a pass option: `x:128`, `x:x1/8`, `y`.

    Raises:
        ArgumentError: if the text is not an argument.
    """
    key, colon, rest = text.rpartition(":")
    value, slash, factor = rest.partition("/")
    parts = [key] if colon else []
    number = value.lstrip("-")
    if (
        not all(part.isidentifier() for part in parts)
        or not (value.isidentifier() or number.isdigit())
        or (slash and not factor.isdigit())
    ):
        raise ArgumentError(f"'{text}' is not an argument of a directive")
    return Argument(
        key if colon else None,
        int(value) if number.isdigit() else value,
        int(factor) if slash else None,
    )
