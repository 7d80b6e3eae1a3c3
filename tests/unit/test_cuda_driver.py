"""The description of a GPU by the driver of CUDA, which is made up."""

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from dt_mlir.tuning import cuda_driver


class Driver:
    """A driver of two GPUs, whose functions fail with a status."""

    def __init__(self, status: int = 0) -> None:
        self.status = status

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return self.status

    def cuDeviceGetCount(self, found: Any) -> int:  # noqa: N802
        found._obj.value = 2
        return 0

    def cuDeviceGet(self, found: Any, number: int) -> int:  # noqa: N802
        found._obj.value = 10 + number
        return 0

    def cuDeviceGetName(self, name: Any, longest: int, gpu: int) -> int:  # noqa: N802
        assert longest == len(name)
        name.value = f"GPU {gpu}".encode()
        return 0

    def cuDeviceGetAttribute(self, found: Any, which: int, gpu: int) -> int:  # noqa: N802
        if gpu == 11:
            return 101
        found._obj.value = {75: 9, 76: 0, 10: 32}.get(which, 1000 + which)
        return 0


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    cuda_driver._driver.cache_clear()
    yield
    cuda_driver._driver.cache_clear()


def loads(monkeypatch: pytest.MonkeyPatch, driver: Driver | None) -> None:
    def load(name: str) -> Driver:
        assert name == "libcuda.so.1"
        if driver is None:
            raise OSError("no such file")
        return driver

    monkeypatch.setattr(ctypes, "CDLL", load)


def test_a_gpu_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    loads(monkeypatch, Driver())
    assert cuda_driver.count_of_gpus() == 2
    found = cuda_driver.described(0)
    assert found is not None
    assert (found.name, found.backend, found.architecture) == ("GPU 10", "cuda", 90)
    assert (found.warp, found.capability) == (32, (9, 0))
    properties = dict(found.properties)
    assert properties["name"] == "GPU 10"
    assert properties["multi_processor_count"] == 1016
    assert properties["shared_memory_per_block_optin"] == 1097
    assert cuda_driver.described(2) is None


@pytest.mark.parametrize("driver", [None, Driver(100)])
def test_without_a_driver_that_works_there_is_no_gpu(
    driver: Driver | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads(monkeypatch, driver)
    assert cuda_driver.count_of_gpus() == 0
    assert cuda_driver.described() is None


def test_what_the_driver_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    loads(monkeypatch, Driver())
    with pytest.raises(RuntimeError, match="the driver of CUDA fails with status 101"):
        cuda_driver.described(1)
