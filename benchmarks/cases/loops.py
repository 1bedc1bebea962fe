"""Benchmarks: dynamic programming and loops over single elements, of integers and floats."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import INTEGERS, LOOPS, Case, grids, noise, side, uniform

BITS = {"L1": 6 << 10, "L2/L3": 96 << 10, "memory": 1 << 20}
"""Bytes of tables if each element takes Python a microsecond or more."""


def smooth_sum(x, weight):
    total = 0.0
    state = 0.0
    for i in range(x.size):
        state = weight * state + (1.0 - weight) * x[i]
        if state > 0.0:
            total += state
    return total


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


def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[len(a), len(b)]


def edit_distance_tuned(a, b):
    row = np.arange(b.size + 1)
    for i in range(1, a.size + 1):
        corner, row[0] = row[0], i
        for j in range(1, b.size + 1):
            above = row[j]
            row[j] = corner if a[i - 1] == b[j - 1] else 1 + min(above, row[j - 1], corner)
            corner = above
    return row[b.size]


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=values.dtype)
    for i in range(len(weights)):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[:-w] + values[i])
    return best


def knapsack_tuned(weights, values, capacity):
    best = np.zeros(capacity + 1, values.dtype)
    for i in range(weights.size):
        w, v = weights[i], values[i]
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best


def floyd_warshall(d):
    d = d.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k:k + 1] + d[k])
    return d


def floyd_warshall_tuned(d):
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            through = d[i, k]
            for j in range(n):
                d[i, j] = min(d[i, j], through + d[k, j])
    return d


def seidel(a):
    n = a.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0
    return a


def kadane(x):
    best = current = x[0]
    for value in x[1:]:
        current = max(value, current + value)
        best = max(best, current)
    return best


def kadane_tuned(x):
    best = current = x[0]
    for i in range(1, x.size):
        current = max(x[i], current + x[i])
        best = max(best, current)
    return best


def biquad(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    y[0], y[1] = x[0], x[1]
    for n in range(2, len(x)):
        y[n] = b0 * x[n] + b1 * x[n - 1] + b2 * x[n - 2] - a1 * y[n - 1] - a2 * y[n - 2]
    return y


def bubbles(x):
    x = x.copy()
    for end in range(len(x) - 1, 0, -1):
        for i in range(end):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
    return x


def best_path(cost):
    total = cost.copy()
    for i in range(1, total.shape[0]):
        above = total[i - 1]
        total[i, 1:-1] += np.minimum(above[1:-1], np.minimum(above[:-2], above[2:]))
        total[i, 0] += min(above[0], above[1])
        total[i, -1] += min(above[-1], above[-2])
    return total[-1].min()


def best_path_tuned(cost):
    rows, columns = cost.shape
    above, row = cost[0].copy(), cost[0].copy()
    for i in range(1, rows):
        row[0] = cost[i, 0] + min(above[0], above[1])
        for j in range(1, columns - 1):
            row[j] = cost[i, j] + min(above[j], min(above[j - 1], above[j + 1]))
        row[columns - 1] = cost[i, columns - 1] + min(above[columns - 1], above[columns - 2])
        above, row = row, above
    return above.min()


def metropolis(rng, count, step):
    x, total, accepted = 0.0, 0.0, 0
    for _ in range(count):
        new = x + rng.normal(0.0, step)
        if rng.random() < math.exp(0.5 * (x * x - new * new)):
            x, accepted = new, accepted + 1
        total += x
    return total / count, accepted


def _texts(n, dtype):
    return uniform(dtype, side(n), low=0, high=4), uniform(dtype, side(n), low=0, high=4, seed=1)


def _knapsack(n, dtype):
    return uniform(np.dtype(np.int64), 30, low=1, high=n // 2), uniform(dtype, 30, low=1, high=100), n


CASES = (
    Case("smoothed sum", smooth_sum, lambda n, d: (noise(d, n), 0.9), smooth_sum, sizes=LOOPS),
    Case("escape times", escape, lambda n, d: (side(n), side(n), 50), escape, dtypes=("float64",), sizes=BITS),
    Case("edit distance", edit_distance, _texts, edit_distance_tuned, dtypes=INTEGERS, sizes=BITS),
    Case("knapsack of 30 things", knapsack, _knapsack, knapsack_tuned, dtypes=("int64", "float32")),
    Case("shortest paths between all nodes", floyd_warshall, grids(1), floyd_warshall_tuned, sizes=LOOPS),
    Case("Gauss-Seidel sweep", seidel, grids(1), seidel, sizes=LOOPS),
    Case("largest sum of a stretch", kadane, lambda n, d: (uniform(d, n, low=-50, high=50),), kadane_tuned,
         dtypes=("int64", "float64"), sizes=LOOPS),
    Case("recursive filter", biquad, lambda n, d: (noise(d, n), 0.2, 0.4, 0.2, -0.6, 0.3), biquad, sizes=LOOPS),
    Case("bubble sort", bubbles, lambda n, d: (uniform(d, 4 * side(n), low=0, high=1000),), bubbles,
         dtypes=("int64", "float64"), sizes={"L1": 2 << 10, "L2/L3": 8 << 10, "memory": 64 << 10}),
    Case("cheapest path through a grid", best_path, grids(1), best_path_tuned),
    Case("Metropolis chain", metropolis, lambda n, d: (np.random.default_rng(1), n, 0.8),
         dtypes=("float64",), sizes=BITS),
)
