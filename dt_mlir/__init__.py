"""DT-MLIR: the compiler of Decoupled Triton, built on xDSL.

The levels of the compiler are dialects (`dt_mlir.dialects`), the steps between them passes
(`dt_mlir.passes`), and scheduling directives are passes on the `loop` level, declared with
`dt_mlir.scheduling`. `dt_mlir.language` is DT in Python; `dt_mlir.kernels` compiles and calls its
programs. The names of both are this package's: `import dt_mlir as dt`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dt_mlir.kernels import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The tools do without the language in Python, and start sooner.
    if name.startswith("_"):
        raise AttributeError(name)
    from importlib import import_module

    try:
        kernels = import_module("dt_mlir.kernels")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError("DT in Python needs torch: pip install 'dt-mlir[run]'") from None
    if name in kernels.__all__:
        return getattr(kernels, name)
    from dt_mlir.language.habits import ELSEWHERE

    wanted = ELSEWHERE.get(name)
    hint = "" if wanted is None else f"; write dt_mlir.{wanted}"
    raise AttributeError(f"module 'dt_mlir' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    from dt_mlir.kernels import __all__ as names

    return [*globals(), *names]
