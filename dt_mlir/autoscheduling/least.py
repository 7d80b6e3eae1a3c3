"""The least time that a device needs for an algorithm, whatever its schedule.

It is a bound of the model, not a law: the bytes of inputs and outputs at the rate of a copy in
memory, products at the rate of tensor cores, special functions at theirs, and one launch. What a
schedule computes again or stores between kernels is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.device import Device
from dt_mlir.costs.work import Loops, Work
from dt_mlir.dialects import sched


@dataclass(frozen=True)
class Least:
    """The least time of an algorithm, and what it follows from."""

    bounds: dict[str, float]
    """The seconds for which each resource is busy."""
    launch: float
    """The seconds of a launch."""
    bytes: float = 0.0
    """The bytes of inputs and outputs that have to be moved."""
    operations: float = 0.0
    """The multiplications and additions of products."""

    @property
    def seconds(self) -> float:
        """The least time."""
        return max(self.bounds.values()) + self.launch

    @property
    def limit(self) -> str:
        """The name of the resource that is busy longest."""
        return max(self.bounds, key=lambda name: self.bounds[name])


def least_time(module: ModuleOp, sizes: Mapping[str, int], device: Device) -> Least:
    """Returns the least time of an algorithm.

    Args:
        module: the program at the `dt` level; of its schedule it matters whether it says how to
            round.
        sizes: a size for each label.
        device: the device.

    Raises:
        CompileError: where the program itself cannot be compiled.
    """
    algorithm = Algorithm(module, sizes)
    interface = Interface.of(module)
    inputs = {item.name for item in interface.inputs}
    # Factors of f32 are rounded where a schedule says so, to the type of the others at most.
    rounds = any(
        op.directive_name == "precision" for op in module.walk()
        if isinstance(op, sched.DirectiveOp)
    )  # fmt: skip
    halves = any(
        isinstance(item.element, Float16Type | BFloat16Type) for item in interface.inputs
    )
    rounded = {"f32": "f16" if halves else "tf32"} if rounds else {}
    moved: dict[str, float] = {}
    products = operations = special = 0.0
    needed = dict.fromkeys(algorithm.outputs, 1.0)
    # A function whose readers reduce over a domain need not be computed outside of it.
    for name in reversed(algorithm.functions):
        for work in algorithm.works([name], []):

            def points(places: Loops, work: Work = work, part: float = needed[name]) -> float:
                walks = [work.loops[place] for place in places]
                return part * prod(float(walk.extent) * walk.share for walk in walks)

            for item in work.accesses:
                if item.tensor in algorithm.functions and not item.stores:
                    share = needed[name] * prod(work.loops[place].share for place in item.around)
                    needed[item.tensor] = max(needed.get(item.tensor, 0.0), share)
                if item.tensor in inputs or item.stores and name in algorithm.outputs:
                    # An index that data give may meet few elements, or one more than once.
                    asked = points(item.depends) * item.bits / 8
                    size = min(asked, work.tensors[item.tensor].bytes)
                    moved[item.tensor] = max(moved.get(item.tensor, 0.0), size)
            for item in work.products:
                places = {*item.left, *item.right, *item.depth}
                rate = device.product_rates[rounded.get(item.kind, item.kind)]
                count = 2.0 * points(tuple(places))
                operations += count
                products += count / rate
            for item in work.scalars:
                special += item.special * points(item.depends)
    bytes = sum(moved.values())
    bounds = {
        "memory": bytes / device.memory_rate,
        "tensor cores": products, "special functions": special / device.special_rate,
    }  # fmt: skip
    return Least(bounds, device.launch, bytes, operations)
