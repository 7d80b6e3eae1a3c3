"""Certificates: what is proved of a compiled program, symbolically in its sizes.

The final block programs are compared with the algorithm, not with what passes meant: each
program's value at an index becomes a term over elements of tensors, and obligations say that the
terms of both agree. An SMT solver discharges them.
"""
