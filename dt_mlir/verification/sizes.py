"""Sizes at which a program's loops, tiles and masks all have something to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from math import prod

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, loop, sched, tile
from dt_mlir.dialects.formats import names
from dt_mlir.interpreters.arithmetic import Character
from dt_mlir.traversal import operations, operations_of
from dt_mlir.verification.run_length import operations_run

LARGEST_STEP = 256
"""Steps beyond it are not exceeded where all labels are large."""
MOST_POINTS = 2**23
"""The number of points of all labels' index space beyond which nothing is run."""
MOST_POINTS_NEAR_STEPS = 2**20
"""The number of points beyond which the other labels of a case near a step are made small."""
MOST_OPERATIONS = 2**14
"""The number of operations of block programs beyond which sizes are made smaller, if they can be:
the interpreters run about ten thousand in a second."""
MOST_OPERATIONS_NEAR_STEPS = 2**12
"""The same for a case near a step, of which there are many."""
_WHOLE_EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9)
"""Sizes of a label that is a tile of its own: powers of two, which tiles are, and their
neighbours."""
_SHORT = {3: (5, 3, 7), 4: (5, 3, 4, 2), 5: (3, 2, 4, 2, 3), 100: (3, 2, 2)}
"""The sizes of labels that are walked one by one, by how many there are at most: few points, as
each is a trip of Python's, and different, so that labels that change places show."""


@dataclass(frozen=True)
class Case:
    """Sizes, and what the inputs are like, of one comparison."""

    kind: str
    """The name of the case in messages."""
    sizes: dict[str, int]
    """A size for each label."""
    character: Character = Character.ANY
    """The character of the inputs."""


