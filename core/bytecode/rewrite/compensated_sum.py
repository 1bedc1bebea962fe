"""Compensated summation of ``sum`` from CPython 3.12 on: rounding errors of floats are added at the end.

Consumers call these functions, and the capturer has a model of them (capture/models/iteration/compensated_sums.py).
Bytecode runs them as they are.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Tuple

COMPENSATES = sys.version_info >= (3, 12)


def add_item(total: Any, lost: float, item: Any) -> Tuple[Any, float]:
    """The sum with one more item, and the rounding error so far."""
    added = total + item
    if type(total) is not float or type(item) is not float:
        return added, lost
    if abs(total) >= abs(item):
        return added, lost + ((total - added) + item)
    return added, lost + ((item - added) + total)


def with_lost(total: Any, lost: float) -> Any:
    """The sum corrected by the rounding error; an infinite or NaN error is ignored."""
    return total + lost if type(total) is float and lost and math.isfinite(lost) else total
