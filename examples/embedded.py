"""The examples in Python. Each function gives the program of the `.dt` file of its name."""

import dt_mlir as dt
from dt_mlir import Func, In, Program, RVar, SIn, Var


def attention() -> Program:
    attention, scores, largest = Func("attention"), Func("scores"), Func("largest")
    weights, total = Func("weights"), Func("total")
    Q, K, V = In("Q"), In("K"), In("V")
    m, n = Var("m"), Var("n")
    k, l = RVar("k"), RVar("l")  # noqa: E741
    scores[m, l] = dt.rdot(Q[m, k], K[l, k], k) / dt.sqrt(dt.len(k))
    largest[m] = dt.rmax(scores[m, l], l)
    weights[m, l] = dt.exp(scores[m, l] - largest[m])
    total[m] = dt.rsum(weights[m, l], l)
    attention[m, n] = dt.rdot(weights[m, l], V[l, n], l) / total[m]
    for part in (scores, largest, weights, total):
        part.fuse_at(attention, m)
    attention.block(m=16).tensorize(m=16, n=32, k=16, l=0).num_warps(4)
    return Program.of([attention])


def batched_matmul() -> Program:
    bmm, A, B = Func("bmm"), In("A"), In("B")
    batch, x, y, k = Var("batch"), Var("x"), Var("y"), RVar("k")
    bmm[batch, x, y] = dt.rdot(A[batch, x, k], B[batch, k, y], k)
    bmm.block(batch=1, x=32, y=32).tensorize(x=32, y=32, k=16)
    return Program.of([bmm])


def dyt() -> Program:
    dyt, X, weight, bias, alpha = Func("dyt"), In("X"), In("weight"), In("bias"), SIn("alpha")
    row, col = Var("row"), Var("col")
    dyt[row, col] = weight[col] * dt.tanh(alpha * X[row, col]) + bias[col]
    dyt.block(row=1, col=1024).tensorize(col=1024)
    return Program.of([dyt])


def gram() -> Program:
    gram, A = Func("gram"), In("A")
    i, j, k = Var("i"), Var("j"), RVar("k")
    gram[i, j] = dt.rdot(A[i, k], A[j, k], k)
    gram.block(i=32, j=32).tensorize(i=32, j=32, k=32)
    return Program.of([gram])


def layer_norm() -> Program:
    layer_norm, mean, variance = Func("layer_norm"), Func("mean"), Func("variance")
    X, gain, shift, epsilon = In("X"), In("gain"), In("shift"), SIn("epsilon")
    row, col = Var("row"), RVar("col")
    mean[row] = dt.rmean(X[row, col], col)
    variance[row] = dt.rmean((X[row, col] - mean[row]) ** 2, col)
    scaled = (X[row, col] - mean[row]) * dt.rsqrt(variance[row] + epsilon)
    layer_norm[row, col] = scaled * gain[col] + shift[col]
    mean.fuse_at(layer_norm, row)
    variance.fuse_at(layer_norm, row)
    layer_norm.block(row=4).tensorize(row=0, col=0).num_warps(4)
    return Program.of([layer_norm])


def matmul() -> Program:
    mm, A, B = Func("mm"), In("A"), In("B")
    x, y, k = Var("x"), Var("y"), RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    mm.block(x=128, y=128).tensorize(x=128, y=128, k=32).map("x:x1/8", y, "x1")
    mm.num_warps(4).num_stages(3)
    return Program.of([mm])


def matmul_ragged() -> Program:
    mm, A, B = Func("mm", "f16"), In("A", "f16"), In("B", "f16")
    x, y, k = Var("x"), Var("y"), RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    mm.cache_read(A, "A_copy").cache_read(B, "B_copy")
    A_copy, B_copy = mm.directives["A_copy"], mm.directives["B_copy"]
    A_copy.block(x=64, k=64).tensorize(x=64, k=64).align_storage(x=64, k=64)
    B_copy.block(k=64, y=64).tensorize(k=64, y=64).align_storage(k=64, y=64)
    mm.block(x=64, y=64).tensorize(x=64, y=64, k=64)
    return Program.of([mm])


def matmul_sigmoid() -> Program:
    mmsigmoid, mm, A, B = Func("mmsigmoid"), Func("mm"), In("A"), In("B")
    x, y, k = Var("x"), Var("y"), RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    mmsigmoid[x, y] = dt.sigmoid(mm[x, y])
    mm.fuse_at(mmsigmoid, y)
    mmsigmoid.block(x=64, y=64).tensorize(x=64, y=64, k=32).map("y:yi/4", x, "yi").num_warps(4)
    return Program.of([mmsigmoid])


