"""The registry of dialects, passes, targets and directives: by name, loaded when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.utils.target import Target

if TYPE_CHECKING:
    from dt_mlir.scheduling.directive import Directive

_PREFIX = "schedule-"

PASS_NAMES = (
    "dt-set-types",
    "convert-dt-to-loop",
    "verify-dt",
    "verify-schedule",
    "sched-select",
    "apply-schedule",
    "schedule-rename",
    "schedule-online",
    "schedule-cache-read",
    "schedule-rfactor",
    "schedule-scan",
    "schedule-fuse",
    "schedule-inline",
    "schedule-fuse-at",
    "schedule-block",
    "schedule-split",
    "schedule-reorder",
    "schedule-tensorize",
    "schedule-map",
    "schedule-persistent",
    "schedule-align-storage",
    "schedule-reorder-storage",
    "schedule-num-warps",
    "schedule-num-stages",
    "schedule-pipeline",
    "schedule-warp-specialize",
    "schedule-dependent-launch",
    "schedule-descriptor",
    "schedule-precision",
    "schedule-math",
    "schedule-unroll",
    "schedule-unroll-jam",
    "schedule-deterministic",
    "verify-loop",
    "loop-fix-sizes",
    "loop-order-reductions",
    "loop-report-costs",
    "loop-split-products",
    "convert-loop-to-tile",
    "tile-unroll-jam",
    "tile-use-reciprocals",
    "tile-merge-axes",
    "tile-cse",
    "tile-fuse-maps",
    "tile-combine-exponents",
    "tile-convert-terms",
    "tile-hoist-indices",
    "tile-share-loads",
    "tile-propagate-transposes",
    "tile-order-loads",
    "tile-place-masks",
    "tile-elide-masks",
    "tile-fill-padding",
    "tile-hoist-reductions",
    "tile-move-scales",
    "tile-coalesce-loops",
    "tile-place-evictions",
    "tile-use-descriptors",
    "tile-walk-blocks",
    "tile-report-spills",
    "expand-elementwise",
    "verify-tile",
    "convert-tile-to-warp",
    "warp-store-in-parts",
    "warp-hoist-reductions",
    "warp-split-producer",
    "warp-overlap-products",
    "warp-pipeline-products",
    "warp-sink-store-waits",
    "verify-warp",
)
"""The package's passes; each lives in the module of `dt_mlir.passes` that is named after it."""


def _pass(name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        module = importlib.import_module(f"dt_mlir.passes.{name.replace('-', '_')}")
        return next(
            item
            for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, ModulePass) and _named(item) == name
        )

    return load


def _named(cls: type[ModulePass]) -> str | None:
    return getattr(cls, "name", None)


def _dialect(name: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        module = importlib.import_module(f"dt_mlir.dialects.{name}")
        dialect = getattr(module, name.capitalize())
        assert isinstance(dialect, Dialect)
        return dialect

    return load


def _target(name: str) -> Callable[[], type[Target]]:
    def load() -> type[Target]:
        module = importlib.import_module("dt_mlir.backend.targets")
        target: type[Target] = getattr(module, f"{name.capitalize()}Target")
        return target

    return load


def _sched() -> Dialect:
    """Returns the dialect of schedules, with an operation for each directive that is known now."""
    from dt_mlir.dialects.sched import dialect_of

    return dialect_of(directive_names())


DIALECTS: dict[str, Callable[[], Dialect]] = {
    name: _sched if name == "sched" else _dialect(name)
    for name in ("dt", "sched", "elem", "host", "loop", "tile", "warp")
}
"""The package's dialects."""

PASSES: dict[str, Callable[[], type[ModulePass]]] = {name: _pass(name) for name in PASS_NAMES}
"""The package's passes."""

TARGETS: dict[str, Callable[[], type[Target]]] = {
    name: _target(name) for name in ("triton", "gluon")
}
"""The package's targets."""


LOADED: dict[str, type[ModulePass]] = {}
"""The passes of files that were loaded into this process."""


def find_pass(name: str) -> type[ModulePass] | None:
    """Returns a pass of a loaded file, of this package or of another package, in this order."""
    if name in LOADED:
        return LOADED[name]
    if name in PASSES:
        return PASSES[name]()
    plugins = plugin_passes()
    return plugins[name]() if name in plugins else None


def placed_passes() -> dict[type[ModulePass], str]:
    """Returns the passes of loaded files and other packages with the pass that each runs after."""
    found = {name: load() for name, load in plugin_passes().items()} | LOADED
    places = {cls: getattr(cls, "after", None) for cls in found.values()}
    return {cls: after for cls, after in places.items() if after is not None}


def plugins_in_use() -> list[type]:
    """Returns the classes of passes and directives that are not this package's."""
    from dt_mlir.scheduling.directive import Directive

    known: list[type] = [*LOADED.values(), *Directive.registry.values()]
    return [cls for cls in known if not cls.__module__.startswith("dt_mlir.")]


@cache
def plugin_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """The passes of other packages' `xdsl.universe` entry points, xDSL's own left out."""
    found: dict[str, Callable[[], type[ModulePass]]] = {}
    for plugin in entry_points(group="xdsl.universe"):
        if not plugin.value.startswith(("xdsl.", "dt_mlir.")):
            found.update(plugin.load().all_passes)
    return found


def find_directive(name: str) -> type[Directive] | None:
    """The class of a directive: of this package, of a plug-in, or loaded from a file."""
    from dt_mlir.scheduling.directive import Directive

    pass_name = _PREFIX + name.replace("_", "-")
    loaded = LOADED.get(pass_name)
    if loaded is not None and issubclass(loaded, Directive):
        return loaded
    if pass_name in PASSES:
        PASSES[pass_name]()
    elif name not in Directive.registry:
        plugins = plugin_passes()
        if pass_name in plugins:
            plugins[pass_name]()
    return Directive.registry.get(name)


def directive_names() -> list[str]:
    """The names of all directives that can be found."""
    from dt_mlir.scheduling.directive import Directive

    passes = [*PASSES, *plugin_passes()]
    names = [n.removeprefix(_PREFIX).replace("-", "_") for n in passes if n.startswith(_PREFIX)]
    return list(dict.fromkeys([*names, *Directive.registry]))
