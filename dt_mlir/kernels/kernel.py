"""Compiled programs that are called on tensors."""

from __future__ import annotations

import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.backend.python_module import emit_module
from dt_mlir.certificates.making import certificate_of
from dt_mlir.certificates.obligation import Certificate
from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, SourceTexts, make_location
from dt_mlir.element_types import TORCH_TYPES
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES, analyse
from dt_mlir.frontend.emit import compile_text, emit_program, set_types
from dt_mlir.kernels import modes
from dt_mlir.kernels.calls import Calls
from dt_mlir.kernels.fingerprint import fingerprint
from dt_mlir.kernels.given import types_given
from dt_mlir.kernels.shapes import sizes_of
from dt_mlir.language import notebook
from dt_mlir.language.names import type_of_torch
from dt_mlir.language.notebook import Text
from dt_mlir.language.places import here
from dt_mlir.language.program import Program
from dt_mlir.language.schedule import Schedule
from dt_mlir.pipeline import STAGES, default_pipeline, run_pipeline
from dt_mlir.registry import find_directive, placed_passes
from dt_mlir.runtime import cache, launch
from dt_mlir.runtime.execute import prepare_library, size_parameters, wrapper_name
from dt_mlir.scheduling.space import Space
from dt_mlir.verifier import verify_module

if TYPE_CHECKING:
    from dt_mlir.explorer.exploration import Exploration

Tensor = Any


def interpret() -> None:
    """Runs kernels on the CPU, by Triton's interpreter, in this process.

    Raises:
        CompileError: if Triton is imported already: it decides then.
    """
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        raise CompileError(
            "Triton is imported already", None,
            "start Python anew (in a notebook, its kernel) and call interpret() before anything "
            "imports Triton, as torch.compile does; or set TRITON_INTERPRET=1",
        )
    os.environ["TRITON_INTERPRET"] = "1"


@contextmanager
def _noted() -> Generator[None]:
    """Adds to errors the line of Python, or of DT, at which they are."""
    try:
        yield
    except CompileError as error:
        if error.location is not None:
            error.add_note(SourceTexts().show_error(error))
        raise


def _called(launching: Callable[[], Any]) -> Any:
    """Calls a generated module; what it refuses is shown at the user's call, not its own lines."""
    try:
        return launching()
    except (TypeError, ValueError, RuntimeError) as error:
        place = here()
        location = make_location(place.file or "-", place.line, place.column)
        refused = error.with_traceback(None)
        refused.add_note(SourceTexts().show(location, "note", "called here"))
    raise refused


def copied(make: Any, given: tuple[Any, ...], backward: tuple[Any, Any] | None) -> Kernel:
    """A kernel that was copied or pickled."""
    kernel: Kernel = make(*given)
    if backward is not None:
        kernel.register_autograd(backward[0], setup_context=backward[1])
    return kernel


