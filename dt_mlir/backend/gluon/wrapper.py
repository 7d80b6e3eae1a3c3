"""Prints the host part of a module with kernels of the `warp` level."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.ir import SSAValue

from dt_mlir.backend.gluon.kernel import GluonSignature
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.signature import Signature
from dt_mlir.backend.triton.wrapper import WrapperPrinter
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.traversal import operations_of


class GluonWrapperPrinter(WrapperPrinter):
    """Prints the wrapper of a module with kernels of Gluon.

    Args:
        function: the host function.
        kernels: the kernels.
        signatures: the names that kernels of all backends have, by symbol.
        name: the wrapper's name.
        gluon: the signatures of the kernels of Gluon, by symbol.
    """

    def __init__(
        self,
        function: host.FuncOp,
        kernels: Sequence[GridKernelOp],
        signatures: dict[str, Signature],
        name: str,
        gluon: dict[str, GluonSignature],
    ) -> None:
        super().__init__(function, kernels, signatures, name)
        self.gluon = gluon

    def _launch(self, op: host.LaunchOp) -> None:
        name = op.specialized_name
        if name is None:
            for one, other in op.equal_labels:
                self.writer.expression(self._call(
                    "_check_equal", code.constant(one), self._size(one),
                    code.constant(other), self._size(other),
                ))  # fmt: skip
            for label, size in op.known_sizes.items():
                self.writer.expression(self._call(
                    "_check_special", code.constant(label), self._size(label), code.constant(size),
                ))  # fmt: skip
            super()._launch(op)
            return
        kernel, _ = self.kernels[name]
        given = dict[SSAValue, SSAValue](zip(kernel.args, op.arguments))
        tensors = [
            code.tuple_of([code.name(self.tensors[given[arg]].variable) for arg in args])
            for args in (_described(self.gluon[name]), self.gluon[name].accessed)
        ]
        self.used.add("_is_specialized")
        sizes = [code.compare("==", *map(self._size, pair)) for pair in op.equal_labels]
        sizes += [
            code.compare("==", self._size(label), code.constant(size))
            for label, size in op.known_sizes.items()
        ]
        test = code.conjunction([code.call("_is_specialized", *tensors), *sizes])
        with self.writer.branch(test):
            self._launch_kernel(op, name)
        with self.writer.otherwise():
            self._launch_kernel(op, op.kernel_name)

    def _arguments(
        self, op: host.LaunchOp, kernel: GridKernelOp, signature: Signature
    ) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        gluon = self.gluon.get(kernel.sym_name.data)
        if gluon is None:
            return super()._arguments(op, kernel, signature)
        given = dict[SSAValue, SSAValue](zip(kernel.args, op.arguments))
        args: list[ast.expr] = []
        for value in gluon.descriptors:
            type = value.type
            assert isinstance(type, warp.DescriptorType)
            tensor, described = self.tensors[given[_base(value)]], value.owner
            assert isinstance(described, warp.TmaDescriptorOp)
            axes = described.permutation
            box = [type.extents[axes.index(axis)] for axis in range(len(axes))]
            described_box = self._call(
                "_tensor_map", code.constant(tensor.name), code.name(tensor.variable),
                code.numbers(box), code.constant(type.swizzle.data),
                *self._ends(described.end_labels),
            )  # fmt: skip
            if described.axes is not None:
                self.used.add("_permuted")
                order = code.tuple_of(map(code.constant, axes))
                described_box = code.call("_permuted", described_box, order)
            args.append(described_box)
        for arg in gluon.accessed:
            tensor = self.tensors[given[arg]]
            args.append(
                self._call("_narrow", code.constant(tensor.name), code.name(tensor.variable))
            )
        args += [code.name(self.scalars[given[arg]]) for arg in gluon.scalars]
        args += [self._size(label) for label in signature.sizes]
        for arg in gluon.accessed:
            stride = code.path(f"{self.tensors[given[arg]].variable}.stride")
            for axis in range(len(signature.strides[arg])):
                args.append(ast.Call(stride, [code.constant(axis)], []))
        args += [self._is_moderate(given[scalar]) for scalar in signature.moderate]
        warps = kernel.int_hint("num_warps")
        keywords: dict[str, ast.expr] = {}
        if warps is not None:
            keywords["num_warps"] = code.constant(warps)
        if kernel.dependent_launch is not None:
            # There are warpgroups, hence dependent launches.
            keywords["launch_pdl"] = code.constant(True)
        return args, keywords

    def _written(self, op: host.LaunchOp, kernel: GridKernelOp) -> list[SSAValue]:
        given = dict[SSAValue, SSAValue](zip(kernel.args, op.arguments))
        found = [
            given[_base(store.descriptor)] for store in operations_of(kernel, warp.TmaStoreOp)
        ]
        stored = {store.base for store in operations_of(kernel, tile.StoreOp)}
        return found + [value for arg, value in given.items() if arg in stored]


def _base(descriptor: SSAValue) -> SSAValue:
    """The tensor of a descriptor."""
    owner = descriptor.owner
    assert isinstance(owner, warp.TmaDescriptorOp)
    return owner.tensor


def _described(signature: GluonSignature) -> list[SSAValue]:
    """The tensors that have descriptors, each once."""
    return list(dict.fromkeys(map(_base, signature.descriptors)))
