"""Codes of floating-point checks, which generated kernels pass to the intrinsics that make the checks."""

CODES = {"sum": 0, "product": 1, "quotient": 2, "complex sum": 3, "complex product": 4, "complex quotient": 5}
SUMS = ("sum", "complex sum")
QUOTIENTS = ("quotient", "complex quotient")
LAST = 8
"""Added to the code of a result that no later one shows."""

DOUBTS = 64
"""How many suspicious results a kernel meets before it asks NumPy, which costs as much as looking at these."""

UNDERFLOW = 4
"""NumPy's number of the flag, NPY_FPE_UNDERFLOW."""
