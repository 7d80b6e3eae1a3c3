"""Draws where program instances write, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from dt_mlir.drawing.placement import Placement, Step

WIDTH = 640
"""The width of a picture in pixels; its height follows from the sizes, within limits."""
_MARGIN, _TITLE, _GAP = 46, 24, 18
_COLORS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""From the first program instance to the last; dark to light also in shades of grey."""
_MOST_NUMBERS = 256
"""The largest number of program instances that are drawn with their numbers."""


def _color(part: float) -> tuple[int, int, int]:
    place = min(max(part, 0.0), 1.0) * (len(_COLORS) - 1)
    low = min(int(place), len(_COLORS) - 2)
    share = place - low
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(_COLORS[low], _COLORS[low + 1])
    )
    return red, green, blue


def _plane(step: Step) -> tuple[tuple[int, int], tuple[int, int]]:
    """The range of rows and that of columns."""
    ranges = ((0, 1), (0, 1), *step.ranges)
    return ranges[-2], ranges[-1]


def _bounds(steps: Sequence[Step]) -> tuple[tuple[int, int], tuple[int, int]]:
    planes = [_plane(step) for step in steps]
    rows, columns = ([plane[axis] for plane in planes] for axis in (0, 1))
    return (
        (min(r[0] for r in rows), max(r[1] for r in rows)),
        (min(c[0] for c in columns), max(c[1] for c in columns)),
    )


def _draw(root: ElementTree.Element, placement: Placement, top: float) -> float:
    """Draws one kernel's output; returns the height that it takes."""
    sizes = (1, 1, *placement.sizes)
    height, width = max(1, sizes[-2]), max(1, sizes[-1])
    wide = WIDTH - 2 * _MARGIN
    tall = min(max(wide * height / width, 40), 900)
    left, up = _MARGIN, top + _TITLE + _GAP
    # Of further axes the first index is drawn.
    steps = [s for s in placement.steps if all(r[0] == 0 for r in s.ranges[:-2])]
    count = max((step.instance for step in placement.steps), default=0) + 1

    def text(x: float, y: float, shown: str, **attributes: str) -> None:
        element = ElementTree.SubElement(
            root, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "font-family": "sans-serif",
                           "font-size": "12", **attributes},
        )  # fmt: skip
        element.text = shown

    def rectangle(
        plane: tuple[tuple[int, int], tuple[int, int]], **attributes: str
    ) -> tuple[float, float, float, float]:
        rows, columns = plane
        x, y = left + columns[0] / width * wide, up + rows[0] / height * tall
        w, h = (columns[1] - columns[0]) / width * wide, (rows[1] - rows[0]) / height * tall
        element = ElementTree.SubElement(root, "rect", {
            "x": f"{x:.2f}", "y": f"{y:.2f}", "width": f"{w:.2f}", "height": f"{h:.2f}",
            **attributes,
        })  # fmt: skip
        element.tail = "\n"
        return x, y, w, h

    shown = ", ".join(f"{label} = {n}" for label, n in zip(placement.labels, placement.sizes))
    programs = "1 program instance" if count == 1 else f"{count} program instances"
    first = "".join(f", {label} = 0" for label in placement.labels[:-2])
    where = f" ({first[2:]})" if first else ""
    text(left, top + 16, f"{placement.kernel}[{shown}]: {programs}{where}")
    if placement.labels:
        text(left, up - 5, f"{placement.labels[-1]} →", fill="#555")
    if len(placement.labels) > 1:
        text(6, up + 12, f"{placement.labels[-2]} ↓", fill="#555")
    by_instance: dict[int, list[Step]] = {}
    for step in steps:
        by_instance.setdefault(step.instance, []).append(step)
    for instance, own in by_instance.items():
        color = _color(instance / max(1, count - 1))
        fill = "#{:02x}{:02x}{:02x}".format(*color)
        outline = {"stroke": "#fff", "stroke-width": "0.6", "stroke-opacity": "0.7"}
        for step in own:
            rectangle(_plane(step), fill=fill, **outline)
        x, y, w, h = rectangle(_bounds(own), fill="none", stroke="#000", **{"stroke-width": "1.2"})
        if count <= _MOST_NUMBERS and w > 14 and h > 10:
            dark = sum(color) < 380
            text(x + w / 2, y + h / 2 + 4, str(instance), fill="#fff" if dark else "#000",
                 **{"text-anchor": "middle"})  # fmt: skip
    return _TITLE + _GAP + tall + _GAP


def svg(placements: Sequence[Placement]) -> str:
    """A picture of kernels' outputs, one below the other.

    Each block is filled with a colour by its program id, dark for the first and light for the last,
    outlined, and divided into the tiles that are stored at once.

    Args:
        placements: where their program instances write.
    """
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"})
    ElementTree.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "#fff"})
    top = 0.0
    for placement in placements:
        top += _draw(root, placement, top)
    root.set("width", str(WIDTH))
    root.set("height", f"{top:.0f}")
    root.set("viewBox", f"0 0 {WIDTH} {top:.0f}")
    return ElementTree.tostring(root, encoding="unicode") + "\n"
