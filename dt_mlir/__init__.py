"""DT-MLIR: the compiler of Decoupled Triton, built on xDSL.

The levels of the compiler are dialects (`dt_mlir.dialects`), the steps between them passes
(`dt_mlir.passes`), and scheduling directives are passes on the `loop` level
(`dt_mlir.scheduling` holds what they share).
"""

__version__ = "0.1.0"
