"""A file with a mistake."""

import dt_mlir.diagnostics

dt_mlir.diagnostics.no_such_name  # noqa: B018  # pyright: ignore
