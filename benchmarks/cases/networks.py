"""Benchmarks: layers of neural networks."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, noise, side


def dense(x, w, b):
    return np.maximum(x @ w + b, 0.0)


def dense_tuned(x, w, b):
    y, zero = np.dot(x, w), x.dtype.type(0.0)
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = max(y[i, j] + b[j], zero)
    return y


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_tuned(x):
    rows, columns = x.shape
    result = np.empty_like(x)
    for i in range(rows):
        most, total = x[i, 0], x.dtype.type(0.0)
        for j in range(columns):
            most = max(most, x[i, j])
        for j in range(columns):
            result[i, j] = math.exp(x[i, j] - most)
            total += result[i, j]
        for j in range(columns):
            result[i, j] /= total
    return result


def layer_norm(x, gamma, beta):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + 1e-5) + beta


def layer_norm_tuned(x, gamma, beta):
    rows, columns = x.shape
    t, result = x.dtype.type, np.empty_like(x)
    count, small = t(columns), t(1e-5)
    for i in range(rows):
        mean = var = t(0.0)
        for j in range(columns):
            mean += x[i, j]
        mean /= count
        for j in range(columns):
            var += (x[i, j] - mean) * (x[i, j] - mean)
        root = t(math.sqrt(var / count + small))
        for j in range(columns):
            result[i, j] = gamma[j] * (x[i, j] - mean) / root + beta[j]
    return result


def batch_norm(x, gamma, beta, mean, var):
    return (x - mean) / np.sqrt(var + 1e-5) * gamma + beta


def batch_norm_tuned(x, gamma, beta, mean, var):
    rows, columns = x.shape
    result, root, small = np.empty_like(x), np.empty_like(var), x.dtype.type(1e-5)
    for j in range(columns):
        root[j] = math.sqrt(var[j] + small)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = (x[i, j] - mean[j]) / root[j] * gamma[j] + beta[j]
    return result


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def gelu_tuned(x):
    rows, columns = x.shape
    t, result = x.dtype.type, np.empty_like(x)
    half, one, a, b = t(0.5), t(1.0), t(0.7978845608), t(0.044715)
    for i in range(rows):
        for j in range(columns):
            v = x[i, j]
            result[i, j] = half * v * (one + math.tanh(a * (v + b * (v * v * v))))
    return result


def lstm(gates, cell):
    n = cell.shape[1]
    i = 1.0 / (1.0 + np.exp(-gates[:, :n]))
    f = 1.0 / (1.0 + np.exp(-gates[:, n:2 * n]))
    o = 1.0 / (1.0 + np.exp(-gates[:, 2 * n:3 * n]))
    g = np.tanh(gates[:, 3 * n:])
    cell = f * cell + i * g
    return o * np.tanh(cell), cell


def lstm_tuned(gates, cell):
    rows, n = cell.shape
    one, hidden, new = cell.dtype.type(1.0), np.empty_like(cell), np.empty_like(cell)
    for r in range(rows):
        for k in range(n):
            i = one / (one + math.exp(-gates[r, k]))
            f = one / (one + math.exp(-gates[r, n + k]))
            o = one / (one + math.exp(-gates[r, 2 * n + k]))
            c = f * cell[r, k] + i * math.tanh(gates[r, 3 * n + k])
            new[r, k], hidden[r, k] = c, o * math.tanh(c)
    return hidden, new


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores = np.exp(scores - scores.max(axis=1)[:, None])
    return (scores / scores.sum(axis=1)[:, None]) @ v


def attention_tuned(q, k, v):
    scores, scale = np.dot(q, k.T), math.sqrt(q.shape[1])
    rows, columns = scores.shape
    weights = np.empty((rows, columns), np.float64)
    for i in range(rows):
        most, total = -np.inf, 0.0
        for j in range(columns):
            weights[i, j] = scores[i, j] / scale
            most = max(most, weights[i, j])
        for j in range(columns):
            weights[i, j] = math.exp(weights[i, j] - most)
            total += weights[i, j]
        for j in range(columns):
            weights[i, j] /= total
    return np.dot(weights, v.astype(np.float64))


def adam(w, g, m, v, rate, t):
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g ** 2
    w -= rate * (m / (1.0 - 0.9 ** t)) / (np.sqrt(v / (1.0 - 0.999 ** t)) + 1e-8)
    return w


def adam_tuned(w, g, m, v, rate, t):
    k = w.dtype.type
    a, b, c, d, r, tiny = k(0.9), k(0.1), k(0.999), k(0.001), k(rate), k(1e-8)
    p, q = k(1.0 - 0.9 ** t), k(1.0 - 0.999 ** t)
    for i in range(w.size):
        m[i] = m[i] * a + b * g[i]
        v[i] = v[i] * c + d * (g[i] * g[i])
        w[i] -= r * (m[i] / p) / (math.sqrt(v[i] / q) + tiny)
    return w


def _square(n, dtype):
    return (noise(dtype, side(n), side(n)),)


def _norm(n, dtype):
    edge = side(n)
    return noise(dtype, edge, edge), noise(dtype, edge), noise(dtype, edge, seed=1)


CASES = (
    Case("dense layer with ReLU", dense, lambda n, d: (noise(d, n // 64, 64), noise(d, 64, 64, seed=1), noise(d, 64)),
         dense_tuned),
    Case("softmax of rows", softmax, _square, softmax_tuned, fastmath=True),
    Case("layer normalisation", layer_norm, _norm, layer_norm_tuned, fastmath=True),
    Case("batch normalisation", batch_norm,
         lambda n, d: _norm(n, d) + (noise(d, side(n), seed=2), noise(d, side(n), seed=3) ** 2),
         batch_norm_tuned, passes=2),
    Case("GELU", gelu, _square, gelu_tuned, passes=2, limited="the bits of x ** 3",
         expression="0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x ** 3)))"),
    Case("LSTM gates", lstm, lambda n, d: (noise(d, n // 128, 128), noise(d, n // 128, 32, seed=1)), lstm_tuned),
    Case("attention", attention, lambda n, d: tuple(noise(d, side(n), 32, seed=k) for k in range(3)),
         attention_tuned),
    Case("Adam step, in place", adam,
         lambda n, d: (noise(d, n), noise(d, n, seed=1), np.zeros(n, d), np.zeros(n, d), 0.001, 10), adam_tuned,
         passes=7, again=4),
)
