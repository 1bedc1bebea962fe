"""Derivatives of NumPy's functions: one table of rules, written as NumPy code."""

from pijit.core.graph.derivatives import (elementwise, linear_algebra, movement, products, reductions,  # noqa: F401
                                          transforms)
from pijit.core.graph.derivatives.table import (CUTS, ELEMENTWISE, FUNCTIONS, METHODS, ElementwiseRule,  # noqa: F401
                                                FunctionRule)
