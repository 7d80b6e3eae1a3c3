"""Chromium for the tests of pages, where it and Playwright are there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def missing() -> str:
    """Says what is missing; an empty text if nothing is."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "pages are not tested: Playwright is not installed (pip install playwright)"
    if CHROMIUM is None:
        return "pages are not tested: there is no chromium (Debian: apt-get install chromium)"
    return ""


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium that reaches no network."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield found
        found.close()


class Opened:
    """A page that is open, with what it complained of.

    Args:
        browser: the browser.
        path: the page's file.
        options: the options of the browser's context, such as `color_scheme`.
    """

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = browser.new_page(viewport={"width": 1500, "height": 950}, **options)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=true]", timeout=20000)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def pane(self, label: str) -> Any:
        """The lines of a pane of text, by the begin of its label."""
        return self.page.locator(f'[role=listbox][aria-label^="{label}"] .line')

    def marked(self, label: str, kind: str = "exact") -> list[str]:
        """The texts of the marked lines of a pane."""
        lines = self.page.locator(f'[role=listbox][aria-label^="{label}"] .line.{kind} code')
        return [text.strip() for text in lines.all_text_contents()]


if __name__ == "__main__":
    print(missing() or f"pages are tested in {CHROMIUM}")
