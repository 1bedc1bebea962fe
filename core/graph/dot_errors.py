"""Floating-point errors of products by ``np.dot``: NumPy reports them from version 2.4 on."""

import numpy as np


def _reports() -> bool:
    large = np.full(2, 1e300)
    try:
        with np.errstate(all="raise"):
            np.dot(large, large)
    except FloatingPointError:
        return True
    return False


DOT_REPORTS = _reports()
"""Whether np.dot, and all that NumPy computes with it, reports floating-point errors."""
