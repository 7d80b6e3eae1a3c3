"""The costs of a kernel on a device, at any tiles."""

from __future__ import annotations

from collections.abc import Hashable

from dt_mlir.costs.combining import Combining
from dt_mlir.costs.device import Device
from dt_mlir.costs.execution import GROUP, Execution
from dt_mlir.costs.instance import Instance, Outline
from dt_mlir.costs.tiling import Cost, Tiling
from dt_mlir.costs.traffic import Traffic
from dt_mlir.costs.work import Work


class Model:
    """The costs of a kernel on a device, at any tiles.

    Tilings have most figures in common: what an instance does follows from the tiles, what threads
    take from the number of warps, too. Each is computed once.

    Args:
        work: what the kernel does.
        device: the device.
    """

    def __init__(self, work: Work, device: Device) -> None:
        self.work, self.device = work, device
        self.combining = Combining(work)
        self.outline = Outline(work)
        self._traffic: dict[Hashable, Traffic] = {}
        """The traffic of instances, by their tiles and the labels that the grid partitions."""
        self._executions: dict[Hashable, Execution] = {}
        """Instances as warps carry them out, by the same, the warps and the consumers."""

    def cost(self, tiling: Tiling) -> Cost:
        """Predicts what the kernel costs with some tiles."""
        return self.execution(tiling).cost(tiling)

    def _traffic_of(self, tiling: Tiling, key: Hashable) -> Traffic:
        """Returns the traffic of an instance with some tiles, of which there is a key."""
        found = self._traffic.get(key)
        if found is None:
            instance = Instance(self.outline, tiling.tiles, tiling.blocked)
            found = self._traffic[key] = Traffic(self.work, self.device, instance)
        return found

    def execution(self, tiling: Tiling) -> Execution:
        """Returns a program instance as a tiling's warps carry it out."""
        # A device that does not specialize runs Triton's kernel of the same tiles.
        consumers = tiling.consumers if self.device.specializes else 0
        warps = GROUP * consumers or tiling.warps
        # Instances keep their tiles, so that none other has the same identity.
        tiles = id(tiling.tiles), tiling.blocked
        key = tiles, warps, consumers
        found = self._executions.get(key)
        if found is None:
            traffic = self._traffic_of(tiling, tiles)
            found = self._executions[key] = Execution(
                self.work, self.device, self.combining, traffic.instance, traffic, warps, consumers
            )
        return found


def cost_of(work: Work, tiling: Tiling, device: Device) -> Cost:
    """Predicts what a kernel costs.

    Args:
        work: what the kernel does.
        tiling: the tiles that it takes.
        device: the device.
    """
    return Model(work, device).cost(tiling)
