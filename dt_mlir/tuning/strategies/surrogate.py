"""Learns by how much measured times differ from predicted ones: a Gaussian process.

What it learns is the logarithm of their ratio, as a function of features that say nothing about
which program they are of. The mean of each program's ratios is taken off, for it ranks nothing.
Where nothing was measured nearby, the prediction of the model of costs remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from math import log, pi, sqrt
from threading import Thread
from typing import Any

import numpy as np

from dt_mlir.diagnostics import CompileError

DEVIATION = 0.2
"""The standard deviation of the logarithm of measured over predicted time."""
DISTANCE = 0.5
"""The distance of features within which ratios are alike."""
NOISE = 0.02
"""The standard deviation of the logarithm of a measured time."""
FAILED = 0.7
"""The value of a candidate that has no time: the logarithm of twice its predicted time."""

Features = Sequence[float]


class Surrogate:
    """Predicts times from predicted times and measured ones.

    Args:
        known: the features of other programs' candidates, each with the logarithm of measured over
            predicted time less its program's mean.

    Raises:
        CompileError: if scikit-learn is not installed.
    """

    def __init__(self, known: Sequence[tuple[Features, float]] = ()) -> None:
        if find_spec("sklearn") is None:
            raise CompileError(
                "a search in the order of predicted time needs scikit-learn", None,
                "pip install 'dt-mlir[tune]'",
            )
        self._known = list(known)
        self._measured: list[tuple[Features, float]] = []
        self._failed: list[Features] = []
        self._times: list[float] = []
        """The logarithms of measured times."""
        self._is_importing = False

    def begin_imports(self) -> None:
        """Begins to import what the process needs, which takes seconds, while the caller goes on.
        """
        if not self._is_importing:
            self._is_importing = True
            name = "sklearn.gaussian_process"
            Thread(target=import_module, args=[name], daemon=True).start()

    @cached_property
    def _process(self) -> Any:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        kernel: Any = ConstantKernel(DEVIATION**2) * Matern(DISTANCE, nu=2.5)
        fixed: Any = None
        return GaussianProcessRegressor(kernel + WhiteKernel(NOISE**2), optimizer=fixed)

    @cached_property
    def _threads(self) -> Any:
        """The threads of the libraries of linear algebra, once they are loaded.

        Where processes that compile take all cores, several threads wait for one another longer
        than one takes for such small matrices.
        """
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    @property
    def knows(self) -> bool:
        """True if there is anything to learn from; else the predictions are all that there is."""
        return bool(self._known or self._measured or self._failed)

    def learn(self, features: Features, predicted: float, measured: float | None) -> None:
        """Hears a time.

        Args:
            features: the candidate's features.
            predicted: its predicted time.
            measured: its time, in the same unit; None if it has none.
        """
        if measured is None:
            self._failed.append(features)
        else:
            self._measured.append((features, log(measured / predicted)))
            self._times.append(log(measured))

    def gains(
        self, features: Sequence[Features], predicted: Sequence[float],
        under_way: Sequence[Features] = (),
    ) -> Any:
        """Returns the expected improvements over the best measured time, as parts of it.

        Args:
            features: the features of each candidate.
            predicted: their predicted times.
            under_way: the features of candidates whose times are not known yet: they are taken to
                be as predicted.
        """
        ratios = [ratio for _, ratio in self._measured]
        offset = float(np.mean(ratios)) if ratios else 0.0
        points = [f for f, _ in self._known] + [f for f, _ in self._measured]
        values = [r for _, r in self._known] + [r - offset for r in ratios]
        points += self._failed
        values += [FAILED] * len(self._failed)
        wanted = np.asarray(features)
        if under_way:
            believed, _ = self._predicted(points, values, np.asarray(under_way))
            points, values = [*points, *under_way], [*values, *believed]
        mean, deviation = self._predicted(points, values, wanted)
        times = np.log(np.asarray(predicted)) + offset + mean
        best = min(self._times, default=float(times.min()))
        return _expected_improvement(times, deviation, best)

    def _predicted(
        self, points: Sequence[Features], values: Sequence[float], wanted: Any
    ) -> tuple[Any, Any]:
        """Returns the mean and the standard deviation at some features."""
        if not points:
            return np.zeros(len(wanted)), np.full(len(wanted), DEVIATION)
        process = self._process
        with self._threads.limit(limits=1, user_api="blas"):
            fitted = process.fit(np.asarray(points), np.asarray(values))
            mean, deviation = fitted.predict(wanted, return_std=True)
        return mean, np.sqrt(np.maximum(deviation**2 - NOISE**2, 1e-8))


def _expected_improvement(times: Any, deviation: Any, best: float) -> Any:
    """Returns the expected improvement of normal variables over a value that is to be undercut."""
    from scipy.special import ndtr

    distance = (best - times) / deviation
    density = np.exp(-(distance**2) / 2) / sqrt(2 * pi)
    return deviation * (distance * ndtr(distance) + density)
