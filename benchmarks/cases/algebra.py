"""Benchmarks: linear algebra by BLAS and LAPACK, mixed with elementwise operations."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import Case, noise, side


def gemver(a, u1, v1, u2, v2, y, z, alpha, beta):
    b = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * b.T @ y + z
    return alpha * b @ x


def gemver_tuned(a, u1, v1, u2, v2, y, z, alpha, beta):
    n, k, m = a.shape[0], a.dtype.type(alpha), a.dtype.type(beta)
    b = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            b[i, j] = a[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    return k * np.dot(b, m * np.dot(b.T, y) + z)


def least_squares(x, y, w, rate, steps):
    for _ in range(steps):
        w = w - rate * (x.T @ (x @ w - y)) / len(y)
    return w


def least_squares_tuned(x, y, w, rate, steps):
    k = x.dtype.type(rate / len(y))
    for _ in range(steps):
        w = w - k * np.dot(x.T, np.dot(x, w) - y)
    return w


def power_iteration(a, v, steps):
    for _ in range(steps):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v, v @ (a @ v)


def power_iteration_tuned(a, v, steps):
    for _ in range(steps):
        v = np.dot(a, v)
        v = v / a.dtype.type(np.linalg.norm(v))
    return v, np.dot(v, np.dot(a, v))


def conjugate_gradient(a, b, steps):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(steps):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


def conjugate_gradient_tuned(a, b, steps):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = np.dot(r, r)
    for _ in range(steps):
        ap = np.dot(a, p)
        alpha = rs / np.dot(p, ap)
        for i in range(b.size):
            x[i] += alpha * p[i]
            r[i] -= alpha * ap[i]
        new = np.dot(r, r)
        k = new / rs
        for i in range(b.size):
            p[i] = r[i] + k * p[i]
        rs = new
    return x


def ridge(x, y, strength):
    gram = x.T @ x + strength * np.eye(x.shape[1], dtype=x.dtype)
    return np.linalg.solve(gram, x.T @ y)


def ridge_tuned(x, y, strength):
    gram = np.dot(x.T, x)
    for i in range(gram.shape[0]):
        gram[i, i] += x.dtype.type(strength)
    return np.linalg.solve(gram, np.dot(x.T, y))


def kalman(readings, f, h, q, r, x, p):
    out = np.empty((len(readings), x.size), x.dtype)
    for k in range(len(readings)):
        x = f @ x
        p = f @ p @ f.T + q
        gain = p @ h / (h @ p @ h + r)
        x = x + gain * (readings[k] - h @ x)
        p = p - np.outer(gain, h @ p)
        out[k] = x
    return out


def kalman_tuned(readings, f, h, q, r, x, p):
    n, out = x.size, np.empty((len(readings), x.size), x.dtype)
    noise_level = x.dtype.type(r)
    new_x, ph, hp, new_p, fp = np.empty_like(x), np.empty_like(x), np.empty_like(x), p.copy(), np.empty_like(p)
    x = x.copy()
    for k in range(len(readings)):
        seen, spread = x.dtype.type(0.0), noise_level
        for i in range(n):
            new_x[i] = 0.0
            for j in range(n):
                new_x[i] += f[i, j] * x[j]
                fp[i, j] = 0.0
                for m in range(n):
                    fp[i, j] += f[i, m] * new_p[m, j]
        for i in range(n):
            for j in range(n):
                new_p[i, j] = q[i, j]
                for m in range(n):
                    new_p[i, j] += fp[i, m] * f[j, m]
        for i in range(n):
            ph[i] = hp[i] = 0.0
            for j in range(n):
                ph[i] += new_p[i, j] * h[j]
                hp[i] += h[j] * new_p[j, i]
            seen += h[i] * new_x[i]
        for i in range(n):
            spread += h[i] * ph[i]
        for i in range(n):
            x[i] = new_x[i] + ph[i] / spread * (readings[k] - seen)
            for j in range(n):
                new_p[i, j] -= ph[i] / spread * hp[j]
        out[k] = x
    return out


def _gemver(n, dtype):
    return (noise(dtype, side(n), side(n)),) + tuple(noise(dtype, side(n), seed=k) for k in range(6)) + (1.5, 0.5)


def _regression(n, dtype):
    return noise(dtype, n // 16, 16), noise(dtype, n // 16)


def _definite(n, dtype):
    edge = side(n)
    half = noise(dtype, edge, edge) / edge
    return half @ half.T + np.eye(edge, dtype=dtype), noise(dtype, edge)


def _track(n, dtype):
    f = np.eye(4, dtype=dtype)
    f[0, 2] = f[1, 3] = 0.1
    return (noise(dtype, n // 4), f, np.array([1, 1, 0, 0], dtype), 0.01 * np.eye(4, dtype=dtype), 0.1,
            np.zeros(4, dtype), np.eye(4, dtype=dtype))


CASES = (
    Case("gemver", gemver, _gemver, gemver_tuned),
    Case("least squares by descent, 5 steps", least_squares,
         lambda n, d: _regression(n, d) + (np.zeros(16, d), 0.1, 5), least_squares_tuned),
    Case("power iteration, 5 steps", power_iteration, lambda n, d: _definite(n, d) + (5,), power_iteration_tuned),
    Case("conjugate gradient, 5 steps", conjugate_gradient, lambda n, d: _definite(n, d) + (5,),
         conjugate_gradient_tuned),
    Case("ridge regression", ridge, lambda n, d: _regression(n, d) + (0.5,), ridge_tuned),
    Case("Kalman filter, 4 states", kalman, _track, kalman_tuned,
         sizes={"L1": 6 << 10, "L2/L3": 48 << 10, "memory": 384 << 10}),
)
