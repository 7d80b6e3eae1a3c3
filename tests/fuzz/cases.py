"""Cases of the fuzzer: programs, and what they are run on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Case:
    """A program, and what it is run on."""

    text: str
    sizes: dict[str, int]
    layout: str = "contiguous"
    seed: int = 0
    special: bool = False
    """True if some elements are infinite or not a number."""
    fixed: bool = False
    """True if it is compiled for its sizes."""
    automatic: bool = False
    """True if it is to run under the schedule that `auto` chooses, in place of its own."""

    def __repr__(self) -> str:
        return self.to_file()

    def to_file(self, note: str = "") -> str:
        """The case as a program with its circumstances in comments."""
        lines = [f"# {line}" for line in note.splitlines()]
        lines += [
            "# sizes: " + " ".join(f"{label}={size}" for label, size in self.sizes.items()),
            f"# layout: {self.layout}",
            f"# seed: {self.seed}",
        ]
        if self.special:
            lines.append("# special: yes")
        if self.fixed:
            lines.append("# fixed: yes")
        if self.automatic:
            lines.append("# automatic: yes")
        return "\n".join([*lines, self.text])

    @staticmethod
    def from_file(text: str) -> Case:
        """Reads what `to_file` wrote."""
        found = {
            key.strip(): value.strip()
            for line in text.splitlines()
            if line.startswith("#")
            for key, _, value in [line[1:].partition(":")]
        }
        sizes = dict(item.split("=") for item in found.get("sizes", "").split())
        return Case(
            text,
            {label: int(size) for label, size in sizes.items()},
            found.get("layout", "contiguous"),
            int(found.get("seed", "0")),
            "special" in found,
            "fixed" in found,
            "automatic" in found,
        )
