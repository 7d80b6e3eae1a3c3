"""One language server for the tests of a process."""

from collections.abc import Iterator

import pytest
from editor_client import Client


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    found = Client()
    yield found
    assert found.close() == 0
