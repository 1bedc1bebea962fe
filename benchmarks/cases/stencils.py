"""Benchmarks: stencils and PDE steps in one to three dimensions, in place and double buffered."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import Case, grids, uniform


def diffuse(u, c):
    new = u.copy()
    new[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return new


def diffuse_tuned(u, c):
    k, two, new = u.dtype.type(c), u.dtype.type(2.0), np.empty_like(u)
    new[0], new[-1] = u[0], u[-1]
    for i in range(1, u.size - 1):
        new[i] = u[i] + k * (u[i + 1] - two * u[i] + u[i - 1])
    return new


def advect(u, c):
    u[1:] -= c * (u[1:] - u[:-1])
    return u


def advect_tuned(u, c):
    k = u.dtype.type(c)
    for i in range(u.size - 1, 0, -1):
        u[i] -= k * (u[i] - u[i - 1])
    return u


def heat(plate, steps):
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
    return plate


def heat_tuned(plate, steps):
    rows, columns = plate.shape
    k, four = plate.dtype.type(0.2), plate.dtype.type(4.0)
    new = np.empty_like(plate[1:-1, 1:-1])
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]
                new[i - 1, j - 1] = plate[i, j] + k * (around - four * plate[i, j])
        plate[1:-1, 1:-1] = new
    return plate


def heat_with_report(plate, steps, reports):
    for step in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
        if step % 10 == 0:
            reports.update(step=step, middle=float(plate[2, 2]))
    return plate


def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def jacobi_tuned(a, b, steps):
    rows, columns = a.shape
    k = a.dtype.type(0.2)
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                b[i, j] = k * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                a[i, j] = k * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])
    return a


def wave(now, before, c):
    lap = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1]
    before[1:-1, 1:-1] = 2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + c * lap
    return before, now


def wave_tuned(now, before, c):
    rows, columns = now.shape
    two, four, k = now.dtype.type(2.0), now.dtype.type(4.0), now.dtype.type(c)
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            lap = now[i + 1, j] + now[i - 1, j] + now[i, j + 1] + now[i, j - 1] - four * now[i, j]
            before[i, j] = two * now[i, j] - before[i, j] + k * lap
    return before, now


def fdtd(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def fdtd_tuned(ex, ey, hz, steps):
    rows, columns = hz.shape
    half, most = hz.dtype.type(0.5), hz.dtype.type(0.7)
    for t in range(steps):
        ey[0, :] = t
        for i in range(1, rows):
            for j in range(columns):
                ey[i, j] -= half * (hz[i, j] - hz[i - 1, j])
        for i in range(rows):
            for j in range(1, columns):
                ex[i, j] -= half * (hz[i, j] - hz[i, j - 1])
        for i in range(rows - 1):
            for j in range(columns - 1):
                hz[i, j] -= most * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    return hz


def heat3(u, c):
    new = np.zeros_like(u)
    new[1:-1, 1:-1, 1:-1] = u[1:-1, 1:-1, 1:-1] + c * (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * u[1:-1, 1:-1, 1:-1])
    return new


def heat3_tuned(u, c):
    depth, rows, columns = u.shape
    k, six, new = u.dtype.type(c), u.dtype.type(6.0), np.zeros_like(u)
    for h in range(1, depth - 1):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new[h, i, j] = u[h, i, j] + k * (
                    u[h + 1, i, j] + u[h - 1, i, j] + u[h, i + 1, j] + u[h, i - 1, j]
                    + u[h, i, j + 1] + u[h, i, j - 1] - six * u[h, i, j])
    return new


def _laplacian(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def gray_scott(u, v, feed, kill):
    lu, lv = _laplacian(u), _laplacian(v)
    inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
    uvv = inner_u * inner_v ** 2
    inner_u += 0.16 * lu - uvv + feed * (1.0 - inner_u)
    inner_v += 0.08 * lv + uvv - (feed + kill) * inner_v
    return u, v


def gray_scott_tuned(u, v, feed, kill):
    rows, columns = u.shape
    t = u.dtype.type
    four, one, du, dv, f, g = t(4.0), t(1.0), t(0.16), t(0.08), t(feed), t(feed + kill)
    new_u, new_v = np.empty_like(u), np.empty_like(v)
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - four * u[i, j]
            lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - four * v[i, j]
            uvv = u[i, j] * (v[i, j] * v[i, j])
            new_u[i, j] = u[i, j] + (du * lu - uvv + f * (one - u[i, j]))
            new_v[i, j] = v[i, j] + (dv * lv + uvv - g * v[i, j])
    u[1:-1, 1:-1], v[1:-1, 1:-1] = new_u[1:-1, 1:-1], new_v[1:-1, 1:-1]
    return u, v


def periodic(u, c):
    return u + c * (np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0) + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1)
                    - 4.0 * u)


def periodic_tuned(u, c):
    rows, columns = u.shape
    k, four, new = u.dtype.type(c), u.dtype.type(4.0), np.empty_like(u)
    for i in range(rows):
        row, above, below = u[i], u[i - 1], u[i + 1 - rows]
        for j in range(1, columns - 1):
            new[i, j] = row[j] + k * (above[j] + below[j] + row[j - 1] + row[j + 1] - four * row[j])
        for j in (0, columns - 1):
            new[i, j] = row[j] + k * (above[j] + below[j] + row[j - 1] + row[j + 1 - columns] - four * row[j])
    return new


CASES = (
    Case("diffusion 1-D, new array", diffuse, lambda n, d: (uniform(d, n), 0.25), diffuse_tuned, passes=2),
    Case("upwind advection 1-D, in place", advect, lambda n, d: (uniform(d, n), 0.5), advect_tuned, passes=2,
         again=1),
    Case("heat 2-D, in place, 4 steps", heat, grids(1, 4), heat_tuned, passes=8, again=1),
    Case("heat 2-D with reports, 4 steps", heat_with_report,
         lambda n, d: grids(1, 4)(n, d) + ({},), None, passes=8, again=1),
    Case("jacobi 2-D, two arrays, 2 x 2 steps", jacobi, grids(2, 2), jacobi_tuned, passes=8,
         again=2),
    Case("diffusion 2-D, periodic by roll", periodic, grids(1, 0.1), periodic_tuned, passes=2),
    Case("wave 2-D, one step", wave, grids(2, 0.25), wave_tuned, passes=3),
    Case("FDTD 2-D, 2 steps", fdtd, grids(3, 2), fdtd_tuned),
    Case("heat 3-D, new array", heat3, grids(1, 0.1, dimensions=3), heat3_tuned, passes=2),
    Case("Gray-Scott reaction, with a helper", gray_scott, grids(2, 0.035, 0.06), gray_scott_tuned, passes=4,
         again=2),
)
