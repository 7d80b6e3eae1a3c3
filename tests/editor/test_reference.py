"""The documentation of words has each word that the compiler knows, and faults stay where they are."""

from __future__ import annotations

import pytest
from pygls.workspace.position_codec import PositionCodec

from dt_mlir.callables import RESERVED
from dt_mlir.editor import program as programs
from dt_mlir.editor.program import Program
from dt_mlir.editor.reference import (
    KINDS,
    OPERATORS,
    SPECIAL,
    constants,
    directive_entry,
    directives,
    functions,
    types,
)
from dt_mlir.editor.semantic_tokens import semantic_tokens
from dt_mlir.editor.texts import Text
from dt_mlir.editor.tokens import reserved_words
from dt_mlir.element_types import ELEMENT_TYPES
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.symbols import CONSTANTS, REDUCTIONS
from dt_mlir.registry import directive_names


def test_words_are_those_of_the_compiler() -> None:
    words = reserved_words()
    assert set(KINDS) == set(words["KIND"])
    assert set(OPERATORS) == {w for name, found in words.items() if name != "KIND" for w in found}
    assert set(SPECIAL) | set(REDUCTIONS) == RESERVED
    assert [name for name, _ in directives()] == [*directive_names(), *OUTPUT_DIRECTIVES]
    assert [name for name, _ in types()] == list(ELEMENT_TYPES)
    assert [name for name, _ in constants()] == list(CONSTANTS)
    for name, entry in (*directives(), *functions(), *KINDS.items(), *OPERATORS.items()):
        assert name in entry.signature
        assert entry.summary
    assert directive_entry("nothing") is None


def test_a_fault_of_the_compiler_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a fault")

    text = Text("Func f; In A; Var x; f[x] = A[x]; f.block(x:4); f.compile();", PositionCodec())
    monkeypatch.setattr(programs, "facts_of", fail)
    program = Program("p", text, 1)
    assert program.all_problems == []
    assert not program.facts.sized
    monkeypatch.setattr(programs, "check", fail)
    monkeypatch.setattr(programs, "decoded", fail)
    programs.forget_refusals()
    program = Program("p", text, 1)
    (problem,) = program.all_problems
    assert problem.message == "f.block: fault of the directive: AssertionError: a fault"
    assert semantic_tokens(program).data
    programs.forget_refusals()
