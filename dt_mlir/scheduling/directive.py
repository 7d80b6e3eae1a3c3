"""Scheduling directives: one class each, from which everything else follows.

A directive is a pass on the `loop` level. Its class declares its name, its parameters with a
sentence each, its phase, when it is legal and what it does. The method of `.dt` programs, the
checks of `sched.NAME`, the pass with its options and the documentation come from that.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Self

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import loops_over
from dt_mlir.diagnostics import CompileError, Note, did_you_mean
from dt_mlir.dialects import loop
from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier
from dt_mlir.dialects.sched import RESERVED, Argument
from dt_mlir.scheduling.parameters import ArgumentError, Kind
from dt_mlir.scheduling.places import Shapes
from dt_mlir.traversal import operations_of

PASS_PREFIX = "schedule-"


class Phase(IntEnum):
    """When `apply-schedule` applies a directive."""

    NAMES = 0
    """The names that labels have in the directives behind."""
    ALGEBRA = 1
    """The reductions that are computed together, and how."""
    COPIES = 2
    """The tensors that are read by way of copies."""
    PARTS = 3
    """The reductions that are computed in parts."""
    SCANS = 4
    """The reductions up to each index that are computed in one pass."""
    CHUNKS = 5
    """The chunks in which these are computed."""
    LABELS = 6
    """The labels of each function's loops."""
    FUSION = 7
    """The place of each function's computation."""
    PARTITION = 8
    """The block of a program instance."""
    ORDER = 9
    """The order of the loops in it."""
    TILING = 10
    """The tile that is computed at once."""
    MAPPING = 11
    """The order of program instances."""
    STORAGE = 12
    """The layout of a kernel's results in memory."""
    HINTS = 13
    """Hints to the target."""
    PROMISES = 14
    """Checks of all that came before."""


def parameter(kind: Kind, doc: str, default: Any = None) -> Any:
    """Declares a parameter of a directive.

    Args:
        kind: what it may be.
        doc: a sentence that says what it means.
        default: its value where a program leaves it out; where it is None, none may.
    """
    metadata = {"kind": kind, "doc": doc}
    if default is None:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass
class Site:
    """The function that a directive is applied to, and the directive's place in the source."""

    program: LoopProgram
    function: str
    location: LocationAttr | None
    """The directive's place in the source."""
    directive: str

    def error(
        self, message: str, hint: str | None = None, contradicts: str | None = None
    ) -> CompileError:
        """A refusal of the directive, at its place.

        Args:
            message: what is wrong.
            hint: what would be right.
            contradicts: the name of the directive that was applied to the function before and
                does not go with this one; its place is shown.
        """
        notes: list[Note] = []
        if contradicts is not None:
            earlier = self.program.places.get((self.function, contradicts))
            notes += [] if earlier is None else [Note("the other one is here", earlier)]
        location = self.location
        if location is None:
            home = self.program.home_of(self.function)
            location = None if home is None else home.location
        named = f"{self.function}.{self.directive}: {message}"
        return CompileError(named, location, hint, notes)

    @property
    def kernel(self) -> loop.KernelOp:
        """The kernel whose root the function is.

        Raises:
            CompileError: if it is not a root, or no function at all.
        """
        kernel = self.program.kernel_of(self.function)
        if kernel is not None:
            return kernel
        home = self.program.home_of(self.function)
        if home is not None:
            raise self.error(
                f"'{self.function}' is fused into the kernel of '{home.root.data}'",
                f"write '{home.root.data}.{self.directive}(…)'",
            )
        reader = self.program.gathered.get(self.function)
        if reader is not None:
            raise self.error(
                f"'{self.function}' is computed in one pass with '{reader}', and has no loops of "
                "its own",
                f"schedule '{reader}'",
            )
        if self.program.is_inlined(self.function):
            raise self.error(
                f"'{self.function}' is inlined, and has no loops of its own",
                "schedule the functions that read it",
            )
        raise self.error(
            f"there is no function '{self.function}' to schedule",
            did_you_mean(self.function, self.program.functions())
            or "nothing that is compiled needs one of that name",
        )

    def check_new_name(self, name: str, hint: str, taken: Collection[str] = ()) -> None:
        """Checks that what the directive defines may have a name.

        Args:
            name: the name.
            hint: what to do if it has a meaning already.
            taken: further names that have.

        Raises:
            CompileError: if it is none, or has a meaning already.
        """
        program = self.program
        if not is_identifier(name):
            raise self.error(f"'{name}' is not a name for a function", NAMES_HINT)
        known = {*program.labels(), *program.functions(), *program.tensor_values(), *taken}
        if name in known:
            raise self.error(
                f"'{name}' is already the name of a label, a function or an input", hint
            )

    def check_nothing_fused(self, change: str) -> None:
        """Checks that no function is fused into the kernel yet.

        Args:
            change: what has to come before, as in 'scan'.

        Raises:
            CompileError: if one is.
        """
        fused = operations_of(self.kernel, loop.LocalOp)
        if fused:
            raise self.error(
                f"'{fused[0].function.data}' is fused into the kernel of '{self.function}' already",
                f"{change} first, and fuse then",
            )

    def set_hint(self, hint: str, value: int | str) -> None:
        """Sets a launch hint of the kernel.

        Raises:
            CompileError: if the function is not a root, or the hint already has another value.
        """
        kernel = self.kernel
        known = kernel.properties.get(hint)
        if known is not None:
            shown = known.data if isinstance(known, StringAttr) else kernel.int_hint(hint)
            if shown != value:
                raise self.error(
                    f"it is already {shown}, which contradicts {value}", "leave one of them out",
                    self.directive,
                )  # fmt: skip
        kernel.set_hint(hint, value)

    def fused_location(self, location: LocationAttr) -> LocationAttr:
        """The location of a loop that the directive shaped: its own, then the directive's."""
        if self.location is None or location == self.location:
            return location
        parts: list[Attribute] = [location]
        if isinstance(location, FusedLoc):
            assert isinstance(location.locations, ArrayAttr)
            parts = [part for part in location.locations if part != self.location]
        # xDSL's parser reads no metadata of fused locations.
        return FusedLoc(ArrayAttr([*parts, self.location]), NoneAttr())


