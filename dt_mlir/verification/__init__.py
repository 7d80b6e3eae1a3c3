"""Checks passes by running the IR before and after them."""