@dataclass
class _Steps:
    """The steps and extents of the loops over a label."""

    steps: set[int] = field(default_factory=set[int])
    """Steps, blocks and extents of tiles of more than one element."""
    group: int = 0
    """The extent of the largest group of blocks that the grid walks."""
    is_whole: bool = False
    """True if a tile has the whole extent."""

    @property
    def step(self) -> int:
        """The largest step."""
        return max(self.steps, default=1)

    def sizes(self) -> list[int]:
        """Returns sizes near the halves and multiples of each step.

        For each step there are sizes near 1/2, 1, 3/2 and 2 of it, one less and one more; for two
        steps multiples of the lesser that are no multiples of the larger.
        """
        found = {
            size
            for step in self.steps
            for halves in (1, 2, 3, 4)
            for size in (step * halves // 2 + near for near in (-1, 0, 1))
        }
        for inner in self.steps:
            found |= {step + sign * inner for step in self.steps for sign in (-1, 1)}
        if self.is_whole:
            found |= {*_WHOLE_EXTENTS}
        return sorted(size for size in found if size > 0)


def choose_cases(
    modules: Sequence[ModuleOp],
    given: dict[str, int] | None = None,
    characters: Sequence[Character] = tuple(Character),
) -> list[Case]:
    """Chooses sizes for all labels, for the steps that loops have at any stage of a pipeline.

    Args:
        modules: the module after each pass; the first one's interface counts.
        given: sizes that are wanted; then there are no others.
        characters: what inputs of the given sizes are like.

    Returns:
        The cases `ragged` (more than a step, and no multiple), `aligned` (two steps), `degenerate`
        (1), `grouped` (more blocks than a group holds, where the grid walks groups), or only
        `fixed` (what the program is compiled for); `specialized` (what warps are specialized for,
        unless that is too much to run); and the first of them with special inputs; or only `given`,
        with inputs of each character.

    Raises:
        CompileError: if the program is compiled for sizes that are too large to run.
    """
    known = _Known.of(modules)
    interface = known.interface
    if given:
        cases = {"given": interface.sizes({**known.fixed, **given})}
    else:
        cases = _cases(interface, known.steps, known.least, known.fixed)
    if not given:
        for sizes in cases.values():
            _shorten(known, sizes)
        if known.special:
            special = replace(known, fixed={**known.fixed, **known.special})
            sizes = _cases(interface, known.steps, known.least, special.fixed)["fixed"]
            _shorten(special, sizes)
            if _points(interface, sizes) <= MOST_POINTS:
                cases["specialized"] = sizes
        cases = {kind: sizes for kind, sizes in cases.items() if _settled(interface, sizes)}
    for sizes in cases.values():
        if _points(interface, sizes) > MOST_POINTS:
            shown = ", ".join(f"{label} = {size}" for label, size in sizes.items())
            raise CompileError(
                f"at {shown} there is too much to run for verifying semantics", modules[0],
                f"verify with sizes whose product is at most {MOST_POINTS}",
            )  # fmt: skip
    if given:
        return [Case("given", cases["given"], c) for c in characters]
    if not cases:
        raise CompileError(
            "no sizes were found at which every index stays in bounds", modules[0],
            "give sizes, as in '--verify-sizes x=64'",
        )  # fmt: skip
    found = [Case(kind, sizes) for kind, sizes in cases.items()]
    first = found[0]
    return [*found, Case(f"{first.kind} (special inputs)", first.sizes, Character.SPECIAL)]


def cases_near_steps(modules: Sequence[ModuleOp]) -> list[Case]:
    """Returns cases in which each label has each of the sizes near its steps (`_Steps.sizes`).

    The labels of a case have different places among their sizes. Where there would be too much to
    run, some of them have their least size instead.

    Args:
        modules: the module after each pass; the first one's interface counts.
    """
    known = _Known.of(modules)
    groups = [tuple(group) for group in known.interface.groups]
    wanted: dict[tuple[str, ...], list[int]] = {}
    for number, group in enumerate(groups):
        least = max((known.least.get(label, 0) for label in group), default=0)
        fixed = [known.fixed[label] for label in group if label in known.fixed]
        steps = [known.steps[label] for label in group if label in known.steps]
        sizes = {size for found in steps for size in found.sizes() if size >= least}
        if fixed or not sizes:
            short = fixed[0] if fixed else max(least, 2 + number % 3)
            wanted[group] = [short]
            continue
        turned = sorted(sizes)
        start = 5 * number % len(turned)
        wanted[group] = turned[start:] + turned[:start]
    pending = {group: list(sizes) for group, sizes in wanted.items() if len(sizes) > 1}
    characters = cycle([c for c in Character if c not in (Character.ANY, Character.SPECIAL)])
    found: list[Case] = []

    def too_much(sizes: dict[str, int]) -> bool:
        return known.exceeds(sizes, MOST_POINTS_NEAR_STEPS, MOST_OPERATIONS_NEAR_STEPS)

    while any(pending.values()):
        sizes = {label: min(wanted[group]) for group in groups for label in group}
        # The label with most left comes first, as it has to come up most often.
        order = sorted(pending, key=lambda group: -len(pending[group]))
        for place, group in enumerate(order):
            choices = pending[group] or wanted[group]
            trial = sizes | dict.fromkeys(group, choices[0])
            if not too_much(trial):
                sizes = trial
                if pending[group]:
                    pending[group].pop(0)
            elif place == 0:
                # It is too large even where all other labels have their least size.
                pending[group].pop(0)
        if _settled(known.interface, sizes) and not too_much(sizes):
            found.append(Case("near steps", sizes, next(characters)))
    return found


def _settled(interface: Interface, sizes: dict[str, int]) -> bool:
    """Gives labels the sizes that follow from others; returns whether a program can run at them.

    A size may be too small for what an index divides by.
    """
    if not interface.definitions and not interface.bounds:
        return True
    try:
        interface.settle(sizes, dict(sizes))
        interface.check_sizes(sizes)
    except CompileError:
        return False
    return True


@dataclass
class _Known:
    """Returns the steps and extents of each label's loops in the modules of a pipeline."""

    interface: Interface
    steps: dict[str, _Steps]
    least: dict[str, int]
    fixed: dict[str, int]
    programs: list[tuple[ModuleOp, Interface]]
    """The modules that have block programs, and their interfaces."""
    special: dict[str, int]
    """The sizes of labels that kernels are specialized for."""

    @staticmethod
    def of(modules: Sequence[ModuleOp]) -> _Known:
        fixed: dict[str, int] = {}
        least: dict[str, int] = {}
        programs: list[tuple[ModuleOp, Interface]] = []
        for module in modules:
            current = Interface.of(module)
            if operations_of(module, tile.KernelOp):
                programs.append((module, current))
            derived = current.derived()
            fixed.update({x: size for x, size in current.fixed.items() if x not in derived})
            for label, number in current.least.items():
                least[label] = max(least.get(label, 0), number)
        special = {
            label: size for op in operations_of(modules[-1], host.LaunchOp)
            for label, size in op.known_sizes.items()
        }  # fmt: skip
        return _Known(Interface.of(modules[0]), _steps(modules), least, fixed, programs, special)

    def exceeds(self, sizes: dict[str, int], points: int, most: int) -> bool:
        """Returns whether there is more to run than some points, or operations of programs."""
        return _points(self.interface, sizes) > points or any(
            operations_run(module, interface.completed(sizes)) > most
            for module, interface in self.programs
        )


def _points(interface: Interface, sizes: dict[str, int]) -> int:
    """The number of points of the used labels' index space, or of an input's elements if more.

    An input has more where several of its axes have one label.
    """
    points = 1
    for group in interface.groups:
        if (interface.used - interface.axis_only) & set(group):
            points *= max(1, sizes[group[0]])
    known = interface.completed(sizes)
    return max([points, *(prod(interface.shape(item, known)) for item in interface.inputs)])


def _shorten(known: _Known, sizes: dict[str, int]) -> None:
    """Halve the largest sizes until there is not too much to run."""
    interface, fixed = known.interface, known.fixed
    while known.exceeds(sizes, MOST_POINTS, MOST_OPERATIONS):
        free = [
            group
            for group in interface.groups
            if interface.used & set(group)
            and not set(fixed) & set(group)
            and sizes[group[0]] // 2 >= max(1, *(known.least.get(label, 1) for label in group))
        ]
        if not free:
            return
        largest = max(free, key=lambda group: sizes[group[0]])
        sizes.update(dict.fromkeys(largest, sizes[largest[0]] // 2))


def _cases(
    interface: Interface, steps: dict[str, _Steps], least: dict[str, int], fixed: dict[str, int]
) -> dict[str, dict[str, int]]:
    kinds = ["ragged", "aligned", "degenerate"]
    if any(found.group for found in steps.values()):
        kinds.append("grouped")
    cases: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
    single = [
        number
        for number, group in enumerate(interface.groups)
        if all(label not in steps or steps[label].step == 1 for label in group)
        and interface.used & set(group)
    ]
    walked = [
        label for number in single for label in interface.groups[number] if label in interface.used
    ]
    shorts = next(found for most, found in _SHORT.items() if len(walked) <= most)
    for number, group in enumerate(interface.groups):
        step = max((steps[x].step for x in group if x in steps), default=1)
        blocks = max((steps[x].group for x in group if x in steps), default=0)
        known = [fixed[x] for x in group if x in fixed]
        lowest = max((least.get(x, 0) for x in group), default=0)
        place = single.index(number) if number in single else number
        short = shorts[place % len(shorts)]
        for kind, sizes in cases.items():
            size = _size(kind, step, blocks, short, number)
            size = known[0] if known else max(size, lowest)
            sizes.update(dict.fromkeys(group, size))
    if fixed:
        # The other kinds differ in what is left free, which is seldom much.
        return {"fixed": cases["ragged"]}
    return cases


def _size(kind: str, step: int, group: int, short: int, number: int) -> int:
    within = step <= LARGEST_STEP
    match kind:
        case "degenerate":
            return 1
        case "aligned" if step > 1:
            return 2 * step if within else LARGEST_STEP
        case "aligned":
            return min(4, short + 1) if short > 3 else 2
        case "grouped" if group:
            # A whole group of blocks, and one that is not full.
            return group + max(1, step // 3)
        case _:
            if step == 1:
                return short
            return step + (step // 3 | 1) + number if within else LARGEST_STEP // 4 + short


def _steps(modules: Sequence[ModuleOp]) -> dict[str, _Steps]:
    found: dict[str, _Steps] = {}

    def note(label: str, step: int, group: int = 0) -> None:
        known = found.setdefault(label, _Steps())
        if step > 1:
            known.steps.add(step)
        known.is_whole |= step == 0
        known.group = max(known.group, group)

    for module in modules:
        for op in operations(module):
            match op:
                case loop.LoopLike():
                    note(op.label_name, op.step_size)
                case loop.GridOp():
                    blocks = op.block_sizes
                    for label, block in blocks.items():
                        note(label, block)
                    for walk in op.walk_order:
                        note(walk.label, 1, walk.factor * blocks.get(walk.label, 1))
                case tile.RangeOp():
                    note(op.label.data, op.span or 0)
                case tile.JoinedRangeOp():
                    for label, extent in zip(names(op.labels), op.extents):
                        note(label, extent)
                case tile.KernelOp():
                    for label, block in op.grid:
                        note(label, block)
                case sched.DirectiveOp() if op.directive_name in ("block", "tensorize"):
                    for argument in op.argument_list:
                        if argument.key is not None and isinstance(argument.value, int):
                            note(argument.key, argument.value)
                case _:
                    pass
    return found
