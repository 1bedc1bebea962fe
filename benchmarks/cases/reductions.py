"""Benchmarks: reductions and statistics."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, noise, side, vectors


def standardise(x):
    centred = x - x.mean()
    return centred / np.sqrt((centred * centred).sum() / x.size)


def standardise_tuned(x):
    mean = square = x.dtype.type(0.0)
    for i in range(x.size):
        mean += x[i]
    mean /= x.dtype.type(x.size)
    for i in range(x.size):
        square += (x[i] - mean) * (x[i] - mean)
    scale, result = x.dtype.type(math.sqrt(square / x.size)), np.empty_like(x)
    for i in range(x.size):
        result[i] = (x[i] - mean) / scale
    return result


def moments(x):
    mean = np.mean(x)
    d = x - mean
    m2 = np.mean(d ** 2)
    m3 = np.mean(d ** 3)
    m4 = np.mean(d ** 4)
    return mean, m2, m3 / m2 ** 1.5, m4 / m2 ** 2 - 3.0


def moments_tuned(x):
    mean = x.dtype.type(0.0)
    for i in range(x.size):
        mean += x[i]
    mean /= x.dtype.type(x.size)
    a = b = c = x.dtype.type(0.0)
    for i in range(x.size):
        d = x[i] - mean
        a += d * d
        b += d * d * d
        c += d * d * d * d
    a, b, c = a / x.size, b / x.size, c / x.size
    return mean, a, b / a ** 1.5, c / a ** 2 - 3.0


def weighted(x, w):
    total = w.sum()
    mean = (w * x).sum() / total
    return mean, np.sqrt((w * (x - mean) ** 2).sum() / total)


def weighted_tuned(x, w):
    total = first = square = x.dtype.type(0.0)
    for i in range(x.size):
        total += w[i]
        first += w[i] * x[i]
    mean = first / total
    for i in range(x.size):
        square += w[i] * (x[i] - mean) * (x[i] - mean)
    return mean, math.sqrt(square / total)


def r_squared(y, p):
    residual = np.sum((y - p) ** 2)
    spread = np.sum((y - np.mean(y)) ** 2)
    return 1.0 - residual / spread


def r_squared_tuned(y, p):
    mean = residual = spread = y.dtype.type(0.0)
    for i in range(y.size):
        mean += y[i]
        residual += (y[i] - p[i]) * (y[i] - p[i])
    mean /= y.dtype.type(y.size)
    for i in range(y.size):
        spread += (y[i] - mean) * (y[i] - mean)
    return 1.0 - residual / spread


def covariance(x):
    centred = x - x.mean(axis=0)
    return centred.T @ centred / (x.shape[0] - 1)


def covariance_tuned(x):
    rows, columns = x.shape
    centred, mean = np.empty_like(x), np.zeros(columns, x.dtype)
    for i in range(rows):
        for j in range(columns):
            mean[j] += x[i, j]
    mean /= x.dtype.type(rows)
    for i in range(rows):
        for j in range(columns):
            centred[i, j] = x[i, j] - mean[j]
    return np.dot(centred.T, centred) / x.dtype.type(rows - 1)


def rescale(x):
    low, high = x.min(axis=0), x.max(axis=0)
    return (x - low) / (high - low)


def rescale_tuned(x):
    rows, columns = x.shape
    low, high, result = x[0].copy(), x[0].copy(), np.empty_like(x)
    for i in range(1, rows):
        for j in range(columns):
            low[j] = min(low[j], x[i, j])
            high[j] = max(high[j], x[i, j])
    for i in range(rows):
        for j in range(columns):
            result[i, j] = (x[i, j] - low[j]) / (high[j] - low[j])
    return result


def moving_average(x, width):
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1:] / width


def moving_average_tuned(x, width):
    n, total = x.dtype.type(width), np.cumsum(x)
    result = np.empty(x.size - width + 1, x.dtype)
    result[0] = total[width - 1] / n
    for i in range(1, result.size):
        result[i] = (total[i + width - 1] - total[i - 1]) / n
    return result


def row_norms(x):
    return np.sqrt((x * x).sum(axis=1))


def row_norms_tuned(x):
    rows, columns = x.shape
    result = np.empty(rows, x.dtype)
    for i in range(rows):
        total = x.dtype.type(0.0)
        for j in range(columns):
            total += x[i, j] * x[i, j]
        result[i] = math.sqrt(total)
    return result


def outside(x, low, high):
    return np.count_nonzero((x < low) | (x > high)) / x.size, np.abs(x).max()


def outside_tuned(x, low, high):
    a, b, most, count = x.dtype.type(low), x.dtype.type(high), x.dtype.type(0.0), 0
    for i in range(x.size):
        count += (x[i] < a) | (x[i] > b)
        most = max(most, abs(x[i]))
    return count / x.size, most


def _table(n, dtype):
    return (noise(dtype, n // 16, 16),)


def _square(n, dtype):
    return (noise(dtype, side(n), side(n)),)


CASES = (
    Case("standardise", standardise, vectors(1), standardise_tuned, fastmath=True),
    Case("mean, variance, skewness, kurtosis", moments, lambda n, d: (noise(d, n),), moments_tuned, fastmath=True),
    Case("weighted mean and deviation", weighted, vectors(2, 0.1, 1.0), weighted_tuned, fastmath=True),
    Case("coefficient of determination", r_squared, vectors(2), r_squared_tuned, fastmath=True),
    Case("covariance of 16 columns", covariance, _table, covariance_tuned),
    Case("columns rescaled to 0...1", rescale, _square, rescale_tuned),
    Case("moving average by cumsum", moving_average, lambda n, d: (noise(d, n), 8), moving_average_tuned),
    Case("norms of rows", row_norms, _square, row_norms_tuned, fastmath=True),
    Case("share outside bounds, largest", outside, lambda n, d: (noise(d, n), -1.0, 1.5), outside_tuned),
)
