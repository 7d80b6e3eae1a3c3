"""Compiled programs that are called on tensors."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch
from torch.autograd import forward_ad

from dt_mlir.backend.triton.target import emit_module
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.element_types import ELEMENT_TYPES, TORCH_TYPES
from dt_mlir.embedded.expressions import type_of_torch
from dt_mlir.embedded.program import Program
from dt_mlir.embedded.schedule import Schedule
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.pipeline import default_pipeline, run_pipeline, verify_module
from dt_mlir.registry import find_directive
from dt_mlir.runtime import cache
from dt_mlir.runtime.execute import prepare_library, wrapper_name

Tensor = Any


def interpret() -> None:
    """Run kernels on the CPU, by Triton's interpreter, in this process.

    Raises:
        CompileError: if Triton is imported already: it decides then.
    """
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        raise CompileError(
            "Triton is imported already", None,
            "call interpret() before anything imports triton, or set TRITON_INTERPRET=1",
        )
    os.environ["TRITON_INTERPRET"] = "1"


class Kernel:
    """What a program is compiled to: called on tensors, it gives the outputs.

    It is compiled when it is first called, for the element types of the tensors whose type the
    program leaves open; what was compiled is kept in memory and on disk (`$DT_MLIR_CACHE`).

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._open = program.open_inputs
        tensors = [d.name for d in program.tree.declarations if d.kind == "In"]
        self._places = [(name, tensors.index(name)) for name in self._open]
        self._wrappers: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()
        self._types: dict[str, str] = {}
        """The types that it was last compiled for."""
        self._tensors = len(tensors)
        self._operator: Any = None
        outputs = [d.target for d in program.tree.directives if d.name in OUTPUT_DIRECTIVES]
        self.name = outputs[0] if outputs else "program"
        self._inputs = [
            *tensors, *(d.name for d in program.tree.declarations if d.kind == "SIn")
        ]
        with suppress(CompileError):
            # PyTorch's compiler cannot make it while it traces; mistakes show when it is called.
            self._made_operator()

    def __call__(self, /, *tensors: Tensor, **options: Any) -> Any:
        """Compute the outputs.

        Args:
            tensors: the tensors in the order of their declarations, then the scalars.
            options: inputs by name, sizes of labels that no tensor has, and `out`, tensors for
                the results.

        Returns:
            A tensor, or a tuple of one for each output.

        Raises:
            CompileError: where the program cannot be compiled for these types.
            TypeError: for what is no tensor, or one of another type.
            ValueError: for tensors whose sizes or devices do not fit.
        """
        if torch.compiler.is_compiling():
            return self.operator(*tensors, **options)
        if options:
            tensors = self._placed(tensors, options)
        if forward_ad._current_level >= 0:  # pyright: ignore[reportPrivateUsage]
            raise RuntimeError(f"{self.name}: kernels have no forward-mode derivatives")
        differentiated = False
        for tensor in tensors[: self._tensors]:
            if type(tensor) is not torch.Tensor and self._is_traced(tensor, tensors):
                return self.operator(*tensors, **options)
            if getattr(tensor, "requires_grad", False):
                differentiated = True
        if differentiated and torch.is_grad_enabled():
            return self._differentiated(tensors, options)
        return self._call(*tensors, **options)

    def _placed(self, tensors: tuple[Tensor, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        """Inputs that are given by name in their places, as far as there is none before them."""
        found = list(tensors)
        while len(found) < len(self._inputs) and self._inputs[len(found)] in options:
            found.append(options.pop(self._inputs[len(found)]))
        results = options.get("out")
        for result in results if isinstance(results, tuple) else (results,):
            if getattr(result, "requires_grad", False) and torch.is_grad_enabled():
                raise RuntimeError(
                    f"{self.name}: 'out' requires a gradient, and what is written to it has none; "
                    "call it under torch.no_grad()"
                )
        return tuple(found)

    def _call(self, /, *tensors: Tensor, **options: Any) -> Any:
        try:
            key = tuple([tensors[place].dtype for _, place in self._places])
        except (AttributeError, IndexError):
            key = tuple([self._dtype(name, i, tensors, options) for name, i in self._places])
        wrapper = self._wrappers.get(key)
        if wrapper is None:
            wrapper = self._compile(key)
        return wrapper(*tensors, **options)

    def _is_traced(self, tensor: Any, tensors: tuple[Tensor, ...]) -> bool:
        """Whether PyTorch is tracing the call, and a tensor stands for another.

        Raises:
            TypeError: for other classes of tensors, whose elements may be anywhere. What is no
                tensor at all the wrapper refuses.
        """
        if not isinstance(tensor, torch.Tensor) or isinstance(tensor, torch.nn.Parameter):
            return False
        if type(tensor).__module__.startswith("torch._subclasses."):
            return True
        place = next(i for i, other in enumerate(tensors) if other is tensor)
        raise TypeError(
            f"{self.name}: '{self._inputs[place]}' is a {type(tensor).__name__}, and kernels take "
            "plain tensors; convert it first"
        )

    def _differentiated(self, tensors: tuple[Tensor, ...], options: dict[str, Any]) -> Any:
        """Compute the outputs so that autograd knows of them."""
        if not self._made_operator().has_backward:
            named = zip(self._inputs, tensors)
            name = next(n for n, t in named if getattr(t, "requires_grad", False))
            raise RuntimeError(
                f"{self.name}: '{name}' requires a gradient, and the kernel has no backward; give "
                "it one with register_autograd, or call it under torch.no_grad()"
            )
        if "out" in options:
            raise RuntimeError(f"{self.name}: there is no gradient of what is written to 'out'")
        return self.operator(*tensors, **options)

    def _made_operator(self) -> Any:
        if self._operator is None:
            from dt_mlir.embedded.operator import Operator

            self._operator = Operator.of(self.program, self.name, self._call)
        return self._operator

    @property
    def operator(self) -> Any:
        """The kernel as an operator of `torch.library`, with a fake implementation."""
        return self._made_operator().operator

    def register_autograd(self, backward: Any, *, setup_context: Any = None) -> None:
        """Let autograd differentiate the kernel, as `torch.library.register_autograd` does.

        Args:
            backward: called with a context and a gradient for each output; gives a gradient, or
                None, for each input. The tensors among the inputs are in `ctx.saved_tensors`.
            setup_context: saves what `backward` needs instead.
        """
        self._made_operator().register_autograd(backward, setup_context)

    def _dtype(
        self, name: str, place: int, tensors: tuple[Tensor, ...], options: Mapping[str, Any]
    ) -> Any:
        if place < len(tensors):
            value = tensors[place]
        elif name in options:
            value = options[name]
        else:
            raise TypeError(f"{self.name}: the tensor '{name}' is missing")
        if not hasattr(value, "dtype"):
            raise TypeError(f"{self.name}: '{name}' must be a tensor, not {type(value).__name__}")
        return value.dtype

    def _compile(self, dtypes: tuple[Any, ...]) -> Any:
        types: dict[str, str] = {}
        for name, dtype in zip(self._open, dtypes):
            found = type_of_torch(dtype)
            if found is None:
                known = ", ".join(f"torch.{theirs}" for theirs in TORCH_TYPES.values())
                raise TypeError(f"{self.name}: '{name}' has elements of {dtype}; there are {known}")
            types[name] = found
        with self._lock:
            known = self._wrappers.get(dtypes)
            if known is not None:
                return known
            text = self._text(types)
            key = cache.key_of(text, *self._plugins())
            path = cache.source_of(key, lambda: self._emit(types))
            source = path.read_text(encoding="utf-8")
            prepare_library(source)
            wrapper = getattr(cache.load(path, source), wrapper_name(source))
            self._types = types
            self._wrappers[dtypes] = wrapper
            return wrapper

    def _plugins(self) -> list[str]:
        """The texts of directives that are not this package's."""
        found: set[str] = set()
        for call in self.program.tree.all_directives():
            cls = find_directive(call.name)
            if cls is not None and not cls.__module__.startswith("dt_mlir."):
                found.add(inspect.getsource(inspect.getmodule(cls) or cls))
        return sorted(found)

    def _tree(self, types: Mapping[str, str]) -> Program:
        return Program(set_types(self.program.tree, types.items()))

    def _text(self, types: Mapping[str, str]) -> str:
        """What the program is; the places of a program that is written in Python do not count."""
        return self._tree(types).to_dt()

    def _emit(self, types: Mapping[str, str]) -> str:
        return emit_module(self._lowered("tile", types), wrapped=True)

    def _lowered(self, level: str, types: Mapping[str, str]) -> Any:
        try:
            module = emit_program(self._tree(types).tree)
            verify_module(module)
            run_pipeline(module, default_pipeline(level))
        except CompileError as error:
            if error.location is not None:
                error.add_note(SourceTexts().show_error(error))
            raise
        return module

    def types_of(self, types: Mapping[str, str] | None) -> dict[str, str]:
        """The types of open inputs: those given, else those of the last call, else f32."""
        found = dict.fromkeys(self._open, "f32") | self._types | dict(types or {})
        for name, type in found.items():
            if type not in ELEMENT_TYPES:
                raise CompileError(f"'{type}' is no element type, as which '{name}' is given")
        return found

    @property
    def source(self) -> str:
        """The generated Python module, for the types of the last call, or f32."""
        return self.source_for()

    def source_for(self, **types: str) -> str:
        """The generated Python module.

        Args:
            types: element types of inputs that the program leaves open; without, those of the
                last call, or f32.
        """
        return self._emit(self.types_of(types))

    def asm(
        self, what: str = "ptx", *, arch: str = "sm_90", types: Mapping[str, str] | None = None,
        **sizes: int,
    ) -> str:  # fmt: skip
        """The kernels as Triton compiles them, ahead of time: no GPU is needed.

        Args:
            what: `ttir`, `ptx`, `amdgcn`, or `stats` for a table of registers and memory.
            arch: the target: `sm_80`, `sm_90`, `sm_100`, `gfx942`, …
            types: element types, as for `source_for`.
            sizes: sizes of labels; others are 1024.

        Raises:
            CompileError: if there is no such stage or target, Triton refuses a kernel, or kernels
                are interpreted in this process.
        """
        from dt_mlir.runtime.ahead_of_time import report

        if os.environ.get("TRITON_INTERPRET") == "1":
            raise CompileError(
                "Triton interprets kernels in this process, and compiles none", None,
                "unset TRITON_INTERPRET, or run 'dtc FILE.dt --emit ptx'",
            )
        found = self.types_of(types)
        module = self._lowered("tile", found)
        algorithm = emit_program(self._tree(found).tree)
        return report(algorithm, module, emit_module(module, wrapped=True), what, arch, sizes)

    def ir(self, level: str = "tile", **types: str) -> str:
        """The program as IR.

        Args:
            level: `dt`, `loop` or `tile`.
            types: as for `source`.
        """
        if level not in ("dt", "loop", "tile"):
            raise CompileError(f"there is no level '{level}'", None, "there are dt, loop and tile")
        return str(self._lowered(level, self.types_of(types)))

    def draw(self, types: Mapping[str, str] | None = None, **sizes: int) -> str:
        """A picture, as SVG, of what each program instance computes, and in what order.

        Args:
            types: element types, as for `source`.
            sizes: sizes of labels; without any, such that a few blocks are seen.

        Raises:
            CompileError: if there is no such label, or too much to see.
        """
        from dt_mlir.drawing.placement import placements
        from dt_mlir.drawing.svg import svg

        return svg(placements(self._lowered("tile", self.types_of(types)), sizes))

    def _repr_html_(self) -> str:
        """What a notebook shows: the program, its picture and the generated code."""
        from html import escape

        try:
            picture, code = self.draw(), self.source
        except CompileError as error:
            return f"<pre>{escape(str(self.program))}</pre><pre>{escape(str(error))}</pre>"
        return (
            f"<pre>{escape(str(self.program))}</pre>{picture}"
            f"<details><summary>generated code</summary><pre>{escape(code)}</pre></details>"
        )

    @property
    def schedule(self) -> Schedule:
        """The schedule."""
        return self.program.schedule

    def __reduce__(self) -> tuple[type[Kernel], tuple[Program]]:
        # What is compiled stays behind; the copy finds it on disk.
        return Kernel, (self.program,)

    def __repr__(self) -> str:
        return f"<kernel of {self.name}>\n{self.program}"
