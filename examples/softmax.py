"""Softmax of whole rows, a block of rows at a time, beside PyTorch's.

    python examples/softmax.py

Without a GPU the kernel runs on Triton's interpreter.
"""

import torch

import dt_mlir as dt


def softmax() -> dt.Kernel:
    """`softmax(X, 1)`, less each row's largest element, of `X[row, col]`."""
    X, row, col = dt.In("X"), dt.Var("row"), dt.RVar("col")
    largest, weights = dt.Func("largest"), dt.Func("weights")
    total, softmax = dt.Func("total"), dt.Func("softmax")
    largest[row] = dt.rmax(X[row, col], col)
    weights[row, col] = dt.exp(X[row, col] - largest[row])
    total[row] = dt.rsum(weights[row, col], col)
    softmax[row, col] = weights[row, col] / total[row]
    for part in (largest, weights, total):
        part.fuse_at(softmax, row)
    return softmax.block(row=4).tensorize(row=4, col=0).num_warps(4).compile()


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        dt.interpret()
    torch.manual_seed(0)
    kernel = softmax()
    for dtype, tolerance in ((torch.float32, 1e-6), (torch.float16, 1e-3)):
        x = torch.randn(50, 300, device=device, dtype=dtype) * 10
        ours, theirs = kernel(x), torch.softmax(x.float(), 1)
        difference = (ours.float() - theirs).abs().max().item()
        assert difference <= tolerance, difference
        print(f"{dtype}: the largest difference is {difference:.2e}")


if __name__ == "__main__":
    main()
