"""Derivatives of NumPy's functions: one table of rules, written as NumPy code."""

from pijit.core.graph.derivatives import (  # noqa: F401
    elementwise,
    linear_algebra,
    movement,
    products,
    reductions,
    transforms,
)
from pijit.core.graph.derivatives.table import (  # noqa: F401
    CUTS,
    ELEMENTWISE,
    FUNCTIONS,
    METHODS,
    ElementwiseRule,
    FunctionRule,
)
