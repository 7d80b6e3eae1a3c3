"""Attention with whole rows of weights, beside PyTorch's.

    python examples/attention.py

Without a GPU the kernel runs on Triton's interpreter.
"""

import torch

import dt_mlir as dt


def attention() -> dt.Kernel:
    """`softmax(Q Kᵀ / √d) V` of `Q[query, d]`, `K[key, d]` and `V[key, channel]`.

    A program computes a block of queries, and holds their weights for all keys.
    """
    Q, K, V = dt.In("Q"), dt.In("K"), dt.In("V")
    query, channel = dt.Var("query"), dt.Var("channel")
    key, d = dt.RVar("key"), dt.RVar("d")
    scores, largest, weights = dt.Func("scores"), dt.Func("largest"), dt.Func("weights")
    total, attended = dt.Func("total"), dt.Func("attended")
    scores[query, key] = dt.rdot(Q[query, d], K[key, d], d) / dt.sqrt(dt.len(d))
    largest[query] = dt.rmax(scores[query, key], key)
    weights[query, key] = dt.exp(scores[query, key] - largest[query])
    total[query] = dt.rsum(weights[query, key], key)
    attended[query, channel] = dt.rdot(weights[query, key], V[key, channel], key) / total[query]
    for part in (scores, largest, weights, total):
        part.fuse_at(attended, query)
    attended.block(query=16).tensorize(query=16, key=0, channel=32, d=16)
    return attended.num_warps(4).compile()


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        dt.interpret()
    torch.manual_seed(0)
    q = torch.randn(50, 40, device=device)
    k, v = torch.randn(70, 40, device=device), torch.randn(70, 60, device=device)
    ours = attention()(q, k, v)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    # Products of f32 use tf32 on a GPU.
    torch.testing.assert_close(ours, theirs, atol=1e-2, rtol=1e-2)
    print("the largest difference is", f"{(ours - theirs).abs().max().item():.2e}")


if __name__ == "__main__":
    main()
