"""Codes of floating-point checks, which kernels pass to the intrinsics of fp_check_intrinsics.py.

The emitter and the intrinsics share them. The module must not import LLVM.
"""

CODES = {"sum": 0, "product": 1, "quotient": 2, "complex sum": 3, "complex product": 4, "complex quotient": 5}
SUMS = ("sum", "complex sum")
QUOTIENTS = ("quotient", "complex quotient")
LAST = 8
"""Added to the code of a result whose flags no later result shows."""

DOUBTS = 64
"""Suspicious results until a kernel asks NumPy whether underflow is reported, which costs as much as checking these."""

UNDERFLOW = 4
"""NumPy's number of the flag, NPY_FPE_UNDERFLOW."""
