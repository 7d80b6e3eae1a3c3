"""Certificates in words."""

from __future__ import annotations

from collections.abc import Iterator

from dt_mlir.certificates.obligation import Certificate, Obligation, Verdict


def report(certificate: Certificate) -> str:
    """Returns a certificate as text: for each directive its obligations, and a summary."""
    return "\n".join(_lines(certificate)) + "\n"


def _lines(certificate: Certificate) -> Iterator[str]:
    for directive in certificate.directives:
        yield directive.text
        if not directive.obligations:
            yield "  nothing that it changes decides a value"
        for number in directive.obligations:
            yield f"  {_line(number, certificate.obligations[number])}"
    mentioned = {n for directive in certificate.directives for n in directive.obligations}
    rest = [
        (number, item)
        for number, item in enumerate(certificate.obligations)
        if number not in mentioned
    ]
    if rest:
        yield "without a directive"
    for number, item in rest:
        yield f"  {_line(number, item)}"
    counts = certificate.count()
    shown = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
    yield f"{len(certificate.obligations)} obligations: {shown or 'none'}"
    yield f"certificate {certificate.digest}"


def _line(number: int, item: Obligation) -> str:
    text = f"{number + 1}. {item.kind.value}: {item.statement}: {item.verdict.value}"
    return f"{text} ({item.reason})" if item.reason else text
