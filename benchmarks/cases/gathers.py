"""Benchmarks: masks, gathers and scatters."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, noise, uniform, vectors

WORD = np.dtype(np.int64)


def lookup(table, index, scale):
    return table[index] * scale + 0.5


def lookup_tuned(table, index, scale):
    k, half, result = table.dtype.type(scale), table.dtype.type(0.5), np.empty(index.size, table.dtype)
    for i in range(index.size):
        result[i] = table[index[i]] * k + half
    return result


def interpolate(table, x):
    at = x * (len(table) - 1)
    low = at.astype(np.int64)
    low[low > len(table) - 2] = len(table) - 2
    part = at - low
    return table[low] * (1.0 - part) + table[low + 1] * part


def interpolate_tuned(table, x):
    result = np.empty(x.size, np.float64)
    for i in range(x.size):
        at = x[i] * x.dtype.type(table.size - 1)
        low = min(int(at), table.size - 2)
        part = at - low
        result[i] = table[low] * (1.0 - part) + table[low + 1] * part
    return result


def repair(x):
    y = x.copy()
    bad = y < -1.0
    y[bad] = 0.0
    y[~bad] = np.sqrt(y[~bad] + 1.0)
    return y


def repair_tuned(x):
    one, zero, y = x.dtype.type(1.0), x.dtype.type(0.0), np.empty_like(x)
    for i in range(x.size):
        y[i] = zero if x[i] < -one else math.sqrt(x[i] + one)
    return y


def histogram(values, weights, bins):
    counts = np.zeros(bins, dtype=weights.dtype)
    np.add.at(counts, values, weights)
    return counts / counts.sum()


def histogram_tuned(values, weights, bins):
    counts = np.zeros(bins, weights.dtype)
    for i in range(values.size):
        counts[values[i]] += weights[i]
    return counts / counts.sum()


def crossings(x):
    return np.sum(np.diff(np.sign(x)) != 0)


def crossings_tuned(x):
    count = 0
    for i in range(x.size - 1):
        count += np.sign(x[i + 1]) != np.sign(x[i])
    return count


def piecewise(x):
    return np.where(x < -1.0, -x - 0.5, np.where(x > 1.0, x - 0.5, 0.5 * x * x))


def piecewise_tuned(x):
    t, result = x.dtype.type, np.empty_like(x)
    one, half = t(1.0), t(0.5)
    for i in range(x.size):
        v = x[i]
        result[i] = -v - half if v < -one else v - half if v > one else half * v * v
    return result


def tail(x, limit):
    chosen = x[x > limit]
    return chosen.sum() / max(len(chosen), 1), len(chosen)


def tail_tuned(x, limit):
    total, count = x.dtype.type(0.0), 0
    for i in range(x.size):
        if x[i] > limit:
            total += x[i]
            count += 1
    return total / max(count, 1), count


def mirrored(x, width):
    padded = np.concatenate((x[width:0:-1], x, x[-2:-width - 2:-1]))
    return padded[2 * width:] - 2.0 * np.roll(padded, width)[2 * width:] + padded[:-2 * width]


def mirrored_tuned(x, width):
    n, two = x.size, x.dtype.type(2.0)
    result = np.empty(n, x.dtype)
    padded = np.concatenate((x[width:0:-1], x, x[-2:-width - 2:-1]))
    for i in range(n):
        result[i] = padded[i + 2 * width] - two * padded[i + width] + padded[i]
    return result


def ranks(x):
    order = np.argsort(x, kind="stable")
    rank = np.empty(len(x), dtype=np.int64)
    rank[order] = np.arange(len(x))
    return rank / (len(x) - 1.0)


def ranks_tuned(x):
    order, rank = np.argsort(x, kind="mergesort"), np.empty(x.size, np.float64)
    for i in range(x.size):
        rank[order[i]] = i / (x.size - 1.0)
    return rank


CASES = (
    Case("table looked up", lookup, lambda n, d: (noise(d, 1000), uniform(WORD, n, high=1000), 2.0), lookup_tuned),
    Case("linear interpolation in a table", interpolate, lambda n, d: (noise(d, 1000), uniform(d, n)),
         interpolate_tuned),
    Case("masked repair", repair, lambda n, d: (noise(d, n),), repair_tuned),
    Case("histogram by add.at", histogram, lambda n, d: (uniform(WORD, n, high=64), uniform(d, n), 64),
         histogram_tuned),
    Case("zero crossings", crossings, lambda n, d: (noise(d, n),), crossings_tuned),
    Case("Huber function by where", piecewise, vectors(1, -3.0, 3.0), piecewise_tuned, passes=2,
         expression="where(x < -1.0, -x - 0.5, where(x > 1.0, x - 0.5, 0.5 * x * x))"),
    Case("mean of the tail", tail, lambda n, d: (noise(d, n), 1.0), tail_tuned),
    Case("second difference with mirrored ends", mirrored, lambda n, d: (noise(d, n), 3), mirrored_tuned),
    Case("ranks", ranks, lambda n, d: (noise(d, n),), ranks_tuned, sizes={"L1": 6 << 10, "L2/L3": 384 << 10,
                                                                        "memory": 8 << 20}),
)
