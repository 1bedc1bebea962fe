"""Functions for libraries of scientific computing: callbacks of SciPy."""
