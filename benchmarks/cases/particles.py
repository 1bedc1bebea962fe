"""Benchmarks: particles with pairwise interactions, and steps of their movement."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, noise, side, uniform


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
            total = points.dtype.type(0.0)
            for k in range(dimensions):
                total += (points[j, k] - points[i, k]) ** 2
            result[i, j] = math.sqrt(total)
    return result


def gravity(x, y, mass):
    dx = x[np.newaxis, :] - x[:, np.newaxis]
    dy = y[np.newaxis, :] - y[:, np.newaxis]
    inverse = 1.0 / (dx * dx + dy * dy + 0.01)
    force = mass * inverse * np.sqrt(inverse)
    return (dx * force).sum(axis=1), (dy * force).sum(axis=1)


def gravity_tuned(x, y, mass):
    t, n = x.dtype.type, x.size
    one, soft, ax, ay = t(1.0), t(0.01), np.empty_like(x), np.empty_like(x)
    for i in range(n):
        sx = sy = t(0.0)
        for j in range(n):
            dx, dy = x[j] - x[i], y[j] - y[i]
            inverse = one / (dx * dx + dy * dy + soft)
            force = mass[j] * inverse * math.sqrt(inverse)
            sx += dx * force
            sy += dy * force
        ax[i], ay[i] = sx, sy
    return ax, ay


def lennard_jones(points):
    energy = 0.0
    for i in range(len(points) - 1):
        d = points[i + 1:] - points[i]
        r2 = (d ** 2).sum(axis=1) + 0.5
        s6 = 1.0 / (r2 * r2 * r2)
        energy += 4.0 * (s6 * s6 - s6).sum()
    return energy


def lennard_jones_tuned(points):
    t, n = points.dtype.type, points.shape[0]
    energy, one, half = 0.0, t(1.0), t(0.5)
    for i in range(n - 1):
        total = t(0.0)
        for j in range(i + 1, n):
            r2 = half
            for k in range(3):
                r2 += (points[j, k] - points[i, k]) * (points[j, k] - points[i, k])
            s6 = one / (r2 * r2 * r2)
            total += s6 * s6 - s6
        energy += 4.0 * total
    return energy


def bounce(x, v, dt):
    x += v * dt
    low, high = x < 0.0, x > 1.0
    x[low] = -x[low]
    x[high] = 2.0 - x[high]
    v[low | high] *= -1.0
    return x, v


def bounce_tuned(x, v, dt):
    t = x.dtype.type
    k, zero, one, two = t(dt), t(0.0), t(1.0), t(2.0)
    for i in range(x.size):
        p = x[i] + v[i] * k
        if p < zero:
            p, v[i] = -p, -v[i]
        elif p > one:
            p, v[i] = two - p, -v[i]
        x[i] = p
    return x, v


def springs(x, v, k, dt):
    stretch = np.diff(x)
    force = np.zeros_like(x)
    force[:-1] += k * stretch
    force[1:] -= k * stretch
    v = (v + dt * force) * 0.999
    return x + dt * v, v


def springs_tuned(x, v, k, dt):
    t, n = x.dtype.type, x.size
    s, h, fade, zero = t(k), t(dt), t(0.999), t(0.0)
    new_x, new_v = np.empty_like(x), np.empty_like(v)
    for i in range(n):
        right = s * (x[i + 1] - x[i]) if i < n - 1 else zero
        left = s * (x[i] - x[i - 1]) if i > 0 else zero
        new_v[i] = (v[i] + h * (right - left)) * fade
        new_x[i] = x[i] + h * new_v[i]
    return new_x, new_v


def nearest(points, centres):
    d = ((points[:, np.newaxis, :] - centres[np.newaxis, :, :]) ** 2).sum(axis=2)
    return d.argmin(axis=1)


def nearest_tuned(points, centres):
    result = np.empty(points.shape[0], np.int64)
    for i in range(points.shape[0]):
        least, which = points.dtype.type(np.inf), 0
        for j in range(centres.shape[0]):
            total = points.dtype.type(0.0)
            for k in range(points.shape[1]):
                total += (points[i, k] - centres[j, k]) * (points[i, k] - centres[j, k])
            if total < least:
                least, which = total, j
        result[i] = which
    return result


def leapfrog(x, v, dt, steps):
    for _ in range(steps):
        v = v - 0.5 * dt * np.sin(x)
        x = x + dt * v
        v = v - 0.5 * dt * np.sin(x)
    return x, v


def leapfrog_tuned(x, v, dt, steps):
    t, x, v = x.dtype.type, x.copy(), v.copy()
    h, k = t(0.5 * dt), t(dt)
    for i in range(x.size):
        p, q = x[i], v[i]
        for _ in range(steps):
            q = q - h * math.sin(p)
            p = p + k * q
            q = q - h * math.sin(p)
        x[i], v[i] = p, q
    return x, v


def _points(n, dtype):
    return (noise(dtype, side(n), 3),)


CASES = (
    Case("distances of points, row by row", distances, _points, distances_tuned),
    Case("gravity between all, by broadcasts", gravity,
         lambda n, d: tuple(uniform(d, side(n), seed=k) for k in range(3)), gravity_tuned, fastmath=True),
    Case("Lennard-Jones energy", lennard_jones, _points, lennard_jones_tuned, fastmath=True),
    Case("particles that bounce", bounce, lambda n, d: (uniform(d, n), noise(d, n), 0.01), bounce_tuned),
    Case("chain of springs", springs, lambda n, d: (uniform(d, n), noise(d, n), 0.3, 0.1), springs_tuned, passes=4,
         again=2),
    Case("nearest of 8 centres", nearest, lambda n, d: (noise(d, n // 24, 3), noise(d, 8, 3, seed=1)), nearest_tuned),
    Case("pendulums by leapfrog, 3 steps", leapfrog, lambda n, d: (noise(d, n), noise(d, n, seed=1), 0.1, 3),
         leapfrog_tuned),
)