@dataclass(frozen=True)
class Directive(ModulePass):
    """A scheduling directive. Subclasses are frozen dataclasses whose fields are parameters."""

    function: str
    """The function that the directive is applied to."""

    phase: ClassVar[Phase]
    """When `apply-schedule` applies it."""

    decides_bits: ClassVar[bool] = True
    """False if results are the same, bit by bit, whatever its arguments are."""

    registry: ClassVar[dict[str, type[Directive]]] = {}
    """The directives that have been defined, by name."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            if not cls.name.startswith(PASS_PREFIX):
                raise ValueError(f"the pass '{cls.name}' of a directive is not named 'schedule-…'")
            name = cls.directive_name()
            if name in RESERVED or not (name.isascii() and name.isidentifier()):
                raise ValueError(f"'{cls.directive_name()}' is not a name for a directive")
            Directive.registry[cls.directive_name()] = cls

    @classmethod
    def directive_name(cls) -> str:
        """The directive's name in programs: `fuse_at` for the pass `schedule-fuse-at`."""
        return cls.name.removeprefix(PASS_PREFIX).replace("-", "_")

    @classmethod
    def parameters(cls) -> list[tuple[str, Kind, str]]:
        """The parameters: name, kind and meaning."""
        return [
            (field.name, field.metadata["kind"], field.metadata["doc"])
            for field in dataclasses.fields(cls)
            if "kind" in field.metadata
        ]

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The values of the parameters that a program may leave out."""
        return {
            field.name: field.default
            for field in dataclasses.fields(cls)
            if "kind" in field.metadata and field.default is not dataclasses.MISSING
        }

    @classmethod
    def signature(cls) -> str:
        """Returns the directive's signature: `block(label:number, …)`, `persistent([number])`."""
        optional = cls.defaults()
        forms = [f"[{k.form}]" if n in optional else k.form for n, k, _ in cls.parameters()]
        return f"{cls.directive_name()}({', '.join(forms)})"

    @classmethod
    def decode(cls, function: str, arguments: Sequence[Argument]) -> Self:
        """The directive for arguments of the source.

        Raises:
            ArgumentError: if they do not fit the parameters.
        """
        for argument in arguments:
            if argument.is_open:
                raise ArgumentError(f"'{argument}' is not decided", "choose with sched-select")
        values: dict[str, Any] = {}
        pending = list(arguments)
        for name, kind, _ in cls.parameters():
            if kind.takes_rest and not pending and name in cls.defaults():
                continue
            if kind.takes_rest:
                values[name] = kind.decode(pending)
                pending = []
                continue
            keyed = [a for a in pending if a.key == name]
            given = keyed[:1]
            if not given and not kind.is_named:
                given = [a for a in pending if (a.key is not None) is kind.has_key][:1]
            if not given and name in cls.defaults():
                continue
            if not given:
                raise ArgumentError(f"it needs a {kind.form}", f"write '{cls.signature()}'")
            pending.remove(given[0])
            values[name] = kind.decode([given[0]])
        if pending:
            raise ArgumentError(
                f"it takes no argument '{pending[0]}'", f"write '{cls.signature()}'"
            )
        return cls(function, **values)

    def arguments(self) -> list[Argument]:
        """The arguments that say this directive."""
        found: list[Argument] = []
        optional = self.defaults()
        for name, kind, _ in self.parameters():
            value = getattr(self, name)
            if name not in optional or value != optional[name]:
                found.extend(kind.encode(value))
        return found

    def text(self) -> str:
        """The directive in canonical DT: `f.block(x:128);`"""
        shown = ", ".join(map(str, self.arguments()))
        return f"{self.function}.{self.directive_name()}({shown});"

    def phase_among(self, schedule: Sequence[Directive]) -> Phase:
        """When `apply-schedule` applies the directive as one of a schedule."""
        return self.phase

    @abstractmethod
    def rewrite(self, site: Site) -> None:
        """Do what the directive says.

        What is refused is refused with `site.error`; the module is as it was then.

        Raises:
            CompileError: where the directive is not legal.
        """

    def run(self, program: LoopProgram, location: LocationAttr | None) -> None:
        """Applies the directive to a program, which it may leave half changed where it refuses.

        Args:
            program: a program of the `loop` level.
            location: where the directive stands in the source.

        Raises:
            CompileError: where the directive is not legal.
        """
        try:
            checked = self.decode(self.function, self.arguments())
        except ArgumentError as error:
            named = f"{self.function}.{self.directive_name()}: {error}"
            raise CompileError(named, location, error.hint) from None
        name = self.directive_name()
        site = Site(program, self.function, location, name)
        self._check_parts(site)
        checked.rewrite(site)
        program.record(checked.text())
        if location is not None:
            program.places.setdefault((self.function, name), location)

    def _check_parts(self, site: Site) -> None:
        """Checks that no loop is named that another kernel has, which reduces its parts.

        Raises:
            CompileError: where one is.
        """
        kernel = site.program.kernel_of(self.function)
        labels = {label for name, label in site.program.parts if name == self.function}
        if kernel is None or not labels:
            return
        for argument in self.arguments():
            named = argument.value if argument.key is None else argument.key
            # A fused function may have a loop over the same label here.
            if named in labels and not loops_over(kernel, str(named)):
                parts = site.program.parts[self.function, str(named)]
                raise site.error(
                    f"'{self.function}' has no loop over '{named}': '{parts}' reduces it",
                    f"write '{parts}.{site.directive}(…)'",
                )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_directives(op, [(self, None)])


