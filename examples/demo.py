"""Compiles a matrix product with an epilogue, runs it, and compares it with PyTorch.

It runs on a GPU if there is one, and else on Triton's interpreter on the CPU.
"""

import os
from pathlib import Path

import torch

GPU = torch.cuda.is_available()
if not GPU:
    # Triton looks at this when it is imported.
    os.environ["TRITON_INTERPRET"] = "1"

from dt_mlir.compiler import compile_program  # noqa: E402
from dt_mlir.runtime.execute import loaded  # noqa: E402

PROGRAM = Path(__file__).with_name("matmul_sigmoid.dt")


def main() -> None:
    print(f"Compiling {PROGRAM.name}:\n")
    text = PROGRAM.read_text()
    print("    " + text.strip().replace("\n", "\n    ") + "\n")
    program = compile_program(text, str(PROGRAM))
    kernel = program.source[program.source.index("@triton.jit") :]
    print(f"It became {len(kernel.splitlines())} lines of Python, among them this kernel:\n")
    body = kernel[kernel.index('    """\n') + 8 : kernel.index("\n\n\ndef ")]
    print(body + "\n")

    device = "cuda" if GPU else "cpu"
    sizes = (1000, 700, 900) if GPU else (100, 70, 90)
    x, y, k = sizes
    generator = torch.Generator(device).manual_seed(0)
    a = torch.randn(x, k, device=device, generator=generator)
    b = torch.randn(k, y, device=device, generator=generator)
    with loaded(program.source) as module:
        result = module.mmsigmoid(a, b)
    expected = torch.sigmoid(a.double() @ b.double())
    error = (result.double() - expected).abs().max().item()
    where = torch.cuda.get_device_name() if GPU else "the CPU, through Triton's interpreter"
    print(f"Ran it for x={x}, y={y}, k={k} on {where}.")
    print(f"Largest difference from torch.sigmoid(a @ b) in float64: {error:.2e}")
    # Each of the k products and sums may round by half a unit in the last place.
    bound = k * torch.finfo(torch.float32).eps
    if error > bound:
        raise SystemExit(f"That is more than rounding explains ({bound:.2e}).")
    print(f"Rounding to float32 explains up to {bound:.2e}: the kernel is right.")


if __name__ == "__main__":
    main()
