"""``python -m benchmarks.science``: callbacks of SciPy and scikit-learn, and columns of pandas.

Each row is a call of a library. It runs with the plain function, with the jitted one, and with a callback in machine
code (`pijit.low_level_callable`) where SciPy takes one. A package that is not installed has no rows. All versions run
on one thread, in turn. Their answers must have equal bits, or the benchmark ends with an error.
"""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Tuple

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import numpy as np  # noqa: E402

import pijit  # noqa: E402
from benchmarks.measure import geometric_mean, seconds_per_call  # noqa: E402

Function = Callable[..., Any]
R = np.random.RandomState(0)


class Row(NamedTuple):
    """A call of a library.

    Attributes:
        name: what the table shows.
        function: the user's function.
        run: calls the library with the function.
        signature: that of the callback in machine code, or None.
    """

    name: str
    function: Function
    run: Callable[[Function], Any]
    signature: Optional[str] = None


class Timed(NamedTuple):
    """The seconds of a row, per call of the library."""

    row: Row
    plain: float
    jitted: float
    callback: Optional[float]

    def __str__(self) -> str:
        gain = "%.1f" % (self.plain / self.callback) if self.callback is not None else ""
        return "| %s | %.0f | %.1f | %s |" % (self.row.name, self.plain * 1e6, self.plain / self.jitted, gain)


def oscillation(x, a):  # type: ignore[no-untyped-def]
    return math.exp(-a * x) * math.cos(40.0 * x)


