"""Direct evaluation of IR, to compare compiled programs with."""
