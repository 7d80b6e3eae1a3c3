"""Laws of reductions: what a running value becomes where another one that it depends on changes.

A reduction t of elements f(c, r), where r is reduced over the same label, can be computed in one
pass with r if what was reduced with an older r can be repaired. `body` holds the elements of one
step and what they depend on; `terms` decomposes an element into factors, `nested` one that
is a sum over another label, `dominance` one into comparisons with an extreme; `reductions` derives
the running values of them, with their repair.
"""
