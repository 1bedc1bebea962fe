"""Scatters: copies of arrays with other elements at places that index arrays select.

Kernels call them as library functions, `derivatives/scatters.py` has their derivatives, and `pijit.ms.ops` calls them.
They have no effect except their result, and none if they raise. Values have the shape of the elements that they change,
or fewer axes.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

Scatter = Callable[..., Any]
"""Takes an array, the values, the number of leading axes that are whole, and index arrays for the axes after them."""


def _by(name: str, ufunc: Any) -> Scatter:
    def scatter(a: Any, b: Any, axis: int, *indices: Any) -> Any:
        """A copy of an array after ``ufunc.at(copy, index, b)``: places that occur several times count each time."""
        made = np.array(a)
        ufunc.at(made, (slice(None),) * axis + indices, b)
        return made
    scatter.__name__ = scatter.__qualname__ = name
    return scatter


scatter_add = _by("tensor_scatter_add", np.add)
scatter_sub = _by("tensor_scatter_sub", np.subtract)
scatter_max = _by("tensor_scatter_max", np.maximum)
scatter_min = _by("tensor_scatter_min", np.minimum)
scatter_mul = _by("tensor_scatter_mul", np.multiply)
scatter_div = _by("tensor_scatter_div", np.divide)
scatter_floor_div = _by("tensor_scatter_floor_div", np.floor_divide)


def scatter_update(a: Any, b: Any, axis: int, *indices: Any) -> Any:
    """A copy of an array after ``copy[index] = b``: of a place that occurs several times the last value stays."""
    made = np.array(a)
    made[(slice(None),) * axis + indices] = b
    return made


scatter_update.__name__ = scatter_update.__qualname__ = "tensor_scatter_update"

BY_NAME: Dict[str, Scatter] = {
    "scatter_add": scatter_add, "scatter_sub": scatter_sub, "scatter_max": scatter_max, "scatter_min": scatter_min,
    "scatter_mul": scatter_mul, "scatter_div": scatter_div, "scatter_floor_div": scatter_floor_div,
    "scatter_update": scatter_update}
"""The functions by the names of this module."""
