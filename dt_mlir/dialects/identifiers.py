"""Names of the source in IR: what they may be, and the constraints that verify it.

A name of a program becomes a part of names in emitted code. Text of IR may hold any string, so
that the operations' verifiers admit none but DT's own names.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint
from xdsl.irdl.constraints import VerificationContext
from xdsl.utils.exceptions import VerifyException

NAMES_HINT = "names are made of letters, digits and '_', and do not start with a digit"

_NUMBERS = re.compile(r"(_\d+)+$")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(text: str) -> bool:
    """Returns whether a text is a name, as DT has them."""
    return _NAME.fullmatch(text) is not None


def check_identifier(text: str) -> None:
    """Checks that a text is a name.

    Raises:
        VerifyException: if it is not.
    """
    if not is_identifier(text):
        raise VerifyException(f"{text!r} is not a name: {NAMES_HINT}")


def value_hint(name: str) -> str | None:
    """The hint of a value that stands for something of a name; None if there is none.

    xDSL drops numbers at the end of hints, and takes none of which nothing is left.
    """
    return _NUMBERS.sub("", name) or None


def memory_hint(name: str, kind: str = "ptr") -> str | None:
    """The hint of the memory of a tensor, or of a `buffer`: its elements have the name itself."""
    hint = value_hint(name)
    return None if hint is None else f"{hint}_{kind}"


class IdentifierConstraint(AttrConstraint[StringAttr]):
    """A string that is a name, as DT has them."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, StringAttr):
            raise VerifyException(f"{attr} is not a string")
        check_identifier(attr.data)

    def get_bases(self) -> set[type[Attribute]] | None:
        return {StringAttr}

    def mapping_type_vars(self, type_var_mapping: object) -> AttrConstraint[StringAttr]:
        return self


class SymbolConstraint(SymbolNameConstraint):
    """A symbol that is a name, as DT has them."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        super().verify(attr, constraint_context)
        Identifier.verify(attr, constraint_context)


class IdentifierRefConstraint(AttrConstraint[SymbolRefAttr]):
    """A flat reference to a symbol that is a name."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, SymbolRefAttr) or attr.nested_references.data:
            raise VerifyException(f"{attr} is not a flat reference to a symbol")
        check_identifier(attr.root_reference.data)

    def get_bases(self) -> set[type[Attribute]] | None:
        return {SymbolRefAttr}

    def mapping_type_vars(self, type_var_mapping: object) -> AttrConstraint[SymbolRefAttr]:
        return self


Identifier = IdentifierConstraint()
"""Constrains a property to a name."""

Symbol = SymbolConstraint()
"""Constrains a property to a symbol that is a name; formats print it as `@name`."""

Identifiers = ArrayAttr.constr(Identifier)
"""Constrains a property to a list of names."""

IdentifierRef = IdentifierRefConstraint()
"""Constrains a property to a flat reference to a name."""
