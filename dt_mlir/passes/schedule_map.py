"""`schedule-map`: the order in which program ids walk the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr

from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects.loop import WalkAttr
from dt_mlir.scheduling.directive import Directive, Phase, Site, parameter
from dt_mlir.scheduling.parameters import Names, parse_argument


@dataclass(frozen=True)
class MapPass(Directive):
    """Sets the order in which program ids walk the grid of blocks, slowest first.

    `x:x1/8` splits the blocks of `x` into groups of 8: `x1` counts the blocks in a group and `x`
    the groups, which keeps what neighbouring program instances share in the cache. Triton's
    tutorials call this grouped ordering. `x:descending` begins with the last block, as where blocks
    with more work should start first.

    ```
    loop.grid (…) order [y, x]   ->   loop.grid (…) order [x outer 8, y, x inner 8] mapped
    ```
    """

    name = "schedule-map"
    phase: ClassVar[Phase] = Phase.MAPPING
    decides_bits: ClassVar[bool] = False

    order: tuple[str, ...] = parameter(
        Names(splits=True), "The blocked labels and the inner parts of splits, slowest first."
    )

    def rewrite(self, site: Site) -> None:
        grid = site.kernel.grid
        if not grid.label_names:
            raise site.error("the grid has no blocks to walk", "block the output first")
        order = self._order(site, grid.label_names)
        if grid.mapped is not None and order != grid.walk_order:
            raise site.error(
                "the grid is already mapped in another order", "leave one of them out", "map"
            )
        grid.set_order(order)
        grid.mapped = UnitAttr()

    def _order(self, site: Site, labels: tuple[str, ...]) -> list[WalkAttr]:
        items = [parse_argument(item) for item in self.order]
        splits = {a.key: (str(a.value), a.factor) for a in items if a.key and a.factor}
        bare = [str(a.value) for a in items if a.key is None]
        known = set(labels) | {inner for label, (inner, _) in splits.items() if inner != label}
        unknown = [name for name in bare if name not in known]
        inner: dict[str, str] = {}
        for label, (name, _) in splits.items():
            if label not in labels:
                raise site.error(
                    f"'{label}' is not a blocked label", did_you_mean(label, labels)
                )
            if name == label:
                # The outer half keeps the label's own name: the inner one is what is left.
                if len(unknown) != 1:
                    raise site.error(
                        f"it is not clear which name is the inner part of '{label}'",
                        f"name it, as in '{label}:{label}1/{splits[label][1]}'",
                    )
                name = unknown[0]
            elif name in labels:
                raise site.error(
                    f"'{name}' is a label and cannot name the inner part of '{label}'"
                )
            if name in inner:
                raise site.error(f"'{name}' names the inner parts of two splits")
            inner[name] = label
        order: list[WalkAttr] = []
        for item in items:
            if item.key is not None and item.factor is None:
                if item.key not in labels:
                    raise site.error(
                        f"'{item.key}' is not a blocked label", did_you_mean(item.key, labels)
                    )
                order.append(WalkAttr(item.key, "descending"))
                continue
            if item.key is not None:
                order.append(WalkAttr(item.key, "outer", _factor(item.factor)))
                continue
            name = str(item.value)
            if name in inner:
                order.append(WalkAttr(inner[name], "inner", _factor(splits[inner[name]][1])))
            elif name in labels:
                order.append(WalkAttr(name))
            else:
                raise site.error(
                    f"'{name}' is not a blocked label", did_you_mean(name, [*labels, *inner])
                )
        self._check(site, order, labels, inner)
        return order

    def _check(
        self, site: Site, order: list[WalkAttr], labels: tuple[str, ...], inner: dict[str, str]
    ) -> None:
        names = {label: name for name, label in inner.items()}
        for label in labels:
            parts = sorted(walk.part for walk in order if walk.label == label)
            if not parts:
                raise site.error(
                    f"the blocks of '{label}' are left out", "name every blocked label once"
                )
            if parts not in (["whole"], ["descending"], ["inner", "outer"]):
                if parts == ["outer"]:
                    raise site.error(
                        f"the inner part '{names[label]}' of '{label}' is left out",
                        f"name '{names[label]}' too",
                    )
                raise site.error(f"label '{label}' is named twice")


def _factor(factor: object) -> int:
    """The factor of a split whose arguments have been checked."""
    assert isinstance(factor, int)
    return factor
