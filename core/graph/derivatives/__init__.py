"""Derivatives of NumPy's functions: one table of rules, written as NumPy code.

The tape and `graph/reverse` call the rules. A rule must not change its operands.
"""

from pijit.core.graph.derivatives import (
    elementwise,  # noqa: F401
    linear_algebra,  # noqa: F401
    movement,  # noqa: F401
    products,  # noqa: F401
    reductions,  # noqa: F401
    scatters,  # noqa: F401
    transforms,  # noqa: F401
)
from pijit.core.graph.derivatives.table import CUTS, ELEMENTWISE, FUNCTIONS, METHODS, ElementwiseRule, FunctionRule

__all__ = ("CUTS", "ELEMENTWISE", "FUNCTIONS", "METHODS", "ElementwiseRule", "FunctionRule")
