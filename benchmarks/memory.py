"""``python -m benchmarks.memory``: resident memory before and after many calls, misses, side exits and captures."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import warnings
from typing import Any, Callable, List, NamedTuple, Optional

import numpy as np

import pijit
from benchmarks.breaks import STAY

X = np.arange(3.0)
Y = np.linspace(-1.0, 1.0, 3)


def two_arrays(x, y):
    return x * 2.0 + y


def with_break(x, y):
    z = x * 2.0 + y
    STAY(-1)
    return z * y + x


def item(x, k):
    return x[k] * 2.0 + 1.0


class Row(NamedTuple):
    """One kind of event: ``happen`` is called ``times`` times, after a warm-up of a tenth of these."""

    name: str
    times: int
    happen: Callable[[], Any]


def missing() -> Callable[[], Any]:
    """Return a function whose call no entry serves, because the cache is full of others."""
    f = pijit.jit(lambda x: x * 2.0 + 1.0, jit_config={"cache_limit": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in ("float64", "float32", "int16"):
            f(X.astype(dtype))
    other = X.astype("int32")
    return lambda: f(other)


def leaving() -> Callable[[], Any]:
    """Return a function whose kernel leaves for an exception."""
    f = pijit.jit(item)
    f(X, 1)

    def call() -> None:
        try:
            f(X, 5)
        except IndexError:
            pass
    return call


def capturing() -> Callable[[], Any]:
    """Return a function that makes, captures, calls and drops another one."""
    space = dict(globals())
    source = "def f(x, y):\n    z = x * 2.0 + y\n    STAY(-1)\n    return z * y + x\n"

    def call() -> None:
        exec(source, space)
        f = pijit.jit(space.pop("f"))
        f(X, Y)
        f(X, Y)
    return call


def rows(share: float) -> List[Row]:
    whole, linked = pijit.jit(two_arrays), pijit.jit(with_break)
    return [Row(name, max(10, int(times * share)), happen) for name, times, happen in (
        ("calls of a whole function", 10 ** 7, lambda: whole(X, Y)),
        ("calls of linked code with a break", 10 ** 6, lambda: linked(X, Y)),
        ("misses at the cache's limit", 10 ** 5, missing()),
        ("side exits that raise", 10 ** 4, leaving()),
        ("functions captured and dropped", 2000, capturing()),
    )]


def resident() -> float:
    """Resident memory of this process, in MiB."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2.0 ** 20


def measure(row: Row) -> str:
    for _ in range(row.times // 10):
        row.happen()
    before = resident()
    for _ in range(row.times):
        row.happen()
    after = resident()
    return "| %s | %d | %.1f | %.1f | %+.2f |" % (row.name, row.times, before, after, after - before)


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="do only this share of each row (default: 1)")
    options = parser.parse_args(argv)
    sys.stdout.write("| what | times | before, MiB | after, MiB | grown, MiB |\n%s|\n" % ("|---" * 5))
    for row in rows(options.share):
        sys.stdout.write("%s\n" % measure(row))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
