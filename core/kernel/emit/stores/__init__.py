"""Stores in kernel source: in place, in order, skewed, tiled, in strips, scattered and delayed."""
