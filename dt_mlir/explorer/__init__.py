"""Pages that show how a program becomes kernels, level by level and linked by place."""
