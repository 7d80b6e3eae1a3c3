"""Obligations: what has to hold of a compiled program, and what is known of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from xdsl.ir import Attribute

from dt_mlir.diagnostics import CompileError

VERSION = 2
"""The version of the form in which certificates are written."""


class Kind(StrEnum):
    """A class of obligations."""

    WRITTEN = "written once"
    """Every element of an output is written exactly once, by one program instance."""
    IN_BOUNDS = "in bounds"
    """Every access is inside of its tensor."""
    NEUTRAL = "neutral"
    """Masked lanes hold what does not change a combination."""
    VALUE = "value"
    """A value is the one that the algorithm defines."""
    REDUCED = "reduced once"
    """A reduction combines each point of its domain exactly once."""
    LAW = "law"
    """A loop that repairs running values combines in the end what it would have without repairs."""
    PROTOCOL = "protocol"
    """The barriers of a specialized kernel are live, and its stages free of races."""


class Verdict(StrEnum):
    """The state of knowledge about an obligation."""

    PROVED = "proved"
    """Proved for all sizes."""
    TESTED = "tested"
    """Tried at some sizes, where it held."""
    ASSUMED = "assumed"
    """Taken to hold, for a reason that the documentation gives."""
    REFUTED = "refuted"
    """Wrong: there is a counterexample."""


@dataclass(frozen=True)
class Obligation:
    """A claim about a compiled program."""

    kind: Kind
    """Its class."""
    kernel: str
    """The function whose kernel it is about; empty for the wrapper."""
    statement: str
    """The claim in words."""
    verdict: Verdict
    """The state of knowledge about it."""
    reason: str = ""
    """The assumption, where it was tested, or the counterexample."""
    questions: tuple[str, ...] = ()
    """The questions in SMT-LIB, of which those about values were evaluated at random points."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """The sizes of labels in the counterexample."""

    @property
    def owner(self) -> str:
        """The part of the program that it is about, in words."""
        return f"the kernel of '{self.kernel}'" if self.kernel else "the wrapper"

    @property
    def key(self) -> tuple[str, str, str]:
        """The claim; what the solver was asked may name variables otherwise."""
        return self.kind.value, self.kernel, self.statement


@dataclass(frozen=True)
class DirectiveNote:
    """A directive of the schedule, and the obligations that it has to keep."""

    text: str
    """The directive, as it is written."""
    function: str
    """The function that it is applied to."""
    obligations: tuple[int, ...]
    """The numbers of the obligations that rest on it, from 0."""
    location: Attribute | None = None
    """Its place in the program."""


@dataclass(frozen=True)
class Certificate:
    """The obligations of a compiled program, and the state of each."""

    algorithm: str
    """The algorithm, in canonical form."""
    module: str
    """A digest of the IR of the compiled program."""
    obligations: tuple[Obligation, ...]
    """The obligations, in a fixed order."""
    directives: tuple[DirectiveNote, ...]
    """The directives of the schedule."""
    solver: str
    """The solver that was asked, and its version."""

    def count(self) -> Counter[Verdict]:
        """Counts the obligations by what is known of them."""
        return Counter(item.verdict for item in self.obligations)

    @property
    def refuted(self) -> list[Obligation]:
        """The obligations that do not hold."""
        return [item for item in self.obligations if item.verdict is Verdict.REFUTED]

    @property
    def digest(self) -> str:
        """A digest of the program and of what is known of it, 16 hexadecimal digits.

        What the solver was asked, and at which sizes was tested, is no part of it.
        """
        found = [self.algorithm, self.module]
        found += [f"{d.text} {d.function} {d.obligations}" for d in self.directives]
        found += [f"{item.key} {item.verdict}" for item in self.obligations]
        return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """Returns the certificate as JSON."""
        return json.dumps(
            {
                "version": VERSION,
                "digest": self.digest,
                "solver": self.solver,
                "algorithm": self.algorithm,
                "module": self.module,
                "directives": [
                    {"text": d.text, "function": d.function, "obligations": d.obligations}
                    for d in self.directives
                ],
                "obligations": [asdict(item) for item in self.obligations],
            },
            indent=1,
        )

    @staticmethod
    def from_json(text: str, name: str) -> Certificate:
        """Reads a certificate.

        Args:
            text: the JSON.
            name: what to call it in messages.

        Raises:
            CompileError: if it is not one.
        """
        try:
            found: Any = json.loads(text)
            version = found["version"]
            if type(version) is not int or version != VERSION:
                raise CompileError(
                    f"{name}: the certificate is of version {version}", None,
                    f"this checker reads version {VERSION}: write it anew with dtc --certify",
                )  # fmt: skip
            read = Certificate(
                str(found["algorithm"]),
                str(found["module"]),
                tuple(_obligation(item) for item in found["obligations"]),
                tuple(_directive(item) for item in found["directives"]),
                str(found["solver"]),
            )
            digest = str(found["digest"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            what = f"{type(error).__name__}: {error}"
            raise _no_certificate(name, what) from None
        except RecursionError:
            raise _no_certificate(name, "it is nested too deeply") from None
        if digest != read.digest:
            raise CompileError(
                f"{name}: the certificate names the digest {digest}, and what it says has the "
                f"digest {read.digest}", None,
                "it was changed: write it anew with dtc --certify",
            )  # fmt: skip
        return read

    def __str__(self) -> str:
        """Returns the certificate in words: for each directive its obligations, and a summary."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for directive in self.directives:
            yield directive.text
            if not directive.obligations:
                yield "  nothing that it changes decides a value"
            yield from self._counted(directive.obligations)
        mentioned = {n for directive in self.directives for n in directive.obligations}
        rest = [n for n in range(len(self.obligations)) if n not in mentioned]
        if rest:
            yield "without a directive"
        yield from self._counted(rest)
        counts = self.count()
        shown = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
        yield f"{len(self.obligations)} obligations: {shown or 'none'}"
        yield f"certificate {self.digest}"

    def _counted(self, numbers: Sequence[int]) -> Iterator[str]:
        """Yields a line for each obligation; those that read the same have one, with their number.
        """
        found: dict[str, list[int]] = {}
        for number in numbers:
            item = self.obligations[number]
            reason = f" ({item.reason})" if item.reason else ""
            wrapper = "" if item.kernel else "the wrapper: "
            text = f"{wrapper}{item.kind.value}: {item.statement}: {item.verdict.value}{reason}"
            found.setdefault(text, []).append(number + 1)
        for text, same in found.items():
            count = f", {len(same)} times" if len(same) > 1 else ""
            yield f"  {same[0]}. {text}{count}"


def _no_certificate(name: str, reason: str) -> CompileError:
    return CompileError(
        f"{name}: this is not a certificate ({reason})", None,
        "dtc FILE --certify --certificate FILE.json writes one",
    )  # fmt: skip


def _directive(found: Any) -> DirectiveNote:
    numbers = tuple(int(number) for number in found["obligations"])
    return DirectiveNote(str(found["text"]), str(found["function"]), numbers)


def _obligation(found: Any) -> Obligation:
    return Obligation(
        Kind(found["kind"]), str(found["kernel"]), str(found["statement"]),
        Verdict(found["verdict"]), str(found["reason"]),
        tuple(str(text) for text in found["questions"]),
        {str(label): int(size) for label, size in found["sizes"].items()},
    )  # fmt: skip
