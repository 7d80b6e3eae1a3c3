"""What the passes from loops to tiles share: axes of values, the walk over the grid, reductions."""
