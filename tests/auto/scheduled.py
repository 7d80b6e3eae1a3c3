"""Programs that tests schedule."""

from collections.abc import Mapping
from random import Random

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import auto_schedule
from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.evaluation import Evaluator
from dt_mlir.autoscheduling.ordering import swappable
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.variants import all_finished
from dt_mlir.costs.device import find_device
from dt_mlir.costs.report import costs_of
from dt_mlir.costs.tiling import Cost
from dt_mlir.dialects import dt
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.traversal import operations_of

TWO_NORMS = """
Func ms, n, y, mu, va, z, g, h, f; In X, W, U, G; Var i, c, e;
ms[i] = rsum(X[i, c] * X[i, c], c) / len(c);
n[i, c] = X[i, c] * rsqrt(ms[i] + 0.00001);
y[i, e] = rdot(n[i, c], W[c, e], c);
mu[i] = rsum(y[i, e], e) / len(e);
va[i] = rsum((y[i, e] - mu[i]) ** 2, e) / len(e);
z[i, e] = (y[i, e] - mu[i]) * rsqrt(va[i] + 0.00001);
g[i, e] = z[i, e] * sigmoid(z[i, e]);
h[i, c] = rdot(g[i, e], U[e, c], e);
f[i, c] = h[i, c] * G[c] + X[i, c];
f.compile();
"""
"""Two products, each behind a norm, with an activation between."""


def algorithm(text: str) -> ModuleOp:
    """Returns a program at the `dt` level."""
    module, _ = compile_text(text, "program.dt")
    run_pipeline(module, default_pipeline("dt"))
    return module


def schedule(text: str, sizes: Mapping[str, int], device: str = "h200") -> list[Decision]:
    """Returns the schedule that is predicted to be fast."""
    module = algorithm(text)
    return auto_schedule(module, Interface.of(module).sizes(sizes), find_device(device))


def as_written(text: str, sizes: Mapping[str, int]) -> list[Decision]:
    """Returns the schedule of a program whose labels are called alike only where it calls them so.

    Tests of what is done about labels say with their names which are alike.
    """
    module = algorithm(text)
    evaluator = Evaluator(Algorithm(module, Interface.of(module).sizes(sizes)), find_device("h200"))
    found = all_finished(evaluator, Clusters(evaluator).run())
    return [item for cluster in found for item in evaluator.directives(cluster)]


def cost(text: str, sizes: Mapping[str, int]) -> Cost:
    """Returns what the only kernel of a scheduled program costs on an H200."""
    module, _ = compile_text(text, "program.dt")
    run_pipeline(module, default_pipeline("loop"))
    (found,) = costs_of(module, sizes, find_device("h200")).values()
    return found


def texts(decisions: list[Decision]) -> list[str]:
    """Returns the directives."""
    return [item.text for item in decisions]


MATMUL = """
Func mm : f16; In A : f16, B : f16; Var x, y; RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.compile();
"""
SOFTMAX = """
Func top, total, f; In A; Var x; RVar y;
top[x] = rmax(A[x, y], y);
total[x] = rsum(exp(A[x, y] - top[x]), y);
f[x, y] = exp(A[x, y] - top[x]) / total[x];
f.compile();
"""
ATTENTION = """
Func s, top, p, total, o : f16; In Q : f16, K : f16, V : f16; Var h, i, d; RVar j, c;
s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c) / sqrt(len(c));
top[h, i] = rmax(s[h, i, j], j);
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j);
o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j) / total[h, i];
o.precision(narrow);
o.compile();
"""


def with_swapped_operands(module: ModuleOp, seed: int) -> ModuleOp:
    """Returns a program whose operands are swapped at random wherever that changes nothing, and
    whose operations come in the order in which they are operands."""
    made, random = module.clone(), Random(seed)
    for op in operations_of(made, Operation):
        count = swappable(op)
        if count and random.random() < 0.5:
            op.operands = [*reversed(op.operands[:count]), *op.operands[count:]]
    for op in operations_of(made, dt.FuncOp, dt.ReduceOp):
        block = op.body.block
        assert block.last_op is not None
        order: dict[Operation, None] = {}
        _visit(block.last_op, order)
        for found in order:
            found.detach()
        block.add_ops(order)
    made.verify()
    return made


def _visit(op: Operation, order: dict[Operation, None]) -> None:
    """Adds the operations of a block that one of them needs, and the one behind them."""
    for value in (value for inner in op.walk() for value in inner.operands):
        if isinstance(value.owner, Operation) and value.owner.parent is op.parent:
            _visit(value.owner, order)
    order.setdefault(op)
