"""A benchmark case: a function as a user of NumPy writes it, its arguments, and the same work tuned for numba."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

import numpy as np

SIZES: Dict[str, int] = {"L1": 6 << 10, "L2/L3": 384 << 10, "memory": 32 << 20}
"""Bytes of a kernel's largest array, by the name of the size: kernels have two to five such arrays."""

LOOPS: Dict[str, int] = {"L1": 6 << 10, "L2/L3": 384 << 10, "memory": 4 << 20}
"""The same for loops over single elements: Python would take a minute for larger arrays."""

FLOATS = ("float64", "float32")
INTEGERS = ("int64", "int32")


class Case(NamedTuple):
    """One kernel.

    Attributes:
        name: its name in the table.
        function: plain Python and NumPy. Its writes into its arguments must not change the time of later calls.
        arguments: makes the arguments of one call, from the number of elements of the largest array and a dtype.
        tuned: explicit loops over the same arguments, for numba; None if numba cannot compile such code.
        sizes: bytes of the largest array, by the name of the size.
        dtypes: names of the dtypes that are measured.
        passes: how often the largest array must pass through memory if only inputs and results are stored; 0 for
            kernels that are not limited by memory alone.
        again: additional passes, because NumPy reports errors before it stores: operands of in-place statements are
            read a second time. Shown separately.
        loops: the parts that NumPy's own loops compute, once for each element of the largest array. Each is a ufunc,
            or a function of an operand and the destination, with the range of the operand. Kernels call these loops.
        limited: another bound that takes longer than memory, if there is one.
        expression: the same work for numexpr, if it is a single expression.
        fastmath: whether the tuned loops may add up in any order.
        why_not: the reason why a result may have other bits than NumPy's.
    """

    name: str
    function: Callable[..., Any]
    arguments: Callable[[int, np.dtype], Tuple[Any, ...]]
    tuned: Optional[Callable[..., Any]] = None
    sizes: Dict[str, int] = SIZES
    dtypes: Tuple[str, ...] = FLOATS
    passes: int = 0
    again: int = 0
    loops: Tuple[Tuple[Callable[..., Any], float, float], ...] = ()
    limited: str = ""
    expression: str = ""
    fastmath: bool = False
    why_not: str = ""

    def make(self, size: int, dtype: str) -> Tuple[Any, ...]:
        """The arguments of one call, the same each time."""
        kind = np.dtype(dtype)
        return self.arguments(max(size // kind.itemsize, 16), kind)


def noise(dtype: np.dtype, *shape: int, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers, the same each time."""
    return np.random.RandomState(seed).standard_normal(shape).astype(dtype)


def uniform(dtype: np.dtype, *shape: int, low: float = 0.0, high: float = 1.0, seed: int = 0) -> np.ndarray:
    """Evenly distributed numbers; of an integer dtype, those from ``low`` to below ``high``."""
    source = np.random.RandomState(seed)
    if dtype.kind == "i":
        return source.randint(int(low), int(high), shape).astype(dtype)
    return source.uniform(low, high, shape).astype(dtype)


def vectors(count: int, low: float = -1.0, high: float = 1.0) -> Callable[[int, np.dtype], Tuple[Any, ...]]:
    """Arguments that are vectors of numbers from a range."""
    return lambda n, dtype: tuple(uniform(dtype, n, low=low, high=high, seed=k) for k in range(count))


def side(n: int, dimensions: int = 2) -> int:
    """The edge of a square or cube of about n elements."""
    return max(4, int(round(n ** (1.0 / dimensions))))


def grids(count: int, *more: Any, dimensions: int = 2) -> Callable[[int, np.dtype], Tuple[Any, ...]]:
    """Arguments that are squares or cubes of numbers between 0 and 1, and then ``more``."""
    return lambda n, dtype: tuple(uniform(dtype, *(side(n, dimensions),) * dimensions, seed=k)
                                  for k in range(count)) + more
