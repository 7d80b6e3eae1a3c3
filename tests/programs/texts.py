"""The programs of this folder, which tests read by name, and their variants."""

from pathlib import Path

FOLDER = Path(__file__).parent


def text_of(name: str, *pairs: tuple[str, str]) -> str:
    """Returns the text of a program.

    Args:
        name: the name of the program's file, without its ending.
        pairs: parts of the text, which must occur, and what stands in their places.
    """
    return replaced((FOLDER / f"{name}.dt").read_text(encoding="utf-8"), *pairs)


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Returns a text in which parts are replaced, wherever they occur.

    Args:
        text: the text.
        pairs: each part, which must occur, and what stands in its place.
    """
    for old, new in pairs:
        assert old in text, f"'{old}' is not in the text:\n{text}"
        text = text.replace(old, new)
    return text
