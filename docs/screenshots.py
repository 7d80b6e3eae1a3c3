"""Takes the screenshots of docs/explorer.md anew, in headless Chromium.

python docs/screenshots.py         write docs/explorer-levels.png and docs/explorer-timeline.png
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT / "tests" / "explorer"))

from browser import Opened, browser, missing  # noqa: E402

from dt_mlir.explorer.exploration import Exploration  # noqa: E402
from dt_mlir.explorer.program import Settings, explore_program  # noqa: E402
from dt_mlir.frontend.emit import compile_text  # noqa: E402

SIZES = {"m": 64, "n": 64, "k": 64, "l": 64}


def page_of(path: Path, folder: Path, settings: Settings) -> Path:
    """Writes the page of a program; returns where it is."""
    text = path.read_text()
    module, _ = compile_text(text, path.name)
    target = folder / f"{path.stem}.html"
    Exploration(path.name, [explore_program(module, text, path.name, settings)]).save(target)
    return target


def levels(chromium: Any, folder: Path) -> None:
    """Attention: what the directive of line 11 became, at the step that elides masks."""
    path = page_of(ROOT / "examples" / "attention.dt", folder, Settings(sizes=SIZES))
    opened = Opened(chromium, path, color_scheme="light")
    opened.page.get_by_label("Count").select_option("arith.select")
    opened.pane("Program").nth(10).click()
    opened.page.screenshot(path=DOCS / "explorer-levels.png")


def timeline(chromium: Any, folder: Path) -> None:
    """A specialized product: the ring of stages and the phases of barriers."""
    program = ROOT / "tests" / "explorer" / "specialized_product.dt"
    path = page_of(program, folder, Settings(compiled=False))
    opened = Opened(chromium, path, color_scheme="light")
    opened.page.get_by_role("tab", name="Picture").click()
    opened.page.get_by_label("Program id", exact=True).fill("1")
    opened.page.get_by_label("Access", exact=True).fill("8")
    opened.page.get_by_label("Time", exact=True).fill("30")
    opened.page.screenshot(path=DOCS / "explorer-timeline.png", full_page=True)


if __name__ == "__main__":
    if reason := missing():
        sys.exit(reason)
    with browser() as found, tempfile.TemporaryDirectory() as name:
        levels(found, Path(name))
        timeline(found, Path(name))
