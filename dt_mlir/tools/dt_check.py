"""`dt-check`: checks a certificate against the IR that it is about."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dt_mlir.certificates.checking import difference
from dt_mlir.certificates.making import certificate_of
from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.tools.certification import refusal
from dt_mlir.tools.command_line import ArgumentParser, parse_types, run_tool

DESCRIPTION = (
    "Check a certificate: find every obligation of a compiled program anew, without the passes, "
    "and discharge it."
)


def check(
    module_path: str,
    certificate_path: str,
    sources: SourceTexts,
    program_path: str | None = None,
    types: Sequence[tuple[str, str]] = (),
    load: Sequence[str] = (),
) -> str:
    """Returns the outcome in words.

    Args:
        module_path: the compiled program, as `dtc --emit warp` prints it.
        certificate_path: the certificate, as `dtc --certify --certificate` writes it.
        sources: the texts that messages show.
        program_path: the program, FILE.dt, whose algorithm the IR has to compute; without it, the
            algorithm is the one that the IR names.
        types: the element types that are declared anew in the program, by name.
        load: the files of extensions that the program needs.

    Raises:
        CompileError: if an obligation does not hold, or the certificate is not that of the program,
            or claims too much.
    """
    from dt_mlir.tools.parsing import decode, read_module

    module = read_module(module_path, sources, load)
    with open(certificate_path, "rb") as stream:
        given = Certificate.from_json(decode(stream, certificate_path), certificate_path)
    found = certificate_of(module)
    if program_path is not None and _algorithm(program_path, types, sources) != found.algorithm:
        raise CompileError(
            f"{module_path}: the IR is that of another algorithm than {program_path}", None,
            "compile this program; element types that were declared anew are told by --dtype",
        )  # fmt: skip
    if found.refuted:
        raise refusal(found)
    problem = difference(given, found)
    if problem is not None:
        raise CompileError(
            f"{certificate_path}: {problem}", None,
            "dtc FILE --certify --certificate FILE.json makes a certificate of the IR that "
            "dtc FILE --emit warp prints with the same options",
        )  # fmt: skip
    counts = found.count()
    shown = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    lines = [f"{certificate_path}: {len(found.obligations)} obligations hold anew: {shown}"]
    return "\n".join([*lines, f"certificate {found.digest}", ""])


def _algorithm(path: str, types: Sequence[tuple[str, str]], sources: SourceTexts) -> str:
    """Returns the algorithm of a program, in canonical form."""
    from dt_mlir.dialects.host.func import function_of
    from dt_mlir.pipeline import default_pipeline, run_pipeline
    from dt_mlir.tools.parsing import decode, parse_dt

    with open(path, "rb") as stream:
        module = parse_dt(decode(stream, path), path, sources, types)
    run_pipeline(module, [*default_pipeline("dt", types), "convert-dt-to-loop"], verify=False)
    function = function_of(module)
    assert function is not None, "what is converted has a wrapper"
    return "\n".join(line.data for line in function.algorithm or ())


def main() -> None:
    """The entry point of `dt-check`."""
    parser = ArgumentParser(prog="dt-check", description=DESCRIPTION)
    add = parser.add_argument
    add("module", help="the compiled program, FILE.mlir, as dtc --emit warp prints it")
    add("certificate", help="its certificate, FILE.json, as dtc --certify --certificate writes it")
    add(
        "--program",
        metavar="FILE.dt",
        help="the program whose algorithm it has to compute; without it, the IR names its own",
    )
    add("--dtype", metavar="A=f16,…", help="with --program: element types that are declared anew")
    add("--load", action="append", default=[], metavar="FILE.py", help="load extensions")
    args = parser.parse(None)

    def run(sources: SourceTexts) -> None:
        types = parse_types(args.dtype)
        if types and args.program is None:
            raise CompileError("--dtype is about the program; give --program, too")
        found = check(args.module, args.certificate, sources, args.program, types, args.load)
        print(found, end="")

    sys.exit(run_tool(run))


if __name__ == "__main__":
    main()
