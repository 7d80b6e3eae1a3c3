"""The entrance to certificates, which says what to install where the solver is missing."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import CompileError


def certificate_of(module: ModuleOp) -> Certificate:
    """Returns the certificate of a program at the `tile` level.

    Raises:
        CompileError: if the solver is missing, or the module is not one of block programs.
    """
    try:
        from dt_mlir.certificates.certify import certify
    except ImportError as error:
        raise CompileError(
            f"certificates need {error.name}", None, "pip install 'dt-mlir[certify]'"
        ) from None
    return certify(module)
