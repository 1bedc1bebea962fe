"""The steps of ``sum`` from CPython 3.12 on: sums of floats keep what rounding has lost, and add it at the end.

Consumers call these functions, which the capturer knows (capture/models/iteration/compensated_sums.py). Bytecode runs them as they are.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Tuple

COMPENSATES = sys.version_info >= (3, 12)


def add_item(total: Any, lost: float, item: Any) -> Tuple[Any, float]:
    """The sum with one item more, and what rounding has lost so far."""
    added = total + item
    if type(total) is not float or type(item) is not float:
        return added, lost
    if abs(total) >= abs(item):
        return added, lost + ((total - added) + item)
    return added, lost + ((item - added) + total)


def with_lost(total: Any, lost: float) -> Any:
    """The sum with what rounding has lost; an infinite sum stays what it is."""
    return total + lost if type(total) is float and lost and math.isfinite(lost) else total
