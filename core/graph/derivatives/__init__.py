"""Derivatives of NumPy's functions: one table of rules, written as NumPy code."""

from pijit.core.graph.derivatives import elementwise, linear_algebra, movement, products, reductions, transforms  # noqa: F401
from pijit.core.graph.derivatives.table import CUTS, ELEMENTWISE, FUNCTIONS, METHODS, ElementwiseRule, FunctionRule  # noqa: F401
