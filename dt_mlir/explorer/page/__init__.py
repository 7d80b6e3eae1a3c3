"""Puts a page together: its model, its style and its scripts in one HTML document."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "vendor/highlight-11.11.1.min.js", "languages.js", "text.js", "levels.js", "grid.js",
    "timeline.js", "tables.js", "explorer.js",
)  # fmt: skip
"""The scripts, each after those that it uses."""
STYLE = "explorer.css"


def page_html(title: str, model: dict[str, Any]) -> str:
    """Returns a page that works from disk, without a network.

    The model is data: no text of it is ever a part of the document's structure. The browser runs
    the scripts of this package and no others, as the policy names them by their hashes.

    Args:
        title: the page's title.
        model: what the scripts show, as JSON has it.
    """
    scripts = [_read(name) for name in SCRIPTS]
    style = _read(STYLE)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)}"
    )
    parts = [
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>", f"<style>{style}</style>", "</head>", "<body>",
        "<noscript>This page needs JavaScript.</noscript>", '<div id="page"></div>',
        f'<script type="application/json" id="model">{_json(model)}</script>',
        *(f"<script>{script}</script>" for script in scripts), "</body>", "</html>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _json(model: dict[str, Any]) -> str:
    """Returns JSON that cannot end the element that it stands in."""
    text = json.dumps(model, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A lone surrogate has no bytes.
    return text.encode("utf-8", "backslashreplace").decode()


def _read(name: str) -> str:
    text = (files(__name__) / name).read_text(encoding="utf-8")
    assert "</script" not in text.lower() or name == STYLE, f"{name} would end its element"
    return text


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
