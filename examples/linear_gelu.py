"""A linear layer with its activation fused into the product, beside PyTorch's.

    python examples/linear_gelu.py

Without a GPU the kernel runs on Triton's interpreter.
"""

import torch

import dt_mlir as dt


def linear_gelu() -> dt.Kernel:
    """`gelu(X Wᵀ + bias)` in one kernel: `X[row, k]`, `W[col, k]`, `bias[col]`."""
    X, W, bias = dt.In("X"), dt.In("W"), dt.In("bias")
    row, col, k = dt.Var("row"), dt.Var("col"), dt.RVar("k")
    product, layer = dt.Func("product"), dt.Func("layer")
    product[row, col] = dt.rdot(X[row, k], W[col, k], k)
    layer[row, col] = dt.gelu(product[row, col] + bias[col])
    product.fuse_at(layer, col)
    layer.block(row=64, col=64).tensorize(row=64, col=64, k=32)
    return layer.map("row:row1/8", col, "row1").num_warps(4).compile()


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        dt.interpret()
    torch.manual_seed(0)
    model = torch.nn.Linear(100, 150).to(device)
    x = torch.randn(70, 100, device=device)
    with torch.no_grad():
        ours = linear_gelu()(x, model.weight, model.bias)
        theirs = torch.nn.functional.gelu(model(x))
    # Products of f32 use tf32 on a GPU.
    torch.testing.assert_close(ours, theirs, atol=1e-2, rtol=1e-2)
    print("the largest difference is", f"{(ours - theirs).abs().max().item():.2e}")


if __name__ == "__main__":
    main()
