"""The device library for Triton's CPU interpreter, which has none.

Kernels with `math(accurate)` call `libdevice`. Compiled, those calls are the target's; interpreted,
they are stubs that return nothing. `install` gives the stubs NumPy's functions.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any


def install() -> None:
    """Gives the stubs of `triton.language.extra.libdevice` NumPy's functions."""
    import numpy as np
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.runtime.interpreter import TensorHandle

    functions = {
        name: getattr(np, name)
        for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")
    }
    functions |= {"tanh": np.tanh, "pow": np.power, "rsqrt": lambda x: 1 / np.sqrt(x)}

    def interpreted(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            typed = next(a for a in arguments if isinstance(a, tl.tensor))
            arrays = [a.handle.data if isinstance(a, tl.tensor) else a for a in arguments]
            with np.errstate(all="ignore"):
                wide = function(*(np.asarray(a, np.float64) for a in arrays))
            dtype = typed.handle.data.dtype
            data = np.asarray(wide).astype(dtype)
            type = typed.type
            if data.shape != typed.handle.data.shape:
                type = tl.block_type(typed.dtype, list(data.shape))
            return tl.tensor(TensorHandle(data, typed.dtype), type)

        return call

    for name, function in functions.items():
        setattr(libdevice, name, interpreted(function))
