"""Kernels whose schedules are chosen when they are called."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from dt_mlir.kernels.kernel import Kernel
from dt_mlir.kernels.shapes import check_types, sizes_of
from dt_mlir.language.program import Program


class ChosenKernel(Kernel):
    """A kernel whose schedule is chosen when it meets new types or sizes.

    In all else it is like other kernels, in what `torch.compile` compiles, too.
    """

    def __init__(self, program: Program, *, static: bool = False) -> None:
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._last: Program | None = None
        self._choosing = threading.Lock()
        super().__init__(program, static=static)

    @property
    def _shown(self) -> Program:
        return self._last or self.program

    def _call(self, /, *inputs: Any, **options: Any) -> Any:
        given = inputs[: len(self._calls.tensors)]
        labels = {name: size for name, size in options.items() if name != "out"}
        key = *((tensor.dtype, tensor.shape) for tensor in given), *labels.items()
        kernel = self._kernels.get(key)
        if kernel is None:
            with self._choosing:
                if key not in self._kernels:
                    interface = self._made_operator().interface
                    sizes_of(self.name, interface, given, labels)
                    check_types(self.name, interface, given, self.program.open_inputs)
                    self._last = self._choose(key, given, labels)
                    made = Kernel(self._last, static=self.static)
                    made.check()
                    # What is called again is launched without asking which kernel it is.
                    made._plans = self._plans
                    self._kernels[key] = made
                kernel = self._kernels[key]
        return kernel._call(*inputs, **options)

    @abstractmethod
    def _choose(
        self, key: tuple[Any, ...], given: Sequence[Any], labels: dict[str, Any]
    ) -> Program:
        """Returns the program under a schedule for tensors that fit.

        Args:
            key: the types and sizes.
            given: the tensors.
            labels: sizes that no tensor has.
        """
