"""Certificates in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dt_mlir.certificates.obligation import Certificate, Obligation, Verdict


def report(certificate: Certificate) -> str:
    """Returns a certificate as text: for each directive its obligations, and a summary."""
    return "\n".join(_lines(certificate)) + "\n"


def _lines(certificate: Certificate) -> Iterator[str]:
    for directive in certificate.directives:
        yield directive.text
        if not directive.obligations:
            yield "  nothing that it changes decides a value"
        numbered = [(number, certificate.obligations[number]) for number in directive.obligations]
        yield from _counted(numbered)
    mentioned = {n for directive in certificate.directives for n in directive.obligations}
    rest = [
        (number, item)
        for number, item in enumerate(certificate.obligations)
        if number not in mentioned
    ]
    if rest:
        yield "without a directive"
    yield from _counted(rest)
    counts = certificate.count()
    shown = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
    yield f"{len(certificate.obligations)} obligations: {shown or 'none'}"
    yield f"certificate {certificate.digest}"


def _counted(items: Sequence[tuple[int, Obligation]]) -> Iterator[str]:
    """Yields a line for each obligation; those that read the same have one, with their number."""
    found: dict[str, list[int]] = {}
    for number, item in items:
        reason = f" ({item.reason})" if item.reason else ""
        wrapper = "" if item.kernel else "the wrapper: "
        text = f"{wrapper}{item.kind.value}: {item.statement}: {item.verdict.value}{reason}"
        found.setdefault(text, []).append(number + 1)
    for text, numbers in found.items():
        count = f", {len(numbers)} times" if len(numbers) > 1 else ""
        yield f"  {numbers[0]}. {text}{count}"
