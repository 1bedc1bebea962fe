"""Cost of breaks and of side exits in loops, against plain Python.

The first table has the same five lines with 0 to 4 calls between them that stay bytecode. The second has loops whose
kernels are left every N iterations. `benchmarks.dispatch` prints both.
"""

from __future__ import annotations

import operator
import time
from typing import Any, Callable, Dict, Iterator, NamedTuple, Tuple

import numpy as np

import pijit
from benchmarks.measure import seconds_per_call

LINES = ("y = x * 2.0 + 1.0", "z = y * 0.5 - x", "u = z * z + y", "v = u - z * 0.25", "w = v * y + u")
STAY = operator.methodcaller("__abs__")
"""A call that is not captured."""
ARGUMENTS: Dict[str, Any] = {"an array of 3 doubles": np.arange(3.0), "a NumPy scalar": np.float64(1.5),
                             "a float": 1.5}
MEASURED = 50
"""Calls after which pijit has decided whether its kernels are faster.

The clock is processor time: differences of a few percent matter here, and other processes take more.
"""

HEADINGS = ("what is computed with", "breaks", "plain, us", "pijit, us", "pijit / plain", "added per break, us")


class Row(NamedTuple):
    """One measurement in microseconds; ``added`` is the extra cost of a break over plain Python."""

    argument: str
    breaks: int
    plain: float
    pijit: float
    added: float

    def __str__(self) -> str:
        return "| %s | %d | %.2f | %.2f | %.2f | %.3f |" % (self.argument, self.breaks, self.plain, self.pijit,
                                                          self.pijit / self.plain, self.added)


def with_breaks(breaks: int) -> Callable[..., Any]:
    """The five lines as a function, with a call after each of the first ``breaks``."""
    body = [line + ("; stay(-1)" if number < breaks else "") for number, line in enumerate(LINES)]
    source = "def f(x, stay):\n    %s\n    return w\n" % "\n    ".join(body)
    namespace: Dict[str, Any] = {}
    exec(compile(source, "<%d breaks>" % breaks, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def rows(seconds: float) -> Iterator[Row]:
    """Measure functions with 0 to 4 breaks.

    The base of ``added`` is the function without breaks, so the frame that the first break needs is counted too.
    """
    for name, argument in ARGUMENTS.items():
        whole: Tuple[float, float] = (0.0, 0.0)
        for breaks in range(len(LINES)):
            f = with_breaks(breaks)
            times = seconds_per_call({"plain": f, "pijit": pijit.jit(f)}, (argument, STAY), seconds, MEASURED,
                                     time.process_time)
            plain, jitted = 1e6 * times["plain"], 1e6 * times["pijit"]
            if not breaks:
                whole = plain, jitted
            added = ((jitted - whole[1]) - (plain - whole[0])) / max(breaks, 1)
            yield Row(name, breaks, plain, jitted, added)


ROUNDS = 100000
EVERY = (0, ROUNDS, 1000, 100, 50, 33, 10, 2, 1)
EXIT_HEADINGS = ("loop", "left every so many rounds", "plain, us", "pijit, us", "pijit / plain")


def bits(numbers):
    s = 0
    for i in range(len(numbers)):
        s += numbers[i] & 7
    return s


def bits_while(numbers):
    s = i = 0
    while i < len(numbers):
        s += numbers[i] & 7
        i += 1
    return s


def bits_of_rows(numbers):
    s = 0
    for i in range(0, len(numbers), 10):
        for j in range(10):
            s += numbers[i + j] & 7
    return s


LOOPS: Dict[str, Callable[..., Any]] = {"for": bits, "while": bits_while, "for in for, 10 rounds": bits_of_rows}


class ExitRow(NamedTuple):
    """One measurement in microseconds: every N iterations the kernel leaves for a number of more than 64 bits."""

    loop: str
    every: int
    plain: float
    pijit: float

    def __str__(self) -> str:
        return "| %s | %s | %.0f | %.0f | %.3f |" % (self.loop, self.every or "never", self.plain, self.pijit,
                                                   self.pijit / self.plain)


def exit_rows(seconds: float) -> Iterator[ExitRow]:
    """Measure kernels that are left in the middle of a loop, for numbers with which bytecode is hardly slower."""
    for name, f in LOOPS.items():
        for every in EVERY:
            numbers = list(range(ROUNDS))
            for position in range(every // 2, ROUNDS, every or ROUNDS):
                numbers[position] += every and 1 << 64
            times = seconds_per_call({"plain": f, "pijit": pijit.jit(f)}, (numbers,), seconds, MEASURED,
                                     time.process_time)
            yield ExitRow(name, every, 1e6 * times["plain"], 1e6 * times["pijit"])
