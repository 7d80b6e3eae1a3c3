"""Chooses the device before Triton is imported."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    try:
        from dt_mlir.runtime.execute import prepare_triton

        prepare_triton()
    except ImportError:
        pass
