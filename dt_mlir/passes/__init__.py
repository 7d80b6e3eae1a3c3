"""The passes: one a file, the file being named after the pass."""
