"""Benchmarks: reshapes and strides of transforms, such as butterflies, wavelets, blocks and transposes."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, grids, noise, side, uniform


def fft(re, im):
    n = len(re)
    re, im = re.reshape(n, 1), im.reshape(n, 1)
    while re.shape[0] > 1:
        half, done = re.shape[0] // 2, re.shape[1]
        angle = -np.pi * np.arange(done) / done
        c, s = np.cos(angle).astype(re.dtype), np.sin(angle).astype(re.dtype)
        even_re, even_im = re[:half], im[:half]
        odd_re = re[half:] * c - im[half:] * s
        odd_im = re[half:] * s + im[half:] * c
        re = np.hstack((even_re + odd_re, even_re - odd_re))
        im = np.hstack((even_im + odd_im, even_im - odd_im))
    return re.ravel(), im.ravel()


def fft_tuned(re, im):
    n = re.size
    a, b, c, d = re.copy(), im.copy(), np.empty_like(re), np.empty_like(im)
    half, done = n // 2, 1
    while half >= 1:
        for k in range(done):
            angle = -math.pi * k / done
            w, v = re.dtype.type(math.cos(angle)), re.dtype.type(math.sin(angle))
            for j in range(half):
                p, q = j * done + k, (j + half) * done + k
                x, y = a[q] * w - b[q] * v, a[q] * v + b[q] * w
                o = 2 * j * done + k
                c[o], d[o] = a[p] + x, b[p] + y
                c[o + done], d[o + done] = a[p] - x, b[p] - y
        a, b, c, d = c, d, a, b
        half, done = half // 2, done * 2
    return a, b


def haar(x, levels):
    result = x.copy()
    n = len(x)
    for _ in range(levels):
        pairs = result[:n].reshape(n // 2, 2)
        low = (pairs[:, 0] + pairs[:, 1]) * 0.5
        high = (pairs[:, 0] - pairs[:, 1]) * 0.5
        n //= 2
        result[:n] = low
        result[n:2 * n] = high
    return result


def haar_tuned(x, levels):
    result, scratch, n, half = x.copy(), x.copy(), x.size, x.dtype.type(0.5)
    for _ in range(levels):
        n //= 2
        for i in range(n):
            scratch[i] = (result[2 * i] + result[2 * i + 1]) * half
            scratch[n + i] = (result[2 * i] - result[2 * i + 1]) * half
        result[:2 * n] = scratch[:2 * n]
    return result


def hadamard(x):
    x = x.copy()
    h = 1
    while h < len(x):
        y = x.reshape(-1, 2, h)
        a = y[:, 0, :] + y[:, 1, :]
        b = y[:, 0, :] - y[:, 1, :]
        y[:, 0, :] = a
        y[:, 1, :] = b
        h *= 2
    return x


def hadamard_tuned(x):
    x, h = x.copy(), 1
    while h < x.size:
        for i in range(0, x.size, 2 * h):
            for j in range(i, i + h):
                a, b = x[j], x[j + h]
                x[j], x[j + h] = a + b, a - b
        h *= 2
    return x


def symmetric(a, scale):
    return (a + a.T) * 0.5 - scale[:, None] * scale


def symmetric_tuned(a, scale):
    n, half, result = a.shape[0], a.dtype.type(0.5), np.empty_like(a)
    for top in range(0, n, 32):
        for left in range(0, n, 32):
            for i in range(top, min(top + 32, n)):
                for j in range(left, min(left + 32, n)):
                    result[i, j] = (a[i, j] + a[j, i]) * half - scale[i] * scale[j]
    return result


def pooled(x):
    rows, columns = x.shape
    return x.reshape(rows // 4, 4, columns // 4, 4).mean(axis=(1, 3))


def pooled_tuned(x):
    rows, columns = x.shape[0] // 4, x.shape[1] // 4
    result, count = np.zeros((rows, columns), x.dtype), x.dtype.type(16.0)
    for i in range(rows):
        for j in range(columns):
            total = x.dtype.type(0.0)
            for k in range(4):
                for m in range(4):
                    total += x[4 * i + k, 4 * j + m]
            result[i, j] = total / count
    return result


def interleave(a, b):
    result = np.empty(2 * len(a), dtype=a.dtype)
    result[::2] = a + b
    result[1::2] = a - b
    return result[::-1] * 0.5


def interleave_tuned(a, b):
    n, half = a.size, a.dtype.type(0.5)
    result = np.empty(2 * n, a.dtype)
    for i in range(n):
        result[2 * (n - 1 - i) + 1] = (a[i] + b[i]) * half
        result[2 * (n - 1 - i)] = (a[i] - b[i]) * half
    return result


def _power(n):
    return 1 << (n.bit_length() - 1)


def _fours(n, dtype):
    edge = side(n) // 4 * 4
    return (uniform(dtype, edge, edge),)


CASES = (
    Case("FFT by reshapes", fft, lambda n, d: (noise(d, _power(n)), noise(d, _power(n), seed=1)), fft_tuned,
         sizes={"L1": 6 << 10, "L2/L3": 384 << 10, "memory": 8 << 20}),
    Case("Haar wavelet, 3 levels", haar, lambda n, d: (noise(d, n // 8 * 8), 3), haar_tuned),
    Case("Walsh-Hadamard", hadamard, lambda n, d: (noise(d, _power(n)),), hadamard_tuned,
         sizes={"L1": 6 << 10, "L2/L3": 384 << 10, "memory": 8 << 20}),
    Case("symmetric part less an outer product", symmetric, lambda n, d: grids(1)(n, d) + (uniform(d, side(n)),),
         symmetric_tuned, passes=2),
    Case("means of 4 x 4 blocks", pooled, _fours, pooled_tuned, fastmath=True),
    Case("interleaved sums, reversed", interleave, lambda n, d: (uniform(d, n), uniform(d, n, seed=1)),
         interleave_tuned, passes=4),
)
