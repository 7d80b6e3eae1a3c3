"""`dt-check`: checks a certificate against the IR that it is about."""

from __future__ import annotations

import sys

from dt_mlir.certificates.checking import difference
from dt_mlir.certificates.making import certificate_of
from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.tools.command_line import ArgumentParser, run_tool

DESCRIPTION = (
    "Check a certificate: find every obligation of a compiled program anew, without the passes, "
    "and discharge it."
)


def check(module_path: str, certificate_path: str, sources: SourceTexts) -> str:
    """Returns the outcome in words.

    Args:
        module_path: the program at the `tile` level, as `dtc --emit tile` prints it.
        certificate_path: the certificate, as `dtc --certify --certificate` writes it.
        sources: the texts that messages show.

    Raises:
        CompileError: if the certificate is not that of the program, or claims too much.
    """
    from dt_mlir.tools.parsing import decode, read_module

    module = read_module(module_path, sources)
    with open(certificate_path, "rb") as stream:
        given_text = decode(stream, certificate_path)
    found = certificate_of(module)
    given = Certificate.from_json(given_text, certificate_path)
    problem = difference(given, found)
    if problem is not None:
        raise CompileError(
            f"{certificate_path}: {problem}", None,
            "make a certificate of this program with dtc FILE --certify --certificate FILE.json",
        )  # fmt: skip
    counts = found.count()
    shown = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    return f"{certificate_path}: {len(found.obligations)} obligations hold anew: {shown}\n"


def main() -> None:
    """The entry point of `dt-check`."""
    parser = ArgumentParser(prog="dt-check", description=DESCRIPTION)
    parser.add_argument("module", help="the program at the tile level, FILE.mlir")
    parser.add_argument("certificate", help="its certificate, FILE.json")
    args = parser.parse(None)

    def run(sources: SourceTexts) -> None:
        print(check(args.module, args.certificate, sources), end="")

    sys.exit(run_tool(run))


if __name__ == "__main__":
    main()
