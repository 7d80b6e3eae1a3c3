"""`--certify`, for the tools that run passes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass, PassPipeline

from dt_mlir.certificates.making import certificate_of
from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.dialects import sched
from dt_mlir.files import write_output
from dt_mlir.pipeline import default_pipeline, remaining, run_pipeline


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
    return f"{certificate}\n"


def check_options(certify: bool, path: str | None) -> None:
    """Checks that the options go together.

    Raises:
        CompileError: if they do not.
    """
    if path is not None and not certify:
        raise CompileError("--certificate is where --certify writes to; give both")
    if path is not None and Path(path).suffix != ".json":
        raise CompileError(f"--certificate: {path} does not end in .json")


def refusal(
    certificate: Certificate, at: Attribute | None = None, by: str | None = None
) -> CompileError:
    """Returns the error of a certificate that has a counterexample.

    Args:
        certificate: the certificate.
        at: the place of the directive that breaks the obligation.
        by: the pass that does.
    """
    first, *rest = certificate.refuted
    notes = [Note(f"{item.statement}: {item.reason}") for item in rest]
    fault = "this is a fault of a pass; dtc --verify-semantics finds which"
    if at is not None:
        fault = "the directive is at fault"
    elif by is not None:
        fault = f"the pass '{by}' is at fault"
    return CompileError(
        f"{first.owner} is wrong: {first.statement}: {first.reason}", at,
        f"no schedule may change a result: {fault}", notes,
    )  # fmt: skip


def guilty(module: ModuleOp, types: Sequence[tuple[str, str]] = ()) -> Attribute | None:
    """Returns the place of the first directive with which a program is wrong.

    The schedule is applied directive by directive, as far as each part of it is legal by itself.

    Args:
        module: the program at the `dt` level, its schedule beside it.
        types: element types that are declared anew.

    Returns:
        The place; None if the program is wrong without any directive, or no part of it is wrong.
    """
    count = len([op for op in module.walk() if isinstance(op, sched.DirectiveOp)])
    for kept in range(count + 1):
        part = module.clone()
        directives = [op for op in part.walk() if isinstance(op, sched.DirectiveOp)]
        for op in directives[kept:]:
            op.detach()
            op.erase()
        try:
            run_pipeline(part, default_pipeline("warp", types))
            if certificate_of(part).refuted:
                return directives[kept - 1].location if kept else None
        except CompileError:
            continue
    return None


def wrong_pass(
    module: ModuleOp, passes: Sequence[ModulePass], context: Context
) -> ModulePass | None:
    """Returns the first pass behind which a program is wrong.

    What each of them makes is lowered to block programs, as far as that is legal.

    Args:
        module: the program before the first pass, at any level; it is not changed.
        passes: the passes.
        context: the dialects that they know.

    Returns:
        The pass; None if the program is wrong before the first one, or behind none of them.
    """
    for count in range(len(passes) + 1):
        part = module.clone()
        try:
            PassPipeline(tuple(passes[:count])).apply(context, part)
            if certified(part, passes[count - 1].name if count else None).refuted:
                return passes[count - 1] if count else None
        except CompileError:
            continue
    return None


def certified(module: ModuleOp, last: str | None) -> Certificate:
    """Returns the certificate of a program of any level, which is lowered for it.

    Args:
        module: the program; it is not changed.
        last: the last pass that made it, if it is known.
    """
    lowered = module.clone()
    run_pipeline(lowered, remaining(lowered, last))
    return certificate_of(lowered)
