"""What scheduling directives share: their declaration, and views of kernels, nests and bounds."""
