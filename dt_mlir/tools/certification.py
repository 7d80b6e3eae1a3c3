"""`--certify`, for the tools that run passes."""

from __future__ import annotations

import argparse
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from dt_mlir.certificates.making import certificate_of
from dt_mlir.certificates.obligation import Certificate
from dt_mlir.certificates.report import report
from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.files import write_output
from dt_mlir.pipeline import default_pipeline, run_pipeline


def add_certification(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a tool's parser."""
    group = parser.add_argument_group("certificates")
    add = group.add_argument
    add(
        "--certify",
        action="store_true",
        help="prove for all sizes that the kernels compute what the algorithm says, and print for "
        "each directive what is proved, tested and assumed",
    )
    add("--certificate", metavar="FILE.json", help="with --certify: where the certificate goes")


def show(certificate: Certificate, path: str | None) -> str:
    """Returns a certificate in words, and writes it to a file if there is one.

    Args:
        certificate: the certificate.
        path: the file for the JSON, if it is wanted.
    """
    if path is not None:
        write_output(path, certificate.to_json() + "\n")
    return report(certificate)


def check_options(certify: bool, path: str | None) -> None:
    """Checks that the options go together.

    Raises:
        CompileError: if they do not.
    """
    if path is not None and not certify:
        raise CompileError("--certificate is where --certify writes to; give both")
    if path is not None and Path(path).suffix != ".json":
        raise CompileError(f"--certificate: {path} does not end in .json")


def refusal(certificate: Certificate, at: Attribute | None = None) -> CompileError:
    """Returns the error of a certificate that has a counterexample.

    Args:
        certificate: the certificate.
        at: the place of the directive that breaks the obligation.
    """
    first, *rest = certificate.refuted
    notes = [Note(f"{item.statement}: {item.reason}") for item in rest]
    return CompileError(
        f"{first.owner} is wrong: {first.statement}: {first.reason}", at,
        "no schedule may change a result: this is a fault of a pass; dtc --verify-semantics finds "
        "which", notes,
    )  # fmt: skip


def guilty(module: ModuleOp, types: list[tuple[str, str]]) -> Attribute | None:
    """Returns the place of the first directive with which a program is wrong.

    The schedule is applied directive by directive, as far as each part of it is legal by itself.

    Args:
        module: the program at the `dt` level, its schedule beside it.
        types: element types that are declared anew.
    """
    from dt_mlir.dialects import sched

    count = len([op for op in module.walk() if isinstance(op, sched.DirectiveOp)])
    for kept in range(count):
        part = module.clone()
        directives = [op for op in part.walk() if isinstance(op, sched.DirectiveOp)]
        last = directives[kept].location
        for op in directives[kept + 1 :]:
            op.detach()
            op.erase()
        try:
            run_pipeline(part, default_pipeline("tile", types))
            if certificate_of(part).refuted:
                return last
        except CompileError:
            continue
    return None
