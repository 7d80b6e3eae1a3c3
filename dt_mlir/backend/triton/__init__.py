"""The Triton backend: prints a module of the `tile` level as a standalone Python module."""
