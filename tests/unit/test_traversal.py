"""Walks over operations."""

import random

from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from dt_mlir.traversal import in_program_order, operations, operations_of


def grown(seed: random.Random, depth: int) -> Operation:
    """Returns an operation with up to two regions of up to two blocks."""
    regions = [
        Region([
            Block([grown(seed, depth - 1) for _ in range(seed.randrange(4))])
            for _ in range(seed.randrange(1, 3))
        ])
        for _ in range(seed.randrange(3) if depth else 0)
    ]  # fmt: skip
    return test.TestOp(regions=regions)


def test_operations_are_put_in_program_order() -> None:
    for number in range(200):
        seed = random.Random(number)
        module = ModuleOp([grown(seed, 3) for _ in range(4)])
        found = operations(module)
        assert found == list(module.walk())
        for root in (module, seed.choice(found)):
            inside = operations(root)[1:]
            some = seed.sample(inside, seed.randrange(len(inside) + 1))
            assert in_program_order(root, some) == [op for op in inside if op in some]
    assert len(operations_of(module, test.TestOp)) == len(found) - 1
