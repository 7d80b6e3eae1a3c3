"""Compiled programs as PyTorch operators: for `torch.compile`, `torch.export` and autograd."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from xdsl.dialects.builtin import AnyFloat

from dt_mlir.analysis.interface import Interface
from dt_mlir.dialects import dt
from dt_mlir.element_types import is_bool
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.kernels.calls import parameter_names
from dt_mlir.kernels.shapes import check_types, in_order, sizes_of
from dt_mlir.language.names import type_of_torch
from dt_mlir.language.program import Program
from dt_mlir.runtime.execute import torch_dtype

NAMESPACE = "dt_mlir"
"""The namespace of the operators, as in `torch.ops.dt_mlir.mm_0f3a…`."""
_known: dict[tuple[str, str], Operator] = {}


class _Result(NamedTuple):
    """An output, for some element types of the inputs."""

    labels: tuple[str, ...]
    dtype: Any


class Operator:
    """The operator of a program. Equal programs share one.

    Args:
        program: the program.
        name: what it is called, before a digest of the program.
        run: computes the outputs.
        variant: what tells it from other operators of the program.
    """

    def __init__(
        self, program: Program, name: str, run: Callable[..., Any], variant: str
    ) -> None:
        self.program, self.title, self.run = program, name, run
        text = f"{program.to_dt()}{variant}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.name = f"{NAMESPACE}::{name}_{digest}"
        self.interface = Interface.of(program.module())
        order = in_order(self.interface)
        self.inputs = [item.name for item in order]
        self.labels = self.interface.free_labels()
        self.has_backward = False
        self._results: dict[tuple[Any, ...], list[_Result]] = {}
        names = parameter_names([*self.inputs, *self.labels])
        parameters = [
            f"{'Tensor' if item.axes is not None else _scalar(item.element)} {names[item.name]}"
            for item in order
        ]
        if self.labels:
            parameters += ["*", *(f"SymInt {names[label]}" for label in self.labels)]
        self._parameters = {label: names[label] for label in self.labels}
        """The parameter of each label."""
        self._labels = {parameter: label for label, parameter in self._parameters.items()}
        count = sum(op.name == "dt.output" for op in program.module().ops)
        results = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
        self.operator: Any = torch.library.custom_op(
            self.name, self._run, mutates_args=(), schema=f"({', '.join(parameters)}) -> {results}"
        )
        self.operator.register_fake(self._fake)

    @staticmethod
    def of(program: Program, name: str, run: Callable[..., Any], variant: str) -> Operator:
        """The operator of a program, made where there is none yet."""
        key = program.to_dt(), variant
        if key not in _known:
            _known[key] = Operator(program, name, run, variant)
        return _known[key]

    def called(self, inputs: Sequence[Any], sizes: Mapping[str, Any]) -> Any:
        """Calls the operator.

        Args:
            inputs: the inputs.
            sizes: the sizes of labels that no tensor has.
        """
        options = {self._parameters[label]: size for label, size in sizes.items()}
        return self.operator(*inputs, **options)

    def _of_labels(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the sizes of labels by their names in the program."""
        return {self._labels[name]: size for name, size in options.items()}

    def _run(self, /, *tensors: Any, **options: Any) -> Any:
        return self.run(*tensors, **self._of_labels(options))

    def _types(self, tensors: Sequence[Any]) -> list[_Result]:
        """The outputs' labels and types, for the tensors' types."""
        key = tuple(t.dtype for t in tensors if isinstance(t, torch.Tensor))
        if key not in self._results:
            given = dict(zip(self.inputs, tensors))
            types: dict[str, str] = {}
            for name in self.program.open_inputs:
                found = type_of_torch(given[name].dtype)
                if found is None:
                    raise TypeError(f"{self.title}: '{name}' has elements of {given[name].dtype}")
                types[name] = found
            module = emit_program(set_types(self.program.tree, types.items()))
            functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
            wanted = [
                op.function.root_reference.data
                for op in module.ops
                if isinstance(op, dt.OutputOp)
            ]
            self._results[key] = [
                _Result(functions[name].label_names, torch_dtype(functions[name].element))
                for name in wanted
            ]
        return self._results[key]

    def _fake(self, /, *tensors: Any, **options: Any) -> Any:
        """Tensors of the outputs' shapes and types, without their elements."""
        sizes = sizes_of(self.title, self.interface, tensors, self._of_labels(options))
        check_types(self.title, self.interface, tensors, self.program.open_inputs)
        device = next((t.device for t in tensors if isinstance(t, torch.Tensor)), None)
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        results = [
            torch.empty([sizes[label] for label in labels], dtype=dtype, device=device)
            for labels, dtype in self._types(tensors)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def register_autograd(
        self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Gives the operator a backward, in place of the one that it may have."""
        self.operator.register_autograd(backward, setup_context=setup_context or _save)
        self.has_backward = True


def _save(
    ctx: Any, inputs: tuple[Any, ...], output: Any, keyword_only_inputs: Any = None
) -> None:
    """Saves the tensors among the inputs; sizes of labels are given by keyword."""
    ctx.save_for_backward(*(x for x in inputs if isinstance(x, torch.Tensor)))


def _scalar(element: Any) -> str:
    if isinstance(element, AnyFloat):
        return "float"
    return "bool" if is_bool(element) else "SymInt"
