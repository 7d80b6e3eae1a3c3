"""The entry point through which xDSL's own tools find this package."""

from __future__ import annotations

import sys
from types import TracebackType

from xdsl.universe import Universe

from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.registry import DIALECTS, PASSES, TARGETS

DT_UNIVERSE = Universe(all_dialects=DIALECTS, all_passes=PASSES, all_targets=TARGETS)
"""The dialects, passes and targets of this package."""

_previous = sys.excepthook


def show_refusal(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Prints a refusal without a traceback; any other exception as before.

    xDSL's tools let exceptions of passes reach the interpreter, which would print a traceback. The
    operations that they parse have no locations.
    """
    if isinstance(error, CompileError):
        print(SourceTexts().show_error(error), file=sys.stderr)
    else:
        _previous(kind, error, trace)


sys.excepthook = show_refusal
