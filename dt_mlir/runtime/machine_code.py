"""Inspection of a compiled kernel's machine code with NVIDIA's tools."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dt_mlir.cache_folder import private_file
from dt_mlir.runtime import asynchronous_products
from dt_mlir.runtime.asynchronous_products import INSTRUCTION, PRODUCTS, overwritten_factor

_UNIFORM = re.compile(r"\bUR(\d+)\b")


def resource_usage(cubin: bytes) -> tuple[int | None, int | None]:
    """Registers and bytes of local memory of a cubin, as the toolkit's cuobjdump says."""
    from triton import knobs

    try:
        said = _output(knobs.nvidia.cuobjdump.path, "-res-usage", cubin)
    except subprocess.SubprocessError:
        return None, None
    # What is spilled lies in the stack frame.
    return _number(r"REG:(\d+)", said), _number(r"STACK:(\d+)", said)


def fault(cubin: bytes) -> str | None:
    """Returns a defect of a cubin whatever it computes; None if none is known.

    The ptxas of CUDA 12.8 sometimes adds to a uniform register that it meant to set before and
    did not, where the operands of two products share a descriptor. The kernel then reads shared
    memory at random. Where one half of a sum of pairs of 16-bit numbers is used, and one of its
    operands is a constant, it takes 0 for the constant. Until that of CUDA 13.3 it loads the next
    left factor of an asynchronous product into registers that the last one still reads.

    That a cubin has none is noted in the folder of cached kernels, since looking takes half a
    second, and other processes load the same one.
    """
    from triton import knobs

    try:
        tool = knobs.nvidia.nvdisasm.path
    except RuntimeError:
        # There is no nvdisasm here, and nothing is known.
        return None
    # Another way to look, or another tool, may find what this one did not.
    ways = [Path(__file__), Path(asynchronous_products.__file__)]
    looked = b"".join(way.read_bytes() for way in ways) + tool.encode()
    note = private_file(f"sound/{hashlib.sha256(looked + cubin).hexdigest()[:32]}")
    if note is not None and note.exists():
        return None
    try:
        assembly = _output(tool, "-c", cubin)
    except (OSError, subprocess.SubprocessError):
        return None
    unwritten = unwritten_registers(assembly)
    if unwritten:
        found = f"reads UR{unwritten[0]}, which nothing writes"
    elif loses_constants(assembly):
        found = "adds 0 in place of a constant (VIADD.16x2)"
    elif (register := overwritten_factor(assembly)) is not None:
        found = f"writes R{register}, which a product under way still reads"
    else:
        if assembly and note is not None:
            with suppress(OSError):
                note.touch(mode=0o600)
        return None
    return (
        f"a fault of ptxas: the machine code {found}; choose another schedule, or another ptxas "
        "with TRITON_PTXAS_PATH"
    )


def loses_constants(assembly: str) -> bool:
    """Returns whether the constant of a sum of pairs of 16-bit numbers was lost.

    Args:
        assembly: what nvdisasm prints of a kernel. A zero that was meant is the register RZ.
    """
    return any(
        found["name"] == "VIADD.16x2" and found["operands"].split(",")[-1].strip() == "0x0"
        for found in INSTRUCTION.finditer(assembly)
    )


def unwritten_registers(assembly: str) -> list[int]:
    """The numbers of uniform registers that instructions read and none writes.

    Args:
        assembly: what nvdisasm prints of a kernel.
    """
    read: dict[int, None] = {}
    written: set[int] = set()
    for found in INSTRUCTION.finditer(assembly):
        name, operands = found["name"], found["operands"].strip()
        first, _, rest = operands.partition(",")
        if _UNIFORM.fullmatch(first.strip()):
            start = int(first.strip().removeprefix("UR"))
            written.update(range(start, start + _width(name)))
            operands = rest
        read.update(dict.fromkeys(_reads(name, operands)))
    return [number for number in read if number not in written]


def _width(name: str) -> int:
    """Returns the number of registers that an instruction writes."""
    parts = name.split(".")
    if "256" in parts:
        return 8
    if "128" in parts:
        return 4
    return 2 if "64" in parts or "WIDE" in parts else 1


def _reads(name: str, operands: str) -> Iterator[int]:
    for found in _UNIFORM.finditer(operands):
        number = int(found[1])
        before = operands[: found.start()]
        # A product names four registers with its operands' descriptors, and uses the last two if
        # the left operand is in registers itself.
        lone = name.startswith(PRODUCTS) and before.endswith("gdesc[") and before.count(",") > 1
        yield number + 2 if lone else number


def _output(tool: str, option: str, cubin: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [tool, option, file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _number(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match.group(1)) if match else None
