"""Derivatives of NumPy's functions: one table of rules, written as NumPy code."""

from pijit.core.graph.derivatives import (
    elementwise,  # noqa: F401
    linear_algebra,  # noqa: F401
    movement,  # noqa: F401
    products,  # noqa: F401
    reductions,  # noqa: F401
    transforms,  # noqa: F401
)
from pijit.core.graph.derivatives.table import (
    CUTS,  # noqa: F401
    ELEMENTWISE,  # noqa: F401
    FUNCTIONS,  # noqa: F401
    METHODS,  # noqa: F401
    ElementwiseRule,  # noqa: F401
    FunctionRule,  # noqa: F401
)
