"""Analyses of IR. They change nothing, except that `bounds` sets the ranges of loops."""
