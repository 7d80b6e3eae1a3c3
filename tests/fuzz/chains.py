"""Chains of reductions that depend on each other, for the fuzzer's programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def draw_chain(drawer: Any, function: Callable[..., Any]) -> list[str]:
    """Draws the definitions of reductions over one label that depend on each other, or of a scan.

    Args:
        drawer: what draws the program, which gets the functions and the label.
        function: makes one of its functions, of a name, labels and a kind.
    """
    if drawer.chance(35):
        return _draw_scan(drawer, function)
    *own, over = drawer.some_labels(2, 3)
    elements, found = (*own, over), list[str]()

    def define(labels: Sequence[str], expression: str, reads: Sequence[str], reduced: bool) -> str:
        name = f"f{len(drawer.functions)}"
        found.append(f"{name}[{', '.join(labels)}] = {expression};")
        drawer.current.name, drawer.current.labels = name, tuple(labels)
        drawer.current.reads += reads
        drawer.current.reduced += [over] if reduced else []
        drawer.functions.append(drawer.current)
        drawer.current = function("", (), "float")
        return name

    drawer.current = function("", (), "float")
    first = define(elements, drawer.expression("float", drawer.pick((0, 1, 2)), elements), (), False)
    x = f"{first}[{', '.join(elements)}]"
    conditions = drawer.conditions([over], elements)
    reduction = drawer.pick(("rmax", "rmax", "rmax", "rmin", "rmean", "rsum"))
    second = define(own, f"{reduction}({x}, {over}{conditions})", [first], True)
    r = f"{second}[{', '.join(own)}]"
    other = drawer.expression("float", drawer.pick((0, 1)), elements)
    read = [*drawer.current.reads, first, second]
    if drawer.chance(15):
        conditions = drawer.conditions([over], elements)
    q = r
    if drawer.chance(30):
        reduction = drawer.pick(("rmean", "rmean", "rsum", "rmax"))
        another = define(own, f"{reduction}({other}, {over}{conditions})", [], True)
        q, read = f"{another}[{', '.join(own)}]", [*read, another]
    element = drawer.pick((
        f"exp({x} - {r})", f"exp({x} - {r})", f"exp({x} - {r}) * {other}", f"({x} - {r}) ** 2",
        f"({x} - {r}) * {other}", f"exp2(({x} - {r}) * 0.5)", f"{x} * rsqrt(abs({r}) + 1)",
        f"where({x} == {r}, {other}, 0.0)", f"where({x} < {r}, {x}, 0.0)", f"{x} / (1 + abs({r}))",
        f"abs({x} - {r})", f"-{other} / exp({x} - {r})", f"exp({x} - {r}) * ({x} - {r})",
        f"exp({x} - {r}) * ({x} - {q}) ** 2", f"({x} - {r}) * ({other} - {q})",
        f"{x} * rsqrt(abs({q}) + 1) - {other} * {r}", f"({x} - {q}) * ({x} - {r})",
    ))  # fmt: skip
    third = define(own, f"rsum({element}, {over}{conditions})", read, True)
    t = f"{third}[{', '.join(own)}]"
    if drawer.chance(50):
        define(own, drawer.pick((f"log(abs({t}) + 1) + {r}", f"{t} * 2", t)), [third, second], False)
    else:
        define(elements, f"exp({x} - {r}) / (abs({t}) + 1)", [first, second, third], False)
    drawer.online = over
    return found


def _draw_scan(drawer: Any, function: Callable[..., Any]) -> list[str]:
    """Draws the definition of reductions up to each index of a label, or of a recurrence."""
    walked, over, *own = drawer.some_labels(2, 4)
    factors = own.pop() if own and drawer.chance(50) else None
    drawer.current = function(f"f{len(drawer.functions)}", (*own, walked), "float")
    kind, elements = drawer.pick(("float", "float", "int")), (*own, over)
    element = drawer.expression(kind, drawer.pick((0, 1, 2)), elements)
    # From the end of labels that may differ in size, recurrences are refused.
    up = drawer.chance(60 if factors is None else 92)
    less, most, more = ("<", "<=", ">") if up else (">", ">=", "<")
    end = f"{over} {drawer.pick((less, most, most))} {walked}"
    if factors is None:
        name = drawer.pick(("rsum", "rsum", "rmax", "rmin", "rprod", "rmean", "rany"))
        element = f"{element} > 0" if name == "rany" else element
        expression = f"{name}({element}, {over}, {end}{drawer.conditions([over], elements)})"
        expression = f"where({expression}, 1, 0)" if name == "rany" else expression
    else:
        factor = drawer.expression(kind, drawer.pick((0, 1)), (*own, factors))
        begin = f"{factors} {drawer.pick((more, more, more + '='))} {over}"
        last = f"{factors} {drawer.pick((most, most, less))} {walked}"
        product = f"rprod({factor}, {factors}, {begin}, {last})"
        expression = f"rsum({element} * {product}, {over}, {end})"
    drawer.current.kind = kind
    drawer.functions.append(drawer.current)
    drawer.online, drawer.scanned = over, walked
    drawer.chunked = factors is None and drawer.chance(40)
    return [f"{drawer.current.name}[{', '.join(drawer.current.labels)}] = {expression};"]


def schedule_chain(drawer: Any, function: Callable[..., Any]) -> list[str]:
    """Draws the directives of a chain: all of it is computed with its last function.

    Args:
        drawer: what draws the program.
        function: makes one of its functions.
    """
    last, over = drawer.functions[-1], drawer.online
    if drawer.scanned is not None:
        blocks = tuple(label for label in last.labels if label != drawer.scanned)
        lines = [f"{last.name}.scan({drawer.scanned});"]
        if not drawer.chunked:
            return lines + drawer.root(last, blocks, sorted(last.labels), {})
        lines += _draw_chunks(drawer, function, last.name, drawer.scanned, blocks)
        return lines + drawer.root(last, blocks, sorted((*blocks, f"{drawer.scanned}_part")), {})
    lines = [f"{last.name}.online({over});"]
    inside = {label for f in drawer.functions for label in (*f.labels, *f.reduced)}
    if drawer.chance(35):
        others = tuple(label for label in last.labels if label != over)
        lines += draw_parts(drawer, function, last.name, over, others, sorted(inside))
        inside -= {over} - set(last.labels)
        inside.add(f"{over}_part")
    return lines + drawer.root(last, last.labels, sorted(inside), {})


def _draw_chunks(
    drawer: Any, function: Callable[..., Any], name: str, walked: str, labels: tuple[str, ...]
) -> list[str]:
    """Draws the directives that compute a scan in chunks, and the tile of the label in one."""
    length = drawer.pick((2, 4, 8, 16))
    count = drawer.pick((1, 2, 3, 5)) if drawer.chance(40) else None
    own = (f"{walked}_part", *labels)
    found = function(f"{name}_parts", own, "float")
    split = f"{walked}_in/{length}" if count is None else f"{count}"
    lines = [f"{name}.rfactor({walked}:{split}, {found.name});"]
    # A chunk holds whole tiles, and its number is that of no tile.
    lines += drawer.root(found, own, list(labels), {})
    for root in (name, found.name):
        if drawer.chance(75):
            # A number of chunks has no known length, so that only what reduces one holds it whole.
            whole = count is None or root == found.name
            tiles = (0, 1, 2, 4, 8, 16) if whole else (1, 2, 4, 8, 16)
            tile = drawer.pick([n for n in tiles if count is not None or n <= length])
            lines.append(f"{root}.tensorize({walked}:{tile});")
    return lines


def draw_parts(
    drawer: Any,
    function: Callable[..., Any],
    name: str,
    over: str,
    labels: tuple[str, ...],
    inside: list[str],
) -> list[str]:
    """Draws the directives that split a function's reductions over a label into parts.

    Args:
        drawer: what draws the program.
        function: makes one of its functions.
        name: the function that is split.
        over: the label.
        labels: the labels of the parts.
        inside: all labels that the parts have loops over.
    """
    count = f"{drawer.pick((1, 2, 3, 4, 7))}"
    split = drawer.pick((count, f"{over}_in/{drawer.pick((2, 4, 8, 16))}"))
    own = (f"{over}_part", *labels)
    found = function(f"{name}_parts", own, "float")
    # What is no sum is refused.
    order = ", atomic" if drawer.chance(10) else ""
    lines = [f"{name}.rfactor({over}:{split}, {found.name}{order});"]
    return lines + drawer.root(found, own, [own[0], *inside], {})
