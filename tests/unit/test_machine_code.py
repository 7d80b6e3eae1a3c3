"""Inspection of machine code, and the handling of faults in it."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from gpus import H200
from texts import text_of

import dt_mlir as dt
from dt_mlir.runtime import launch
from dt_mlir.runtime.machine_code import fault, unwritten_registers
from dt_mlir.tuning.compilation import inspect


def chain(columns: int) -> str:
    """Returns a product of three matrices in tiles of so many columns."""
    return text_of("chained_products", ("n:32", f"n:{columns}"))


def ptxas_version() -> str:
    # Importing Triton here would import it without its interpreter for the tests behind.
    spec = find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    own = Path(spec.origin).with_name("backends") / "nvidia/bin/ptxas"
    command = [os.environ.get("TRITON_PTXAS_PATH", own), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"release (\d+\.\d+)", said.stdout)
    return found.group(1) if found else ""


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("/*0000*/ UMOV UR4, 0x400 ; /*0010*/ UIADD3 UR5, UR4, 0x1, URZ ;", []),
        ("/*0000*/ UIADD3 UR5, UR4, 0x1, URZ ;", [4]),
        ("/*0000*/ @!UP0 UIADD3 UR4, UR4, UR7, URZ ;", [7]),
        ("/*0000*/ ULDC.64 UR4, c[0x0][0x208] ; /*0010*/ UMOV UR6, UR5 ;", []),
        ("/*0000*/ ULDC.128 UR4, c[0x0][0x208] ; /*0010*/ UMOV UR9, UR7 ;", []),
        ("/*0000*/ UIMAD.WIDE UR4, UR4, 0x2, URZ ; /*0010*/ UMOV UR9, UR5 ;", []),
        ("/*0000*/ S2UR UR8, SR_CgaCtaId ; /*0010*/ STS.128 [R6+UR8+0x800], R4 ;", []),
        ("/*0000*/ LDG.E.128 R28, desc[UR14][R28.64] ;", [14]),
        ("/*0000*/ HGMMA.64x64x16.F32 R24, gdesc[UR4].tnspB, RZ, !UPT ;", [4]),
        ("/*0000*/ HGMMA.64x64x16.F32 R24, R56, gdesc[UR4].tnspB, R24 ;", [6]),
    ],
)
def test_registers_that_nothing_writes(lines: str, wanted: list[int]) -> None:
    assert unwritten_registers(lines.replace("; ", ";\n")) == wanted


def stats(columns: int, folder: Path) -> str:
    """Returns the output of `dtc --emit stats`, in a process in which Triton does not interpret."""
    file = folder / "chain.dt"
    file.write_text(chain(columns))
    command = [sys.executable, "-m", "dt_mlir.tools.dtc", file, "--emit", "stats"]
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    return subprocess.run(
        [*command, "--arch", "sm_90", "--sizes", "m=512,n=512,k=64,l=64"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


@pytest.mark.skipif(ptxas_version() != "12.8", reason="other versions of ptxas have no such fault")
def test_a_fault_of_ptxas_is_reported(tmp_path: Path) -> None:
    said = "cannot run: a fault of ptxas: the machine code reads UR"
    assert said in stats(32, tmp_path)
    assert "cannot run" not in stats(64, tmp_path)


INSPECTED = H200 + """
import sys
from pathlib import Path
from dt_mlir.tuning.compilation import build
from dt_mlir.tuning.workers.local import LocalWorkers

built = build(Path(sys.argv[1]).read_text(), "-", dict(m=512, n=512, k=64, l=64), gpu)
assert built.status == "ok", built.message
with LocalWorkers() as workers:
    found = workers.built(workers.inspect(built.machine_code))
print(found.status, found.message)
"""


@pytest.mark.skipif(ptxas_version() != "12.8", reason="other versions of ptxas have no such fault")
@pytest.mark.parametrize(("columns", "wanted"), [(32, "wrong a fault of ptxas: "), (64, "ok \n")])
def test_candidates_with_a_fault_of_ptxas_cannot_win(
    columns: int, wanted: str, tmp_path: Path
) -> None:
    (tmp_path / "chain.dt").write_text(chain(columns))
    (tmp_path / "inspected.py").write_text(INSPECTED)
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "inspected.py", "chain.dt"], cwd=tmp_path, capture_output=True, text=True,
        env={**environment, "DT_MLIR_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(wanted)


class Compiled:
    """A compiled kernel, as far as it is looked at."""

    hash = "a hash"

    def __init__(self, cubin: bytes) -> None:
        self.asm = {"cubin": cubin}
        self.metadata = type("Metadata", (), {"name": "f_kernel", "shared": 0, "num_warps": 4})


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiled:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path))
    said = "/*0000*/ UIADD3 UR5, UR4, 0x1, URZ ;"
    monkeypatch.setattr("dt_mlir.runtime.machine_code._output", lambda *_: said)
    return Compiled(b"")


def test_faulty_kernels_are_not_launched(faulty: Any) -> None:
    assert fault(b"") is not None
    wanted = (
        "f_kernel cannot run: a fault of ptxas: the machine code reads UR4, which nothing writes; "
        "choose another schedule, or another ptxas with TRITON_PTXAS_PATH"
    )
    for _ in range(2):
        with pytest.raises(RuntimeError, match=re.escape(wanted)):
            launch._check(faulty)


def test_what_has_no_fault_is_inspected_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path))
    inspected: list[bytes] = []

    def disassembled(tool: str, option: str, cubin: bytes) -> str:
        inspected.append(cubin)
        return "/*0000*/ EXIT ;"

    monkeypatch.setattr("dt_mlir.runtime.machine_code._output", disassembled)
    for cubin in (b"one", b"other", b"one"):
        assert fault(cubin) is None
    assert inspected == [b"one", b"other"]
    # What others may write to says nothing.
    (tmp_path / "sound").chmod(0o777)
    assert fault(b"one") is None
    assert inspected == [b"one", b"other", b"one"]


def test_without_nvdisasm_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path))

    def missing(*_: object) -> str:
        raise FileNotFoundError("nvdisasm")

    monkeypatch.setattr("dt_mlir.runtime.machine_code._output", missing)
    assert fault(b"") is None
    assert not [*(tmp_path / "sound").iterdir()]


def test_faulty_candidates_are_wrong(faulty: Any) -> None:
    found = inspect(tuple(faulty.asm.values()))
    assert found.status == "wrong"
    assert found.message.startswith("a fault of ptxas: the machine code reads UR4")
    assert inspect(()).status == "ok"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="it is about a GPU's machine code")
def test_a_faulty_kernel_is_refused_where_it_is_called() -> None:
    sizes = [(512, 64), (64, 64), (64, 512)]
    a, b, c = (torch.randn(*s, device="cuda", dtype=torch.bfloat16) for s in sizes)
    if ptxas_version() == "12.8" and torch.cuda.get_device_capability() == (9, 0):
        with pytest.raises(RuntimeError, match="product_kernel cannot run: a fault of ptxas"):
            dt.parse(chain(32)).compile()(a, b, c)
    result = dt.parse(chain(64)).compile()(a, b, c)
    wanted = (a @ b).float() @ c.float()
    torch.testing.assert_close(result.float(), wanted, atol=0.5, rtol=0.05)