def mean_and_spread() -> Program:
    average, spread, X = Func("average"), Func("spread"), In("X")
    row, col = Var("row"), RVar("col")
    average[row] = dt.rmean(X[row, col], col)
    spread[row] = dt.sqrt(dt.rmean((X[row, col] - average[row]) ** 2, col))
    average.block(row=8).tensorize(row=8, col=64)
    spread.block(row=8).tensorize(row=8, col=64)
    return Program.of([average, spread])


def nearest() -> Program:
    distance, best, points, centres = Func("distance"), Func("best"), In("points"), In("centres")
    p, c, d = Var("p"), Var("c"), RVar("d")
    distance[p, c] = dt.rsum((points[p, d] - centres[c, d]) ** 2, d)
    best[p] = dt.rargmin(distance[p, c], c)
    distance.fuse_at(best, c)
    best.block(p=16).tensorize(p=16, c=8, d=4)
    return Program.of([best], dynamic=True)


def relu() -> Program:
    relu_out, A = Func("relu_out"), In("A")
    x, y = Var("x"), Var("y")
    relu_out[x, y] = dt.maximum(0, A[x, y])
    relu_out.block(x=4, y=8).map("x:xi/4", y, "xi")
    return Program.of([relu_out])


def rms_norm() -> Program:
    rms_norm, scale, X, gain = Func("rms_norm"), Func("scale"), In("X"), In("gain")
    row, col = Var("row"), RVar("col")
    scale[row] = dt.rsqrt(dt.rmean(X[row, col] ** 2, col) + 1e-5)
    rms_norm[row, col] = X[row, col] * scale[row] * gain[col]
    scale.fuse_at(rms_norm, row)
    rms_norm.block(row=6).tensorize(row=3, col=48)
    return Program.of([rms_norm])


def scaled_add() -> Program:
    scaled_add, A, B, alpha = Func("scaled_add"), In("A"), In("B"), SIn("alpha")
    x, y = Var("x"), Var("y")
    scaled_add[x, y] = alpha * (A[x, y] + B[x, y])
    scaled_add.block(x=1, y=256).tensorize(y=64)
    return Program.of([scaled_add])


def softmax() -> Program:
    softmax, total, A = Func("softmax"), Func("total"), In("A")
    x, y = Var("x"), RVar("y")
    total[x] = dt.rsum(dt.exp(A[x, y]), y)
    softmax[x, y] = dt.exp(A[x, y]) / dt.reshape(total[x], x, 1)
    total.fuse_at(softmax, x)
    softmax.block(x=4).tensorize(x=0, y=512).num_warps(8)
    return Program.of([softmax], kernel_only=True)


def softmax_stable() -> Program:
    softmax, largest, power, total = Func("softmax"), Func("largest"), Func("power"), Func("total")
    A, x, y = In("A"), Var("x"), RVar("y")
    largest[x] = dt.rmax(A[x, y], y)
    power[x, y] = dt.exp(A[x, y] - largest[x])
    total[x] = dt.rsum(power[x, y], y)
    softmax[x, y] = power[x, y] / total[x]
    largest.fuse_at(power, x)
    power.fuse_at(softmax, x)
    total.fuse_at(softmax, x)
    softmax.block(x=2).tensorize(x=2, y=0)
    return Program.of([softmax])


def swish() -> Program:
    swish, gate, A, beta = Func("swish"), Func("gate"), In("A"), SIn("beta")
    x, y = Var("x"), Var("y")
    gate[x, y] = dt.sigmoid(beta * A[x, y])
    swish[x, y] = A[x, y] * gate[x, y]
    gate.fuse_at(swish, y)
    return Program.of([swish])


def _two_matmul(at: str) -> Func:
    product, inner, A, B, C = Func("product"), Func("inner"), In("A"), In("B"), In("C")
    m, n, k, l = Var("m"), Var("n"), RVar("k"), RVar("l")  # noqa: E741
    inner[m, l] = dt.rdot(A[m, k], B[k, l], k)
    product[m, n] = dt.rdot(inner[m, l], C[l, n], l)
    inner.fuse_at(product, at)
    return product


def two_matmul_inner() -> Program:
    product = _two_matmul("l").block(m=32, n=64).tensorize(m=32, n=64, k=32, l=32).num_warps(4)
    return Program.of([product])


def two_matmul_outer() -> Program:
    product = _two_matmul("m").block(m=16).tensorize(m=16, n=64, k=32, l=0).num_warps(4)
    return Program.of([product])
