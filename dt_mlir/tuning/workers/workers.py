"""The interface of the processes that compile a search's candidates and measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from dt_mlir.tuning.compilation import Built
from dt_mlir.tuning.gpu import Files
from dt_mlir.tuning.measuring import Measured

PREPARATION = 600.0
"""The seconds after which making up inputs and what is expected of them is ended."""

Wanted = tuple[str, Mapping[str, int], str]
"""The key of made-up inputs: the algorithm, its sizes and the method."""


class Workers(Protocol):
    """Several processes that compile, and one on each GPU that measures.

    What takes too long or ends its process costs only itself.
    """

    @property
    def jobs(self) -> int:
        """The number of candidates that are compiled at once."""
        ...

    def begin(self, on_gpu: bool) -> None:
        """Starts processes, which import what they need while the caller goes on.

        Args:
            on_gpu: whether they compile for a GPU, and measure on one.
        """
        ...

    def places(self) -> list[int]:
        """Returns the numbers of the processes that measure."""
        ...

    def device_name(self) -> str:
        """Returns the name of the GPU that measures."""
        ...

    def versions(self) -> str:
        """Returns the versions of what a measurement depends on; see `measuring.versions`."""
        ...

    def build(self, text: str, sizes: Mapping[str, int], on_gpu: bool) -> Future[Any]:
        """Compiles a candidate; see `compilation.build`.

        Args:
            text: the program with its schedule.
            sizes: a size for each label.
            on_gpu: whether to compile for a GPU.
        """
        ...

    def inspect(self, code: Sequence[bytes]) -> Future[Any]:
        """Looks for faults in machine code where candidates are compiled.

        Args:
            code: the machine code of a candidate's kernels; see `compilation.inspect`.
        """
        ...

    def built(self, future: Future[Any]) -> Built:
        """Returns what came of compiling or inspecting a candidate, once it is done."""
        ...

    def prepare(self, place: int, wanted: Wanted) -> None:
        """Lets a process that measures make up inputs, while candidates are compiled.

        Args:
            place: the number of the process.
            wanted: what its inputs are made up for.
        """
        ...

    def start(
        self, place: int, wanted: Wanted, function: Callable[..., Measured], *args: object,
        cache: Files | None = None,
    ) -> Future[Any]:
        """Runs something in a process that measures, and that runs nothing else.

        Args:
            place: the number of the process.
            wanted: what its inputs are made up for.
            function: what runs.
            args: its arguments.
            cache: files of Triton's cache that it needs, if it may be on another machine.
        """
        ...

    def measured(self, place: int, future: Future[Any]) -> Measured:
        """Returns what came of running something, once it is done.

        Raises:
            CompileError: if inputs cannot be made up, or a result not be checked.
        """
        ...

    def stop(self) -> None:
        """Ends all processes, whatever they do."""
        ...