Observer = Callable[["Directive", "LocationAttr | None", ModuleOp], None]
"""Called with an applied directive, its place in the source, and the module as it is then."""

OBSERVER: ContextVar[Observer | None] = ContextVar("OBSERVER", default=None)
"""Called after each directive of a schedule, so that each can be verified by itself."""


def apply_directives(
    module: ModuleOp,
    directives: Sequence[tuple[Directive, LocationAttr | None]],
    observer: Observer | None = None,
) -> None:
    """Applies directives one after the other, all of them or none.

    They work on a copy, which takes the module's place in the end.

    Args:
        module: a module of the `loop` level.
        directives: the directives, each with its place in the source.
        observer: called after each directive; it must not change the module.

    Raises:
        CompileError: where one is not legal; the module is unchanged.
    """
    trial = module.clone()
    program = LoopProgram(trial)
    placed = any(location is not None for _, location in directives)
    shapes = Shapes(trial) if placed else None
    for directive, location in directives:
        directive.run(program, location)
        if shapes is not None:
            shapes.give_place(location)
        if observer is not None:
            program.write_record()
            observer(directive, location, trial)
    program.write_record()
    region = trial.detach_region(trial.body)
    module.body.detach_block(module.body.block).erase(safe_erase=False)
    region.move_blocks(module.body)
    module.attributes.update(trial.attributes)
