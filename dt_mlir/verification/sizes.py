"""Sizes at which a program's loops, tiles and masks all have something to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop, sched, tile
from dt_mlir.traversal import operations

LARGEST_STEP = 256
"""Steps beyond it are not exceeded: such tiles are run for a part of their extent alone."""
MOST_POINTS = 2**23
"""The number of points of all labels' index space beyond which nothing is run."""
_SHORT = {3: (5, 3, 7), 4: (5, 3, 4, 2), 5: (3, 2, 4, 2, 3), 100: (3, 2, 2)}
"""The sizes of labels that are walked one by one, by how many there are at most: few points, as
each is a trip of Python's, and different, so that labels that change places show."""


@dataclass
class _Steps:
    """How a label is walked."""

    step: int = 1
    """The largest step, block or tile extent."""
    group: int = 0
    """The extent of the largest group of blocks that the grid walks."""


def choose_sizes(
    modules: Sequence[ModuleOp], given: dict[str, int] | None = None
) -> dict[str, dict[str, int]]:
    """Choose sizes for all labels, for the steps that loops have at any stage of a pipeline.

    Args:
        modules: the module after each pass; the first one's interface counts.
        given: sizes that are wanted; then there are no others.

    Returns:
        By kind a size for each label: `ragged` (more than a step, and no multiple), `aligned` (two
        steps), `degenerate` (1), `grouped` (more blocks than a group holds, where the grid walks
        groups), or only `fixed` (what the program is compiled for), or only `given`.

    Raises:
        CompileError: if the program is compiled for sizes that are too large to run.
    """
    interface = Interface.of(modules[0])
    fixed: dict[str, int] = {}
    least: dict[str, int] = {}
    for module in modules:
        current = Interface.of(module)
        fixed.update(current.fixed)
        for label, number in current.least.items():
            least[label] = max(least.get(label, 0), number)
    if given:
        cases = {"given": interface.sizes({**fixed, **given})}
    else:
        cases = _cases(interface, _steps(modules), least, fixed)
    for sizes in cases.values():
        if not given:
            _shorten(interface, sizes, least, fixed)
        if _points(interface, sizes) > MOST_POINTS:
            shown = ", ".join(f"{label} = {size}" for label, size in sizes.items())
            raise CompileError(
                f"at {shown} there is too much to run for verifying semantics", modules[0],
                f"verify with sizes whose product is at most {MOST_POINTS}",
            )  # fmt: skip
    return cases


def _points(interface: Interface, sizes: dict[str, int]) -> int:
    """The number of points of the used labels' index space."""
    points = 1
    for group in interface.groups:
        if interface.used & set(group):
            points *= max(1, sizes[group[0]])
    return points


def _shorten(
    interface: Interface, sizes: dict[str, int], least: dict[str, int], fixed: dict[str, int]
) -> None:
    """Halve the largest sizes until there is not too much to run."""
    while _points(interface, sizes) > MOST_POINTS:
        free = [
            group
            for group in interface.groups
            if interface.used & set(group)
            and not set(fixed) & set(group)
            and sizes[group[0]] // 2 >= max(1, *(least.get(label, 1) for label in group))
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
        known.step = max(known.step, step)
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
                case tile.RangeOp() if isinstance(op.axis.extent, int):
                    note(op.label.data, op.axis.extent)
                case tile.KernelOp():
                    for label, block in op.grid:
                        note(label, block)
                case sched.DirectiveOp() if op.directive.data in ("block", "tensorize"):
                    for argument in op.argument_list:
                        if argument.key is not None and isinstance(argument.value, int):
                            note(argument.key, argument.value)
                case _:
                    pass
    return found
