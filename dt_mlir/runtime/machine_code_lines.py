"""The text of compiled kernels, linked to the lines of the emitted module that it comes from."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_LOC = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)\s")
_FILE = re.compile(r'\s*\.file\s+(?P<number>\d+)\s+"(?P<path>[^"]*)"')
_DEBUG = re.compile(r"\s*\.section\s+\.debug")
_INLINED = re.compile(r"inlined_at\s+(?P<file>\d+)\s+(?P<line>\d+)")
_LINE_INFO = re.compile(r'\s*//## File "(?P<path>[^"]*)", line (?P<line>\d+)')
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?P<text>.*?)\s*$")


@dataclass(frozen=True)
class LinkedText:
    """Lines of text, each with the line of the emitted module that it comes from, or 0."""

    lines: list[str]
    sources: list[int]


def linked_ptx(ptx: str, name: str) -> LinkedText:
    """Returns the instructions of a kernel's PTX, without its debug sections.

    Args:
        ptx: what Triton has compiled, with `.loc` lines.
        name: the name of the emitted module's file, without its folder.
    """
    # Files are declared behind the code.
    files = (_FILE.match(line) for line in ptx.splitlines())
    own = {file["number"] for file in files if file and Path(file["path"]).name == name}
    lines: list[str] = []
    sources: list[int] = []
    current = 0
    for line in ptx.splitlines():
        if _DEBUG.match(line):
            break
        found = _LOC.match(line)
        if found is not None:
            inlined = _INLINED.search(line)
            place = found if found["file"] in own or inlined is None else inlined
            current = int(place["line"]) if place["file"] in own or not own else 0
            continue
        if _FILE.match(line) is None:
            lines.append(line)
            sources.append(current if line.startswith("\t") or line.startswith(" ") else 0)
    return LinkedText(lines, sources)


def linked_machine_code(cubin: bytes, name: str) -> LinkedText | None:
    """Returns the instructions of a cubin; None where the toolkit's nvdisasm is not there.

    Args:
        cubin: the cubin.
        name: the name of the emitted module's file, without its folder.
    """
    from triton import knobs

    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            command = [knobs.nvidia.nvdisasm.path, "-c", "-g", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None
    lines: list[str] = []
    sources: list[int] = []
    current = 0
    for line in done.stdout.splitlines():
        place = _LINE_INFO.match(line)
        if place is not None:
            current = int(place["line"]) if Path(place["path"]).name == name else 0
            continue
        instruction = _INSTRUCTION.match(line)
        if instruction is not None:
            lines.append("    " + instruction["text"])
            sources.append(current)
        elif line.startswith(".L"):
            lines.append(line)
            sources.append(0)
    return LinkedText(lines, sources)
