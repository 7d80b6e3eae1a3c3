"""Operators of deep networks, each in a few lines, against PyTorch: values, types, every level."""

from pathlib import Path

import numpy as np
import pytest
import torch
from references import REFERENCES

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import compile_program
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import make_inputs, reference, run_and_check
from dt_mlir.verification.semantics import Recorder, verify_semantics

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.dt"))
ROUNDING = {"f32": 2.0**-20, "f16": 2.0**-7, "bf16": 2.0**-4}
"""The part of a result by which a type may miss it, behind the bound of the interpreter."""


def _types(text: str, type: str) -> dict[str, str]:
    """Returns a type for each input of floats."""
    module, _ = compile_text(text, "operator.dt")
    inputs = Interface.of(module).inputs
    return {item.name: type for item in inputs if str(item.element) == "f32"}


def _sizes(name: str, interface: Interface) -> dict[str, int]:
    """Returns the sizes of a test, those of labels that the program has."""
    given, _ = REFERENCES[name]
    assert set(given) <= set(interface.labels), set(given) - set(interface.labels)
    return interface.sizes(given)


def test_every_operator_has_a_reference() -> None:
    assert sorted(REFERENCES) == NAMES


def _cases() -> list[tuple[str, str]]:
    """Returns the operators, each with the types that its inputs may have."""
    texts = {name: (FOLDER / f"{name}.dt").read_text() for name in NAMES}
    others = [name for name in NAMES if _types(texts[name], "f16")]
    return [(name, "f32") for name in NAMES] + [(n, t) for n in others for t in ("f16", "bf16")]


@pytest.mark.parametrize(("name", "type"), _cases())
def test_operator(name: str, type: str) -> None:
    """The algorithm computes what PyTorch does, and the emitted module what the algorithm says."""
    text = (FOLDER / f"{name}.dt").read_text()
    types = _types(text, type)
    program = compile_program(text, f"{name}.dt", types)
    interface = Interface.of(program.algorithm)
    sizes = _sizes(name, interface)
    inputs = make_inputs(program.algorithm, sizes, seed=3)
    # What is said of lengths holds for those within a tensor.
    if "lengths" in inputs:
        inputs["lengths"] = torch.tensor([5, 1, 11])
    found = reference(program.algorithm, inputs, sizes)
    (name_of_result,) = found
    given = [inputs[item.name] for item in interface.inputs]
    doubles = [x.double() if x.is_floating_point() else x for x in given]
    wanted = REFERENCES[name][1](*doubles).numpy()
    value = found[name_of_result].value
    assert value.shape == wanted.shape
    limit = found[name_of_result].error + ROUNDING[type] * (1 + np.abs(wanted))
    assert np.all(np.abs(value - wanted) <= limit), np.abs(value - wanted).max()
    run_and_check(program.algorithm, program.source, _given(interface, sizes), 3, tiles=program.module)


def _given(interface: Interface, sizes: dict[str, int]) -> dict[str, int]:
    derived = interface.derived()
    return {label: size for label, size in sizes.items() if label not in derived}


@pytest.mark.parametrize("name", NAMES)
def test_semantics(name: str) -> None:
    """No pass changes what an operator computes."""
    text = (FOLDER / f"{name}.dt").read_text()
    module, _ = compile_text(text, f"{name}.dt")
    recorder = Recorder(module)
    given = module.clone()
    run_pipeline(module, default_pipeline("tile"), recorder.after)
    # The channels of groups divide each other, which no drawn sizes do.
    sizes = _sizes(name, Interface.of(given)) if name == "conv2d_grouped" else None
    verify_semantics(recorder.stages, sizes=sizes, kernel=False)


@pytest.mark.parametrize("name", NAMES)
def test_fixed_sizes(name: str) -> None:
    """A program that is compiled for its sizes computes the same."""
    text = (FOLDER / f"{name}.dt").read_text()
    module, _ = compile_text(text, f"{name}.dt")
    interface = Interface.of(module)
    sizes = _given(interface, _sizes(name, interface))
    fixed = {label: size for label, size in sizes.items() if label in interface.used}
    program = compile_program(text, f"{name}.dt", sizes=fixed)
    run_and_check(program.algorithm, program.source, sizes, 5)
