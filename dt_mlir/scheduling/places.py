"""Gives what a directive makes of a program the directive's place in the source."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from dt_mlir.diagnostics import with_place
from dt_mlir.dialects import host, sched
from dt_mlir.traversal import operations

_SIGNATURE = ("function_type", "arg_attrs", "labels")
"""The properties of kernels that follow from what they compute."""


class _Shape(NamedTuple):
    """The parts of an operation that a directive may change."""

    kernel: Operation | None
    """The operation of the module that it is in."""
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


class Shapes:
    """The operations of a program as they are before a directive is applied to it.

    A directive shaped an operation that it created, that it moved to another kernel, or of which it
    changed a property or an attribute. One place finds out for all directives, so that none, not
    even one of another package, needs to say so; rewriting moves the locations along from there.

    Args:
        module: a module of the `loop` level.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        # The operations are kept, as others might get the numbers of those that are erased.
        self.known = self._shapes()

    def give_place(self, place: LocationAttr | None) -> None:
        """Adds a place to the locations of the operations that have changed since the last call.

        Args:
            place: the directive's place in the source, if it has one.
        """
        before, self.known = self.known, self._shapes()
        if place is None:
            return
        for op, shape in self.known.items():
            if before.get(op) != shape and not isinstance(op, host.FuncOp):
                op.location = with_place(op.location, place)

    def _shapes(self) -> dict[Operation, _Shape]:
        found: dict[Operation, _Shape] = {}
        for kernel in self.module.ops:
            if isinstance(kernel, sched.ScheduleOp):
                continue
            for op in operations(kernel):
                properties = op.properties.copy()
                if op is kernel:
                    for name in _SIGNATURE:
                        properties.pop(name, None)
                home = None if op is kernel else kernel
                found[op] = _Shape(home, properties, op.attributes.copy())
        return found
