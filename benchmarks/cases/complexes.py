"""Benchmarks: complex numbers, in loops over Python's numbers and array elements, and in whole arrays."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import LOOPS, Case, noise, side
from benchmarks.cases.loops import BITS

DOUBLE = ("float64",)


def mandelbrot(width, height, limit):
    counts = np.zeros((height, width))
    for j in range(height):
        for i in range(width):
            c = complex(3.0 * i / width - 2.0, 2.0 * j / height - 1.0)
            z = 0j
            n = 0
            while abs(z) <= 2.0 and n < limit:
                z = z * z + c
                n += 1
            counts[j, i] = n
    return counts


def julia(points, c, limit):
    counts = np.zeros(len(points))
    for i in range(len(points)):
        z = points[i]
        n = 0
        while n < limit and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            n += 1
        counts[i] = n
    return counts


def roots(starts, steps):
    found = starts.copy()
    for i in range(len(starts)):
        z = complex(starts[i])
        for _ in range(steps):
            z = z - (z * z * z - 1) / (3 * z * z)
        found[i] = z
    return found


def butterflies(x, w):
    result = np.empty_like(x)
    half = len(x) // 2
    for k in range(half):
        turned = w[k] * x[k + half]
        result[k] = x[k] + turned
        result[k + half] = x[k] - turned
    return result


def coherence(x, y):
    cross = x * np.conj(y)
    return abs(cross) / np.sqrt((x * x.conj()).real * (y * y.conj()).real)


def coherence_tuned(x, y):
    result = np.empty(x.size)
    for i in range(x.size):
        a, b = x[i], y[i]
        sizes = (a.real * a.real + a.imag * a.imag) * (b.real * b.real + b.imag * b.imag)
        result[i] = abs(a * b.conjugate()) / np.sqrt(sizes)
    return result


def spectrum(n, dtype, seed=0):
    """Complex noise of the same size in bytes as n numbers of a dtype."""
    return noise(dtype, n // 2, seed=seed) + 1j * noise(dtype, n // 2, seed=seed + 1)


def _pair(n, dtype):
    return spectrum(n, dtype), spectrum(n, dtype, 2)


CASES = (
    Case("Mandelbrot set", mandelbrot, lambda n, d: (side(n), side(n), 50), mandelbrot, dtypes=DOUBLE, sizes=BITS),
    Case("Julia set", julia, lambda n, d: (spectrum(n, d), -0.4 + 0.6j, 50), julia, dtypes=DOUBLE, sizes=BITS),
    Case("roots by Newton's method", roots, lambda n, d: (spectrum(n, d), 20), roots, dtypes=DOUBLE, sizes=BITS),
    Case("butterflies", butterflies, _pair, butterflies, dtypes=DOUBLE, sizes=LOOPS),
    Case("coherence of two spectra", coherence, _pair, coherence_tuned, dtypes=DOUBLE),
)
