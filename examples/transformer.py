"""A layer of a transformer whose operators are DT kernels, beside PyTorch's own.

    python examples/transformer.py

Without a GPU the kernels run on Triton's interpreter. The layer normalises, attends with several
heads, normalises again and goes through two linear layers; both halves have a residual.
"""

import sys

import torch

import dt_mlir as dt


def rms_norm() -> dt.Kernel:
    """`x / sqrt(mean(x²) + 1e-6) * gain`, a block of rows at a time."""
    X, gain = dt.In("X"), dt.In("gain")
    row, col = dt.Var("row"), dt.RVar("col")
    scale, normed = dt.Func("scale"), dt.Func("normed")
    scale[row] = dt.rsqrt(dt.rmean(X[row, col] ** 2, col) + 1e-6)
    normed[row, col] = X[row, col] * scale[row] * gain[col]
    scale.fuse_at(normed, row)
    return normed.block(row=4).tensorize(row=4, col=0).compile()


def linear(activation: str | None = None, residual: bool = False) -> dt.Kernel:
    """`activation(A Wᵀ + bias)`, or with a residual added, fused into the product."""
    A, W, bias = dt.In("A"), dt.In("W"), dt.In("bias")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    product, out = dt.Func("product"), dt.Func("out")
    product[x, y] = dt.rdot(A[x, k], W[y, k], k)
    value = product[x, y] + bias[y]
    if activation == "gelu":
        value = dt.gelu(value)
    if residual:
        value = value + dt.In("R")[x, y]
    out[x, y] = value
    product.fuse_at(out, y)
    return out.block(x=32, y=32).tensorize(x=32, y=32, k=32).num_warps(4).compile()


def attention() -> dt.Kernel:
    """Softmax of scores, times values, for each head; a row of weights is held whole."""
    Q, K, V = dt.In("Q"), dt.In("K"), dt.In("V")
    head, query, channel = dt.Var("head"), dt.Var("query"), dt.Var("channel")
    key, depth = dt.RVar("key"), dt.RVar("depth")
    scores, largest, weights = dt.Func("scores"), dt.Func("largest"), dt.Func("weights")
    total, attended = dt.Func("total"), dt.Func("attended")
    product = dt.rdot(Q[head, query, depth], K[head, key, depth], depth)
    scores[head, query, key] = product / dt.sqrt(dt.len(depth))
    largest[head, query] = dt.rmax(scores[head, query, key], key)
    weights[head, query, key] = dt.exp(scores[head, query, key] - largest[head, query])
    total[head, query] = dt.rsum(weights[head, query, key], key)
    mixed = dt.rdot(weights[head, query, key], V[head, key, channel], key)
    attended[head, query, channel] = mixed / total[head, query]
    for part in (scores, largest, weights, total):
        part.fuse_at(attended, query)
    attended.block(head=1, query=16).tensorize(query=16, key=0, channel=16, depth=16)
    return attended.num_warps(4).compile()


class Layer(torch.nn.Module):
    """A layer that computes with DT kernels; it has the parameters of `Reference`."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = (torch.nn.Parameter(torch.rand(width)) for _ in range(2))
        self.into = torch.nn.Linear(width, 3 * width)
        self.back = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)
        self.norm, self.attend = rms_norm(), attention()
        self.project, self.expand = linear(), linear("gelu")
        self.add = linear(residual=True)

    def split(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values, each with an axis of heads in front."""
        tokens, width = x.shape[0], x.shape[1] // 3
        parts = x.reshape(tokens, 3, self.heads, width // self.heads)
        return tuple(parts[:, i].transpose(0, 1) for i in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x, self.first)
        heads = self.split(self.project(normed, self.into.weight, self.into.bias))
        mixed = self.attend(*heads).transpose(0, 1).reshape(x.shape)
        x = self.add(mixed, self.back.weight, self.back.bias, x)
        normed = self.norm(x, self.second)
        wide = self.expand(normed, self.up.weight, self.up.bias)
        return self.add(wide, self.down.weight, self.down.bias, x)


class Reference(Layer):
    """The same layer of PyTorch's own operators."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        functional = torch.nn.functional
        normed = functional.rms_norm(x, x.shape[1:], self.first, 1e-6)
        mixed = functional.scaled_dot_product_attention(*self.split(self.into(normed)))
        x = self.back(mixed.transpose(0, 1).reshape(x.shape)) + x
        normed = functional.rms_norm(x, x.shape[1:], self.second, 1e-6)
        return self.down(functional.gelu(self.up(normed))) + x


def main() -> int:
    """Compares the layers; 1 if they differ."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        dt.interpret()
    torch.manual_seed(0)
    layer, reference = Layer(32, 2).to(device), Reference(32, 2).to(device)
    reference.load_state_dict(layer.state_dict())
    x = torch.rand(45, 32, device=device)
    with torch.no_grad():
        got, want = layer(x), reference(x)
    error = (got - want).abs().max().item()
    print(f"{tuple(got.shape)} on the {device}: the largest difference is {error:.1e}")
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
