"""Compares schedules of a program with baselines, in rounds of one process on one GPU."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from row import CONTIGUOUS, TUNED

from dt_mlir.diagnostics import CompileError
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.runtime.execute import loaded, wrapper_name
from dt_mlir.tuning.inputs import Prepared
from dt_mlir.tuning.measuring import Measured, calls, prepared
from dt_mlir.tuning.replays import Run, sets_of

REPEATED = {"hot": 3, "cold": 3}
"""The times that a kind is measured in a round: short ones depend on what ran before, for a GPU's
clock follows the power that it has taken."""

Times = dict[str, dict[str, list[float]]]
"""The milliseconds of each round, by contender and kind of time."""


@dataclass(frozen=True)
class Module:
    """A schedule that takes part."""

    name: str
    source: str
    """The emitted module."""
    accuracy: Accuracy


@dataclass(frozen=True)
class Contest(Measured):
    """The outcome of a comparison."""

    times: Times = field(default_factory=dict[str, dict[str, list[float]]])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """The contenders that have no times, each with the reason."""
    sets: int = 1
    """The sets of tensors through which cold calls rotated."""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """The seconds until each contender was ready."""


@dataclass(frozen=True)
class Padded(Measured):
    """The layout of results that torch.compile pads."""

    strides: tuple[tuple[int, ...], ...] = ()
    """Their strides; none if they are contiguous."""


def contest(
    algorithm: str, sizes: Mapping[str, int], modules: Sequence[Module],
    baselines: Sequence[str], winner: str, rounds: int, singly: bool, under_way: str,
    seed: int = 0, strides: tuple[tuple[int, ...], ...] = (),
) -> Contest:
    """Times schedules and baselines in rounds, in each of which the order is drawn anew.

    Args:
        algorithm: the program without its schedule.
        sizes: a size for each label.
        modules: the schedules.
        baselines: the names of functions of the package `baselines`.
        winner: the program whose parameters the hand-written kernels take over.
        rounds: the number of rounds.
        singly: whether single and sustained calls are timed too.
        under_way: a file that names the contender under way, should the process end with it.
        seed: the seed of orders.
        strides: the strides of the results that schedules write, if these are not contiguous.
    """
    import torch
    from timing import Clock

    without = prepared(algorithm, tuple(sizes.items()), "cold")
    inputs = replace(without, strides=strides)
    arguments = sets_of(inputs, len(modules) + len(baselines))
    missing: dict[str, str] = {}
    clocks: dict[str, Clock] = {}
    seconds: dict[str, float] = {}
    with ExitStack() as stack:
        makers: dict[str, Callable[[], list[Run]]] = {}
        for module in modules:
            makers[module.name] = lambda m=module: _scheduled(m, inputs, arguments, stack)
            if inputs.strides and module.name == TUNED:
                makers[CONTIGUOUS] = lambda m=module: _scheduled(m, without, arguments, stack)
        for name in baselines:
            makers[name] = lambda n=name: _baseline(n, winner, inputs, arguments)
        for name, maker in makers.items():
            begun = time.monotonic()
            Path(under_way).write_text(name)
            try:
                clocks[name] = Clock(maker(), singly)
            except (Exception, SystemExit) as error:
                # What a baseline can raise is anything; it has no time then.
                missing[name] = _first_line(error)
                # One that leaves the GPU unusable ends the comparison.
                torch.cuda.synchronize()
            seconds[name] = time.monotonic() - begun
        order = random.Random(seed)
        times: Times = {
            name: {kind: [] for kind in clock.kinds} for name, clock in clocks.items()
        }
        kinds = next(iter(clocks.values())).kinds if clocks else ()
        for _ in range(rounds):
            for kind in [each for each in kinds for _ in range(REPEATED.get(each, 1))]:
                names = [*clocks]
                order.shuffle(names)
                for name in names:
                    Path(under_way).write_text(name)
                    times[name][kind].append(clocks[name].milliseconds(kind))
        clocks.clear()
    torch.cuda.empty_cache()
    return Contest("ok", "", None, times, missing, len(arguments), seconds)


def padded(
    algorithm: str, sizes: Mapping[str, int], baselines: Sequence[str]
) -> Padded:
    """Looks for results that torch.compile pads; arguments as for `contest`."""
    inputs = prepared(algorithm, tuple(sizes.items()), "cold")
    return Padded("ok", "", None, padding(inputs, baselines))


def padding(inputs: Prepared, baselines: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Returns the strides of results whose rows torch.compile pads; none if it does not.

    Kernels are given such results then, so that none has to store rows that start anywhere where
    another one does not.

    Args:
        inputs: the inputs of a program.
        baselines: the names of the baselines, of which one may be compiled.
    """
    from baselines import FUNCTIONS

    compiled = [name for name in baselines if name.endswith("_compile")]
    if not compiled:
        return ()
    try:
        found = FUNCTIONS[compiled[0]](*inputs.arguments)
    except Exception:
        # Where it takes part it says what is wrong.
        return ()
    results = found if isinstance(found, tuple) else (found,)
    if len(results) != len(inputs.outputs):
        return ()
    for result, (shape, dtype) in zip(results, inputs.outputs):
        strides = [*result.stride()]
        ordered = strides == sorted(strides, reverse=True) and strides[-1:] in ([], [1])
        if tuple(result.shape) != tuple(shape) or result.dtype != dtype or not ordered:
            return ()
    if all(result.is_contiguous() for result in results):
        return ()
    return tuple(tuple(result.stride()) for result in results)


def _scheduled(
    module: Module, inputs: Prepared, arguments: Sequence[tuple[Any, ...]], stack: ExitStack
) -> list[Run]:
    """Returns the calls of a schedule's kernels, as they are made from Python."""
    emitted = stack.enter_context(loaded(module.source))
    wrapper = getattr(emitted, wrapper_name(module.source))
    first = inputs.poisoned()
    found = calls(wrapper, inputs, arguments, first)
    found[0]()
    inputs.check(first, module.accuracy)
    return found


def _baseline(
    name: str, winner: str, inputs: Prepared, arguments: Sequence[tuple[Any, ...]]
) -> list[Run]:
    """Returns the calls of a baseline, whose results are compared with the program's."""
    from baselines import EXPERTS, FUNCTIONS, UNCHECKED, Winner

    function = EXPERTS[name](Winner.of(winner)) if name in EXPERTS else FUNCTIONS[name]
    results = function(*inputs.arguments)
    if not name.startswith(UNCHECKED):
        inputs.check_roughly(results)
    return [lambda given=given: function(*given) for given in arguments]


def _first_line(error: BaseException) -> str:
    if isinstance(error, CompileError):
        return error.message
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
