"""The kernels that are measured: plain NumPy as people write it, and the same work tuned by hand for numba.

Each case is a function that returns its result, a function that makes its arguments, and, where it says something,
a version with explicit loops for ``numba.njit``. Kernels that write their arguments get fresh ones for the check only:
what they do does not depend on the values.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

import numpy as np


class Case(NamedTuple):
    """One kernel.

    Attributes:
        function: plain Python and NumPy.
        arguments: makes the arguments of one call.
        tuned: explicit loops over the same arguments, for numba; None where numba can do nothing with such code.
    """

    function: Callable[..., Any]
    arguments: Callable[[], Tuple[Any, ...]]
    tuned: Optional[Callable[..., Any]]


def chain(x, y):
    return np.sqrt(x * x + y * y) * 0.5 + x - y / 3.0


def chain_tuned(x, y):
    result = np.empty_like(x)
    for i in range(x.size):
        result[i] = math.sqrt(x[i] * x[i] + y[i] * y[i]) * 0.5 + x[i] - y[i] / 3.0
    return result


def heat(plate, steps):
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
    return plate


def heat_tuned(plate, steps):
    rows, columns = plate.shape
    new = plate.copy()
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]
                new[i, j] = plate[i, j] + 0.2 * (around - 4.0 * plate[i, j])
        plate[1:-1, 1:-1] = new[1:-1, 1:-1]
    return plate


def heat_with_report(plate, steps, reports):
    for step in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
        if step % 10 == 0:
            reports.update(step=step, middle=float(plate[50, 50]))
    return plate


def escape(width, height, limit):
    counts = np.zeros((height, width))
    for j in range(height):
        for i in range(width):
            a, b = 3.0 * i / width - 2.0, 2.0 * j / height - 1.0
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < limit:
                x, y = x * x - y * y + a, 2.0 * x * y + b
                n += 1
            counts[j, i] = n
    return counts


def smooth_sum(x, weight):
    total = 0.0
    state = 0.0
    for i in range(x.size):
        state = weight * state + (1.0 - weight) * x[i]
        if state > 0.0:
            total += state
    return total


def distances(points):
    result = np.empty((points.shape[0], points.shape[0]))
    for i in range(points.shape[0]):
        difference = points - points[i]
        result[i] = np.sqrt((difference * difference).sum(axis=1))
    return result


def distances_tuned(points):
    count, dimensions = points.shape
    result = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            total = 0.0
            for k in range(dimensions):
                total += (points[j, k] - points[i, k]) ** 2
            result[i, j] = math.sqrt(total)
    return result


def logistic(x, w):
    return 1.0 / (1.0 + np.exp(-(x * w)))


def logistic_tuned(x, w):
    result = np.empty_like(x)
    for i in range(x.size):
        result[i] = 1.0 / (1.0 + math.exp(-(x[i] * w[i])))
    return result


def standardise(x):
    centred = x - x.mean()
    return centred / np.sqrt((centred * centred).sum() / x.size)


def standardise_tuned(x):
    mean = 0.0
    for i in range(x.size):
        mean += x[i]
    mean /= x.size
    square = 0.0
    for i in range(x.size):
        square += (x[i] - mean) ** 2
    scale = math.sqrt(square / x.size)
    result = np.empty_like(x)
    for i in range(x.size):
        result[i] = (x[i] - mean) / scale
    return result


def small(x, y):
    return x * 2.0 + y


def _noise(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).standard_normal(shape)


CASES: Dict[str, Case] = {
    "x * 2.0 + y, 3 elements": Case(small, lambda: (_noise(3), _noise(3)), small),
    "elementwise chain, 1e6 elements": Case(chain, lambda: (_noise(1000000), _noise(1000000)), chain_tuned),
    "logistic function, 1e5 elements": Case(logistic, lambda: (_noise(100000), _noise(100000)), logistic_tuned),
    "standardise, 1e5 elements": Case(standardise, lambda: (_noise(100000),), standardise_tuned),
    "heat equation, 300 x 300, 20 steps": Case(heat, lambda: (_noise(300, 300), 20), heat_tuned),
    "the same with a report each 10 steps": Case(heat_with_report, lambda: (_noise(300, 300), 20, {}), None),
    "distances of 300 points": Case(distances, lambda: (_noise(300, 3),), distances_tuned),
    "escape times, 60 x 40": Case(escape, lambda: (60, 40, 100), escape),
    "smoothed sum in a loop, 1e5 elements": Case(smooth_sum, lambda: (_noise(100000), 0.9), smooth_sum),
}
