"""``python -m benchmarks.precision``: kernels with `auto_mixed_precision` "float32" beside those in float64 and NumPy.

Each row is one function of float64 arrays. All run on one thread, in turn. The last column is the largest error of the
float32 kernel, as a fraction of the largest number in the result.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, Callable, Iterator, NamedTuple, Tuple

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import numpy as np  # noqa: E402

from benchmarks.measure import geometric_mean, seconds_per_call  # noqa: E402
from pijit import jit  # noqa: E402


class Row(NamedTuple):
    """A function and how to make its arguments."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[], Tuple[Any, ...]]


def bell(x):  # type: ignore[no-untyped-def]
    return np.exp(-x * x) * 0.5 + np.sin(x)


def softmax(x):  # type: ignore[no-untyped-def]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def logistic_loss(x, y):  # type: ignore[no-untyped-def]
    p = 1.0 / (1.0 + np.exp(-x))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


def recurrence(x):  # type: ignore[no-untyped-def]
    for _ in range(20):
        x = x + 0.1 * np.tanh(x)
    return x


def layers(x, w):  # type: ignore[no-untyped-def]
    return np.tanh(np.tanh(x @ w) @ w)


def polynomial(x):  # type: ignore[no-untyped-def]
    return ((0.5 * x + 1.0) * x - 2.0) * x + 3.0


def _vector(n: int) -> Callable[[], Tuple[Any, ...]]:
    return lambda: (np.linspace(-3.0, 3.0, n),)


def _matrices(n: int, k: int) -> Tuple[Any, ...]:
    source = np.random.RandomState(1)
    return source.standard_normal((n, k)), source.standard_normal((k, k)) / k


ROWS = (
    Row("exp(-x*x)*0.5 + sin(x), 1000", bell, _vector(1000)),
    Row("exp(-x*x)*0.5 + sin(x), 100000", bell, _vector(100000)),
    Row("softmax of rows, 64 x 1000", softmax, lambda: (np.linspace(-3.0, 3.0, 64000).reshape(64, 1000),)),
    Row("logistic loss, 100000", logistic_loss,
        lambda: (np.linspace(-3.0, 3.0, 100000), (np.arange(100000) % 2).astype(float))),
    Row("20 steps of x + 0.1*tanh(x), 10000", recurrence, _vector(10000)),
    Row("two layers, 256 x 256", layers, lambda: _matrices(256, 256)),
    Row("polynomial, 100000 (not lowered)", polynomial, _vector(100000)),
)


def measured(rows: Tuple[Row, ...], seconds: float) -> Iterator[Tuple[Row, float, float, float, float]]:
    """(row, seconds per call in NumPy, in float64, in float32, error) of each row."""
    for row in rows:
        exact = jit(row.function)
        lower = jit(row.function, jit_config={"auto_mixed_precision": "float32"})
        arguments = row.arguments()
        for _ in range(100):  # until perf_statistics has decided
            wanted, found = exact(*arguments), lower(*arguments)
        error = float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))
        times = seconds_per_call({"plain": row.function, "exact": exact, "lower": lower}, arguments, 3 * seconds)
        yield row, times["plain"], times["exact"], times["lower"], error


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each column of a row")
    options = parser.parse_args()
    print("| function | NumPy, us | float64 kernel, us | float32 kernel, us | float64 / float32 | error |")
    print("|---|---|---|---|---|---|")
    gains = []
    for row, plain, exact, lower, error in measured(ROWS, options.seconds):
        gains.append(exact / lower)
        print("| %s | %.1f | %.1f | %.1f | %.2f | %.0e |" % (
            row.name, plain * 1e6, exact * 1e6, lower * 1e6, gains[-1], error), flush=True)
    print("geometric mean of float64 / float32: %.2f (%d rows)" % (geometric_mean(gains), len(gains)))


if __name__ == "__main__":
    main()
