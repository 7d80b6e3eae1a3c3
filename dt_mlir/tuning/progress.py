"""Shows how far a search is."""

from __future__ import annotations

from typing import Any


class Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self.bar: Any = tqdm(total=0, unit="step", dynamic_ncols=True, disable=None)

    def expect(self, steps: int) -> None:
        """So many more steps are to come."""
        self.bar.total += steps
        self.bar.refresh()

    def step(self, best: float | None) -> None:
        """A step is done."""
        if best is not None:
            self.bar.set_postfix_str(f"best {best:.4f} ms", refresh=False)
        self.bar.update(1)


class Silent:
    """Shows nothing."""

    def expect(self, steps: int) -> None:
        """So many more steps are to come."""

    def step(self, best: float | None) -> None:
        """A step is done."""
