"""Floating-point errors of ``np.dot``: does NumPy report them?

It does from version 2.4 on; a test at import finds out.
"""

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
"""Whether np.dot, and all functions of NumPy that use it, report floating-point errors."""