def series(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(1, 40):
        total += math.sin(i * x) / i
    return total


def trimmed_mean(window):  # type: ignore[no-untyped-def]
    low, high, total = window[0], window[0], 0.0
    for value in window:
        low, high, total = min(low, value), max(high, value), total + value
    return (total - low - high) / (len(window) - 2)


def recursive_filter(line, written):  # type: ignore[no-untyped-def]
    state = 0.0
    for i in range(len(written)):
        state = 0.9 * state + 0.1 * line[i]
        written[i] = state


def swirl(at):  # type: ignore[no-untyped-def]
    y, x = at[0] - 32.0, at[1] - 32.0
    angle = 0.05 * math.sqrt(x * x + y * y)
    return 32.0 + y * math.cos(angle) + x * math.sin(angle), 32.0 - y * math.sin(angle) + x * math.cos(angle)


def rosenbrock(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


def lorenz(t, y):  # type: ignore[no-untyped-def]
    return np.array([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])


def diffusion(t, u):  # type: ignore[no-untyped-def]
    change = np.zeros_like(u)
    change[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return change


def residuals(p, t, y):  # type: ignore[no-untyped-def]
    return p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t + p[3]) - y


def canberra(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += abs(a[i] - b[i]) / (abs(a[i]) + abs(b[i]) + 1e-9)
    return total


def haversine(frame):  # type: ignore[no-untyped-def]
    north, east = np.radians(frame["north"].to_numpy()), np.radians(frame["east"].to_numpy())
    a = np.sin(0.5 * (north - 0.9)) ** 2 + np.cos(north) * np.cos(0.9) * np.sin(0.5 * (east - 0.2)) ** 2
    return 12742.0 * np.arcsin(np.sqrt(a))


def drawdown(frame):  # type: ignore[no-untyped-def]
    highest, worst = 0.0, 0.0
    for price in frame["price"].to_numpy():
        highest = max(highest, price)
        worst = max(worst, 1.0 - price / highest)
    return worst


def _scipy_rows() -> List[Row]:
    from scipy import integrate, ndimage, optimize

    image = R.standard_normal((64, 64))
    t = np.linspace(0.0, 4.0, 60)
    y = residuals([2.0, 0.7, 3.0, 0.2], t, 0.0)
    return [
        Row("quad, oscillation", oscillation, lambda f: integrate.quad(f, 0.0, 3.0, args=(0.5,)),
            "double (int, double *)"),
        Row("quad, loop of 39 terms", series, lambda f: integrate.quad(f, 0.0, 3.0), "double (double)"),
        Row("generic_filter, 64 x 64, 5 x 5", trimmed_mean, lambda f: ndimage.generic_filter(image, f, size=5),
            "int (double *, intptr_t, double *)"),
        Row("generic_filter1d, 64 x 64", recursive_filter, lambda f: ndimage.generic_filter1d(image, f, 5),
            "int (double *, intptr_t, double *, intptr_t)"),
        Row("geometric_transform, 64 x 64", swirl, lambda f: ndimage.geometric_transform(image, f),
            "int (intptr_t *, double *, int, int)"),
        Row("minimize, Nelder-Mead, 5 variables", rosenbrock,
            lambda f: optimize.minimize(f, np.zeros(5), method="Nelder-Mead", options={"maxiter": 200}).x),
        Row("minimize, BFGS, 20 variables", rosenbrock, lambda f: optimize.minimize(f, np.zeros(20), method="BFGS").x),
        Row("least_squares, 60 points", residuals,
            lambda f: optimize.least_squares(f, [1.0, 1.0, 2.5, 0.0], args=(t, y)).x),
        Row("solve_ivp, Lorenz", lorenz, lambda f: integrate.solve_ivp(f, (0.0, 5.0), [1.0, 1.0, 1.0]).y),
        Row("solve_ivp, diffusion on 1000 points", diffusion,
            lambda f: integrate.solve_ivp(f, (0.0, 2.0), np.sin(np.linspace(0.0, 3.0, 1000))).y),
    ]


def _scikit_learn_rows() -> List[Row]:
    from sklearn.cluster import DBSCAN
    from sklearn.metrics import pairwise_distances

    x = R.standard_normal((100, 16))
    return [
        Row("pairwise_distances, 100 x 16", canberra, lambda f: pairwise_distances(x, metric=f)),
        Row("DBSCAN, 100 x 16", canberra, lambda f: DBSCAN(eps=7.0, metric=f).fit(x).labels_),
    ]


def _pandas_rows() -> List[Row]:
    import pandas

    frame = pandas.DataFrame({"north": R.uniform(40.0, 60.0, 10000), "east": R.uniform(0.0, 20.0, 10000),
                              "price": np.exp(np.cumsum(0.01 * R.standard_normal(10000)))})
    return [
        Row("columns of a frame, 10,000 rows, arrays", haversine, lambda f: f(frame)),
        Row("columns of a frame, 10,000 rows, loop", drawdown, lambda f: f(frame)),
    ]


def rows() -> Iterator[Row]:
    """The rows of all packages that are installed."""
    for make in (_scipy_rows, _scikit_learn_rows, _pandas_rows):
        try:
            yield from make()
        except ImportError:
            pass


def measured(row: Row, seconds: float) -> Timed:
    """Measure a row. Raises AssertionError if answers differ."""
    versions = {"plain": row.function, "jitted": pijit.jit(row.function)}
    if row.signature is not None:
        versions["callback"] = pijit.low_level_callable(row.function, row.signature)
    wanted = np.asarray(row.run(row.function))
    for version in versions.values():
        for _ in range(3):
            found = np.asarray(row.run(version))
        assert found.tobytes() == wanted.tobytes(), row.name
    calls = {name: (lambda version: lambda: row.run(version))(version) for name, version in versions.items()}
    times = seconds_per_call(calls, (), seconds * len(calls))
    return Timed(row, times["plain"], times["jitted"], times.get("callback"))


def _gain(timed: Timed) -> Tuple[float, float]:
    return timed.plain / timed.jitted, timed.plain / (timed.callback or timed.jitted)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.science", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each column of a row")
    options = parser.parse_args()
    print("| call | plain, us | plain / jitted | plain / callback |")
    print("|---|---|---|---|")
    gains = []
    for row in rows():
        timed = measured(row, options.seconds)
        gains.append(_gain(timed))
        print(timed, flush=True)
    if gains:
        print("geometric mean of plain / jitted: %.2f, of plain / the faster column: %.2f (%d rows)" % (
            geometric_mean(one for one, _ in gains), geometric_mean(max(pair) for pair in gains), len(gains)))


if __name__ == "__main__":
    main()
