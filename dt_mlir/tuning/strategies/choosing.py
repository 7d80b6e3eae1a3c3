"""Chooses the strategy of a search."""

from __future__ import annotations

from dt_mlir.costs.device import Device
from dt_mlir.costs.version import model_digest
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.strategies.everything import Everything
from dt_mlir.tuning.strategies.predicted import Predicted
from dt_mlir.tuning.strategies.sampled import Sampled
from dt_mlir.tuning.strategies.strategy import Strategy
from dt_mlir.tuning.task import Task


def strategy_for(
    task: Task, setting: Setting, database: Database, device: Device | None, limited: bool,
    seed: int,
) -> Strategy:
    """Returns the strategy of a search.

    Args:
        task: what is tuned.
        setting: where it is measured.
        database: where earlier results are.
        device: the device that times are predicted for, to search a space that is derived; None
            for the space that the program writes.
        limited: whether the number of trials or their time is limited.
        seed: the seed of suggestions.

    Raises:
        CompileError: if a library that it needs is not installed, or the program is wrong.
    """
    if device is not None:
        ratios = database.ratios(setting, model_digest())
        return Predicted(task.module, task.sizes, device, ratios, patient=limited)
    return Sampled(task, seed) if limited else Everything(task)
