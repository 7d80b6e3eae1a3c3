"""`dt-lsp`: the language server of DT programs, for editors."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from dt_mlir.diagnostics import CompileError
from dt_mlir.tools.command_line import ArgumentParser, run_tool


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="dt-lsp", description="Serve editors that speak the Language Server Protocol."
    )
    parser.add_argument(
        "--stdio", action="store_true", help="speak on standard input and output, as it does anyway"
    )
    return parser


def serve() -> None:
    """Serves the client on standard input and output until it ends the server.

    Raises:
        CompileError: if the packages are missing that the server needs.
    """
    try:
        from dt_mlir.editor.server import make_server, warm_up
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "dt_mlir":
            raise
        raise CompileError(
            f"serving editors needs {error.name}", None, "pip install 'dt-mlir[editor]'"
        ) from None
    server = make_server()
    warm_up()
    # The server collects garbage itself, when nobody waits for an answer.
    gc.collect()
    gc.freeze()
    gc.disable()
    server.start_io()


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dt-lsp`."""
    _parser().parse(argv)
    sys.exit(run_tool(lambda _: serve()))


if __name__ == "__main__":
    main()
