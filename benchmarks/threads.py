"""``python -m benchmarks.threads``: the gain of the options `nogil` and `parallel` on this machine.

The first table compares calls in one thread with the same number of calls in each of two threads; the highest possible
gain is 2. The second table compares calls without and with pijit's own threads.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

import pijit
from benchmarks.measure import seconds_per_call


def recurrence(n, x):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + x[i & 7]
    return s


def repeated(x, n):
    for _ in range(n):
        x = x * 0.5 + np.exp(-x)
    return x


def chain(x, y):
    return (x * 2.0 + y) * (x - y) + 0.5


def row_sums(x, y):
    return (x * y).sum(axis=-1)


def relax(x, y):
    y[1:-1] = 0.5 * (x[:-2] + x[2:])


def functions(x, y):
    return np.exp(-x) * y + np.tanh(x)


def total(x, y):
    return x.sum() + y.sum()


class Calls(NamedTuple):
    """A function, and a function that makes its arguments for a size."""

    function: Callable[..., Any]
    arguments: Callable[[int], Tuple[Any, ...]]


def _two(*tail: int) -> Callable[[int], Tuple[Any, ...]]:
    return lambda size: tuple(np.random.RandomState(seed).rand(size // int(np.prod(tail)), *tail) for seed in (0, 1))


AT_ONCE: Dict[str, Calls] = {
    "recurrence of 1e6 steps": Calls(recurrence, lambda size: (10 ** 6, np.arange(8.0))),
    "100 times exp of 1e4": Calls(repeated, lambda size: (np.linspace(0.0, 1.0, 10000), 100)),
}
SHARED: Dict[str, Calls] = {
    "chain": Calls(chain, _two()), "sums of rows": Calls(row_sums, _two(1024)),
    "relaxation": Calls(relax, _two(1024)),
    "exp and tanh": Calls(functions, _two()), "sum of all": Calls(total, _two()),
}
SIZES = (2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22)


def seconds_of_threads(function: Callable[..., Any], arguments: Tuple[Any, ...], threads: int,
                       calls: int = 10) -> float:
    """Seconds until each thread has made its calls."""
    def work() -> None:
        for _ in range(calls):
            function(*arguments)
    workers = [threading.Thread(target=work) for _ in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


def gain_of_two(call: Calls, nogil: bool, seconds: float) -> float:
    """Calls of two threads in the time of one call in one thread; the best of many tries."""
    function, arguments = pijit.jit(call.function, jit_config={"nogil": nogil}), call.arguments(0)
    seconds_of_threads(function, arguments, 1, 40)
    best, end = {1: float("inf"), 2: float("inf")}, time.perf_counter() + seconds
    while time.perf_counter() < end:
        for threads in best:
            best[threads] = min(best[threads], seconds_of_threads(function, arguments, threads))
    return 2 * best[1] / best[2]


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure (default: 1)")
    options = parser.parse_args(argv)
    write = sys.stdout.write
    write("| two threads against one | with the GIL | nogil |\n|---|---|---|\n")
    for name, call in AT_ONCE.items():
        write("| %s | %.2f | %.2f |\n" % ((name,) + tuple(gain_of_two(call, nogil, options.seconds)
                                                          for nogil in (False, True))))
        sys.stdout.flush()
    write("\n| loop | doubles | one thread, us | auto, us | gain |\n|---|---|---|---|---|\n")
    for name, call in SHARED.items():
        jitted = {str(parallel): pijit.jit(call.function, jit_config={"parallel": parallel})
                  for parallel in (False, "auto")}
        for size in SIZES:
            times = seconds_per_call(jitted, call.arguments(size), options.seconds)
            write("| %s | %d | %.1f | %.1f | %.2f |\n" % (name, size, 1e6 * times["False"], 1e6 * times["auto"],
                                                          times["False"] / times["auto"]))
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