class Kernel:
    """A compiled program: called on tensors, it returns the outputs.

    It is compiled when it is first called, for the element types of the tensors whose type the
    program leaves open; what was compiled is kept in memory and on disk (`$DT_MLIR_CACHE`).

    Args:
        program: the program.
        static: whether it is compiled for each size anew, with all that follows from sizes decided
            at compile time; else sizes are left to Triton, which compiles for them what is left.
    """

    def __init__(self, program: Program, *, static: bool = False) -> None:
        self.program = program
        self.static = static
        self._open = program.open_inputs
        outputs = [d.function for d in program.tree.directives if d.name in OUTPUT_DIRECTIVES]
        self.name = outputs[0] if outputs else "program"
        self._calls = Calls(self.name, program)
        self._places = [self._calls.tensors.index(name) for name in self._open]
        self._wrappers: dict[tuple[Any, ...], tuple[Any, dict[str, str]]] = {}
        self._plans: dict[tuple[Any, ...], launch.Plan] = {}
        self._recent: launch.Plan | None = None
        self._lock = threading.Lock()
        self._types: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        """The types, and in the static mode the sizes, that it was last compiled for."""
        self._certificates: dict[tuple[Any, ...], Certificate] = {}
        self._operator: Any = None
        self._backward: tuple[Any, Any] | None = None
        self.__signature__ = self._calls.signature()
        with suppress(CompileError):
            # PyTorch's compiler cannot make it while it traces; mistakes show when it is called.
            self._made_operator()

    def __call__(self, /, *tensors: Tensor, **options: Any) -> Any:
        """Computes the outputs.

        Args:
            tensors: the tensors in the order of their declarations, then the scalars.
            options: inputs by name, sizes of labels that no tensor has, and `out`, tensors for
                the results.

        Returns:
            A tensor, or a tuple of one for each output.

        Raises:
            CompileError: where the program cannot be compiled for these types.
            TypeError: for what is not a tensor, or one of another type.
            ValueError: for tensors whose sizes or devices do not fit.
            RuntimeError: where a gradient is wanted that the kernel does not have.
        """
        if torch.compiler.is_compiling():
            return self._compiled(tensors, options)
        if not modes.are_active():
            plan = self._recent
            pointers = None if plan is None else plan.pointers_of(tensors, options)
            if pointers is None:
                known = launch.key_of(tensors, options)
                plan = None
                if known is not None:
                    key, pointers = known
                    plan = self._plans.get(key)
                    if plan is not None and plan is self._recent:
                        # Its guards know another state of the thread, or tensors of another class.
                        plan.guard(tensors, options)
                    self._recent = plan
            if plan is not None and not (plan.differentiable and torch.is_grad_enabled()):
                assert pointers is not None
                found = plan(tensors, pointers, options.get("out"))
                if found is not launch.MISSED:
                    return found
        return self._first_call(tensors, options)

    @compiling()
    def check(self) -> None:
        """Checks what does not depend on the types of tensors, the schedule above all.

        Raises:
            CompileError: at the first mistake.
        """
        with _noted():
            analyse(self.program.tree)
            module = self._of_some_type()
            if module is not None:
                # Of a space each schedule is checked when it is chosen.
                run_pipeline(module, default_pipeline("dt" if Space(module).dimensions else "loop"))

    def _of_some_type(self) -> ModuleOp | None:
        """The program at the `dt` level for one type of all open inputs; None if none does."""
        try:
            return self._tree({}).module()
        except CompileError:
            # What is not defined on one type may be on those that it is called with.
            if self._open:
                return None
            raise

    def _first_call(self, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Computes the outputs in a call unlike those before, or one that PyTorch watches."""
        inputs = self._calls.placed(inputs, options)
        tensors = self._calls.tensors
        modes.refuse_unknown(self.name, tensors, inputs[: len(tensors)])
        options = self._calls.options(options, self._made_operator().labels)
        out = options.get("out", ())
        outs = out if isinstance(out, tuple) else (out,)
        modes.refuse_unknown(self.name, ["out"] * len(outs), outs)
        inputs = self._calls.converted(inputs)
        if modes.are_traced(inputs[: len(tensors)]):
            if outs:
                raise RuntimeError(
                    f"{self.name}: 'out' cannot be given where PyTorch watches the call, or where "
                    "tensors have no elements"
                )
            return self._made_operator().called(inputs, options)
        if self._is_differentiated(inputs):
            self._refuse_missing_backward(inputs)
            if outs:
                raise RuntimeError(
                    f"{self.name}: there is no gradient of what is written to 'out'"
                )
            return self._made_operator().called(inputs, options)
        return self._call(*inputs, **options)

    def _compiled(self, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The call in a function that PyTorch compiles."""
        inputs = self._calls.placed(inputs, options)
        if "out" in options:
            raise RuntimeError(f"{self.name}: 'out' cannot be given in what torch.compile compiles")
        options = self._calls.options(options, self._made_operator().labels)
        inputs = self._calls.converted(inputs)
        if self._is_differentiated(inputs):
            self._refuse_missing_backward(inputs)
        return self._made_operator().called(inputs, options)

    def _call(self, /, *inputs: Any, **options: Any) -> Any:
        """Computes the outputs for plain tensors, without gradients."""
        known = launch.key_of(inputs, options)
        key, pointers = (None, []) if known is None else known
        plan = None if key is None else self._plans.get(key)
        if plan is not None:
            found = plan(inputs, pointers, options.get("out"))
            if found is not launch.MISSED:
                return found
        wrapper, names = self._wrapper_for(inputs, options)
        named = {names.get(name, name): value for name, value in options.items()}
        if key is None or plan is not None:
            with launch.alone():
                found = _called(lambda: wrapper(*inputs, **named))
        else:
            found, plan = _called(lambda: launch.record(wrapper, inputs, named))
            if plan is not None:
                if len(self._plans) >= launch.MOST_PLANS:
                    self._plans.clear()
                self._plans[key] = plan
        if "out" in options:
            torch.autograd.graph.increment_version(found)
        return found

    def _is_differentiated(self, inputs: Sequence[Any]) -> bool:
        return torch.is_grad_enabled() and any(
            isinstance(value, torch.Tensor) and value.requires_grad for value in inputs
        )

    def _refuse_missing_backward(self, inputs: Sequence[Any]) -> None:
        if not self._made_operator().has_backward:
            named = zip(self._calls.names, inputs)
            name = next(n for n, t in named if getattr(t, "requires_grad", False))
            raise RuntimeError(
                f"{self.name}: '{name}' requires a gradient, and the kernel has no backward; give "
                "it one with register_autograd, or call it under torch.no_grad()"
            )

    def _made_operator(self) -> Any:
        if self._operator is None:
            from dt_mlir.kernels.operator import Operator

            with _noted():
                self._operator = Operator.of(self.program, self.name, self._call, self._variant)
        return self._operator

    @property
    def _variant(self) -> str:
        """The suffix that tells its operator from those of other kernels of the program."""
        return "static" if self.static else ""

    @property
    def operator(self) -> Any:
        """The kernel as an operator of `torch.library`, with a fake implementation."""
        return self._made_operator().operator

    def register_autograd(self, backward: Any, *, setup_context: Any = None) -> None:
        """Lets autograd differentiate the kernel, as `torch.library.register_autograd` does.

        Args:
            backward: called with a context and a gradient for each output; gives a gradient, or
                None, for each input. The tensors among the inputs are in `ctx.saved_tensors`.
            setup_context: saves what `backward` needs instead.

        Raises:
            TypeError: for what cannot be called.
        """
        from dt_mlir.kernels.operator import Operator

        for name, function in (("backward", backward), ("setup_context", setup_context)):
            if not callable(function) and (function is not None or name == "backward"):
                raise TypeError(
                    f"{self.name}: {name} must be a function, not {type(function).__name__}"
                )
        # Equal programs share an operator, but not what somebody says of its gradient.
        variant = f"{self._variant} {fingerprint(backward, setup_context)}"
        operator = Operator.of(self.program, self.name, self._call, variant)
        operator.register_autograd(backward, setup_context)
        self._operator = operator
        self._backward = backward, setup_context

    def _wrapper_for(
        self, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[Any, dict[str, str]]:
        """The generated function for inputs of these types (and sizes, in the static mode), and
        what it calls labels that it cannot call by their names."""
        dtypes = [inputs[place].dtype for place in self._places]
        sizes = self._sizes_of(inputs, options) if self.static else {}
        key = (*dtypes, *sizes.items())
        return self._wrappers.get(key) or self._compile(key, dtypes, sizes)

    def _sizes_of(self, inputs: Sequence[Any], options: Mapping[str, Any]) -> dict[str, int]:
        """The sizes to compile for: one label of each size, without those of 0."""
        labels = {name: size for name, size in options.items() if name != "out"}
        interface = self._made_operator().interface
        sizes = sizes_of(self.name, interface, inputs, labels)
        wanted = [group[0] for group in interface.groups if group[0] in interface.used]
        return {label: sizes[label] for label in wanted if 0 < sizes.get(label, 0) < 2**31}

    @compiling()
    def _compile(
        self, key: tuple[Any, ...], dtypes: Sequence[Any], sizes: dict[str, int]
    ) -> tuple[Any, dict[str, str]]:
        types: dict[str, str] = {}
        for name, dtype in zip(self._open, dtypes):
            found = type_of_torch(dtype)
            if found is None:
                known = ", ".join(f"torch.{theirs}" for theirs in TORCH_TYPES.values())
                raise TypeError(f"{self.name}: '{name}' has elements of {dtype}; there are {known}")
            types[name] = found
        with self._lock:
            known = self._wrappers.get(key)
            if known is not None:
                return known
            text = self._text(types)
            entry = cache.key_of(text, repr(sorted(sizes.items())), *self._plugins())
            path = cache.source_of(entry, lambda: self._emit(types, sizes))
            source = path.read_text(encoding="utf-8")
            prepare_library(source)
            wrapper = getattr(cache.load(path, source), wrapper_name(source))
            self._types, self._sizes = types, sizes
            labels = self._made_operator().labels
            self._wrappers[key] = wrapper, dict(zip(labels, size_parameters(wrapper)))
            return self._wrappers[key]

    def _plugins(self) -> list[str]:
        """The texts of directives and passes that are not this package's."""
        found: set[str] = set()
        calls = self.program.tree.all_directives()
        used: list[type | None] = [find_directive(call.name) for call in calls]
        for cls in (*used, *placed_passes()):
            if cls is not None and not cls.__module__.startswith("dt_mlir."):
                try:
                    found.add(inspect.getsource(inspect.getmodule(cls) or cls))
                except (OSError, TypeError):
                    # Typed in; nobody knows what it was in another process.
                    found.add(f"{os.getpid()} {time.process_time_ns()}")
        return sorted(found)

    @property
    def _shown(self) -> Program:
        """The program with the schedule that is shown."""
        return self.program

    def _tree(self, types: Mapping[str, str]) -> Program:
        return Program(set_types(self._shown.tree, types.items()))

    @compiling()
    def _text(self, types: Mapping[str, str]) -> str:
        """Returns the program's identity; places in Python files are not part of it."""
        return self._tree(types).to_dt()

    @compiling()
    def _emit(self, types: Mapping[str, str], sizes: Mapping[str, int]) -> str:
        return emit_module(self._lowered("warp", types, sizes), wrapped=True)

    @compiling()
    def _lowered(
        self, level: str, types: Mapping[str, str], sizes: Mapping[str, int] | None = None
    ) -> Any:
        with _noted():
            module = emit_program(self._tree(types).tree)
            verify_module(module)
            run_pipeline(module, default_pipeline(level, sizes=sizes))
        return module

    def types_of(self, types: Mapping[str, str] | None) -> dict[str, str]:
        """The types of open inputs: those given, else those of the last call, else `open_types`."""
        given = {} if types is None else types_given(types)
        if {*self._open} <= {*self._types, *given}:
            return self._types | given
        return dict.fromkeys(self._open, "f32") | self.program.open_types() | self._types | given

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
        return self._emit(self.types_of(types), self._sizes)

    @property
    def certificate(self) -> Certificate:
        """The certificate of the program: what is proved of it for all sizes, tested and assumed.

        It is that of the types of the last call, or f32. As text, it reads as `dtc --certify`
        prints it.

        Raises:
            CompileError: if the solver is not installed.
        """
        key = tuple(self.types_of({}).items()), tuple(self._sizes.items())
        if key not in self._certificates:
            module = self._lowered("warp", dict(key[0]), self._sizes)
            self._certificates[key] = certificate_of(module)
        return self._certificates[key]

    @compiling()
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
        from dt_mlir.runtime.assembly import report

        if os.environ.get("TRITON_INTERPRET") == "1":
            raise CompileError(
                "Triton interprets kernels in this process, and compiles none", None,
                "unset TRITON_INTERPRET, or run 'dtc FILE.dt --emit ptx'",
            )
        found = self.types_of(types)
        module = self._lowered("warp", found, self._sizes)
        algorithm = emit_program(self._tree(found).tree)
        return report(algorithm, module, emit_module(module, wrapped=True), what, arch, sizes)

    @compiling()
    def ir(self, level: str = "tile", **types: str) -> str:
        """The program as IR.

        Args:
            level: `dt`, `loop`, `tile` or `warp`.
            types: as for `source`.
        """
        if level not in STAGES:
            raise CompileError(
                f"there is no level '{level}'", None, f"name one of {', '.join(STAGES)}"
            )
        return Text(str(self._lowered(level, self.types_of(types), self._sizes)))

    @compiling()
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

        for label, size in sizes.items():
            if type(size) is not int or size < 1:
                raise CompileError(
                    f"the size of '{label}' must be a whole number of at least 1, not {size!r}"
                )
        return svg(placements(self._lowered("tile", self.types_of(types)), sizes))

    @compiling()
    def explore(
        self, *, beside: Schedule | None = None, types: Mapping[str, str] | None = None,
        arch: str = "sm_90", compiled: bool = True, **sizes: int,
    ) -> Exploration:  # fmt: skip
        """A page that follows the program through its levels; a notebook shows it.

        Args:
            beside: another schedule, which is shown beside the program's own.
            types: element types, as for `source_for`.
            arch: the target of compiled code, as for `asm`.
            compiled: whether to compile kernels for the target, which takes seconds.
            sizes: sizes of labels, for costs, compiled code and pictures.

        Raises:
            CompileError: if a schedule is not legal, or there is no such label or target.
        """
        from dt_mlir.explorer.exploration import Exploration
        from dt_mlir.explorer.program import Settings, explore_program

        settings = Settings(
            fixed=self._sizes, sizes=sizes, architecture=arch, compiled=compiled
        )
        program = self._tree(self.types_of(types))
        programs = {f"{self.name}.dt": program}
        if beside is not None:
            programs[f"{self.name}-beside.dt"] = program.with_schedule(beside)
        found: list[Any] = []
        with _noted():
            for file, item in programs.items():
                # The page's places are those of the text that it shows.
                text = item.to_dt()
                module, _ = compile_text(text, file)
                found.append(explore_program(module, text, file, settings))
        return Exploration(self.name, found)

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: algorithm, schedule, picture, costs and generated code."""
        shown = notebook.html_of(self._shown)
        try:
            picture, code, costs = self.draw(), self.source, self._costs()
        except CompileError as error:
            return shown + notebook.text(str(error))
        return (
            shown + notebook.section("picture", picture)
            + notebook.section("predicted cost", notebook.text(costs))
            + notebook.section("generated code", notebook.text(code), folded=True)
        )  # fmt: skip

    @compiling()
    def _costs(self) -> str:
        """Returns a table of what the kernels are predicted to cost, at nominal sizes."""
        from dt_mlir.autoscheduling.auto import assumed_sizes
        from dt_mlir.costs.device import find_device
        from dt_mlir.costs.report import cost_report

        module = self._lowered("dt", self.types_of(None))
        return cost_report(module, assumed_sizes(module, self._sizes), find_device(None))

    @property
    def schedule(self) -> Schedule:
        """The schedule; of a kernel whose schedule is chosen in calls, what was chosen last."""
        return self._shown.schedule

    def __reduce__(self) -> tuple[Any, ...]:
        # What is compiled stays behind; the copy finds it on disk.
        return copied, (partial(Kernel, static=self.static), (self.program,), self._backward)

    def __repr__(self) -> str:
        return f"<kernel of {self.name}>\n{self._shown}"
