"""Compares a certificate with the obligations that a program has."""

from __future__ import annotations

from dt_mlir.certificates.obligation import Certificate, Obligation, Verdict

_STRENGTH = {Verdict.PROVED: 3, Verdict.ASSUMED: 2, Verdict.TESTED: 1, Verdict.REFUTED: 0}


def difference(given: Certificate, found: Certificate) -> str | None:
    """Returns why a certificate is not accepted; None if it is.

    Args:
        given: the certificate.
        found: what is known of the program by itself.
    """
    if given.algorithm != found.algorithm:
        return "the certificate is that of another algorithm"
    if given.module != found.module:
        return "the certificate is that of other IR"
    known: dict[tuple[str, str, str], list[Obligation]] = {}
    for item in given.obligations:
        known.setdefault(item.key, []).append(item)
    for item in found.obligations:
        same = known.get(item.key)
        if not same:
            return f"the certificate lacks an obligation of {item.owner}: {item.statement}"
        problem = _claimed(same.pop(0), item)
        if problem is not None:
            return problem
    for rest in known.values():
        for item in rest:
            return f"the program has no obligation such as: {item.statement}"
    for mine, theirs in zip(found.directives, given.directives):
        if (mine.text, mine.obligations) != (theirs.text, theirs.obligations):
            return f"the certificate says something else of the directive {mine.text}"
    if len(found.directives) != len(given.directives):
        return f"the program has {len(found.directives)} directives"
    return None


def _claimed(claimed: Obligation, item: Obligation) -> str | None:
    """Returns what is wrong with a claim about an obligation; None if nothing is.

    Args:
        claimed: the claim.
        item: what is known of the obligation.
    """
    if claimed.verdict is Verdict.REFUTED:
        return f"the certificate itself says that it is refuted: {item.statement}"
    if _STRENGTH[claimed.verdict] > _STRENGTH[item.verdict]:
        return (
            f"the certificate claims that it is {claimed.verdict.value} what is only "
            f"{item.verdict.value} here: {item.statement}"
        )
    return None
