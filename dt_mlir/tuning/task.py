"""The task of the tuner: a program with a space of schedules, at some sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects.sched import ScheduleOp
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.printer import print_directive, print_program
from dt_mlir.frontend.raising import raise_module
from dt_mlir.scheduling.space import Point, Space, select

LARGE = 2000
"""The number of schedules beyond which a space is not searched whole."""


@dataclass(frozen=True)
class Prediction:
    """The prediction of the model of costs about a candidate."""

    seconds: float
    """The predicted time."""
    features: tuple[float, ...]
    """The numbers on which the measured time may depend beside it."""
    model: str
    """The version of the model of costs."""


@dataclass(frozen=True)
class Candidate:
    """A point of a space of schedules."""

    point: Point
    """The choices."""
    text: str
    """The program with that schedule, in canonical DT."""
    prediction: Prediction | None = None
    """The prediction about it, where there is one."""


class SearchedProgram:
    """A program whose schedule is searched, at any sizes.

    Args:
        module: the program at the `dt` level, its space beside it.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.space = Space(module)
        bare = module.clone()
        for op in list(bare.ops):
            if isinstance(op, ScheduleOp):
                Rewriter.erase_op(op)
        self.algorithm = print_program(raise_module(bare))
        """The program without a schedule, in canonical DT."""

    def candidate(self, point: Point) -> Candidate:
        """The candidate at a point.

        Raises:
            CompileError: if the space has no such point.
        """
        module = self.module.clone()
        select(module, point)
        return Candidate(point, canonical(module))

    def candidates(self) -> list[Candidate]:
        """All candidates, each schedule once."""
        found: dict[str, Candidate] = {}
        for point in self.space.points():
            candidate = self.candidate(point)
            found.setdefault(candidate.text, candidate)
        return list(found.values())


class Task(SearchedProgram):
    """A program whose schedule is searched at some sizes.

    Args:
        module: the program at the `dt` level, its space beside it.
        given: sizes of labels.

    Raises:
        CompileError: if a label that the program needs has no size.
    """

    def __init__(self, module: ModuleOp, given: Mapping[str, int]) -> None:
        super().__init__(module)
        interface = Interface.of(module)
        self.sizes = interface.sizes(given)
        known = {*given, *interface.derived()}
        for group in interface.groups:
            if interface.used & set(group) and not known & set(group):
                raise CompileError(
                    f"there is no size of '{group[0]}'", None, f"give it, as in {group[0]}=4096"
                )
        self.sizes = {
            label: self.sizes[label] for label in interface.labels if label in self.sizes
        }
        interface.check_sizes(self.sizes)


def canonical(module: ModuleOp) -> str:
    """Returns a program with its schedule as text that is the same for the same schedule.

    Args:
        module: the program at the `dt` level, its schedule beside it.
    """
    program = raise_module(module)
    # A record is found by its text, and the order of a schedule means nothing; that of what is
    # compiled is the order of the results.
    program.directives.sort(
        key=lambda item: (
            (True, "") if item.name in OUTPUT_DIRECTIVES else (False, print_directive(item))
        )
    )
    return print_program(program)
