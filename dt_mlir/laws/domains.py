"""Points of the domain of a reduction, as far as its bounds tell of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr

from dt_mlir.dialects.index_ranges import collected, is_never_negative, split_dimension
from dt_mlir.dialects.indices import multiply, number, quotient, subtract


def point_conditions(
    constraints: Sequence[AffineExpr], size: AffineExpr
) -> list[AffineExpr] | None:
    """Returns what must be at least 0 for a domain to have a point.

    Constraints that bound the index by itself leave an interval, which has a point if each of its
    lower bounds is at most each of its upper bounds.

    Args:
        constraints: the expressions that are at least 0 in the domain; the index of the loop is
            dimension 0.
        size: the size of the loop's label.

    Returns:
        The expressions, which do not depend on the index; None if a constraint holds the index in
        a quotient or a remainder.
    """
    lowest, highest = [number(0)], [subtract(size, number(1))]
    others: list[AffineExpr] = []
    for expr in constraints:
        factor, rest = split_dimension(expr, 0)
        if factor == 0:
            if 0 in expr.used_dims():
                return None
            others.append(expr)
        elif factor > 0:
            # factor * i + rest >= 0 from i = -(rest // factor) on.
            lowest.append(multiply(quotient(rest, number(factor)), number(-1)))
        else:
            highest.append(quotient(rest, number(-factor)))
    between = (collected(subtract(high, low)) for high in highest for low in lowest)
    found = dict.fromkeys([*others, *between])
    return [expr for expr in found if not is_never_negative(expr)]
