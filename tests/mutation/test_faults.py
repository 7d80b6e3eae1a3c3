"""The table of seeded faults fits the compiler as it is."""

from pathlib import Path

import pytest
from faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_text_of_a_fault_occurs_once(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.file} holds it {text.count(fault.old)} times"
    assert fault.new != fault.old
