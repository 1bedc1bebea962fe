"""What breaks cost: the same five lines with 0 to 4 calls between them that stay bytecode, against plain Python."""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, Iterator, NamedTuple, Tuple

import numpy as np
import pijit
from benchmarks.measure import seconds_per_call

LINES = ("y = x * 2.0 + 1.0", "z = y * 0.5 - x", "u = z * z + y", "v = u - z * 0.25", "w = v * y + u")
STAY = operator.methodcaller("__abs__")
"""A call that is not captured."""
ARGUMENTS: Dict[str, Any] = {"an array of 3 doubles": np.arange(3.0), "a NumPy scalar": np.float64(1.5),
                             "a float": 1.5}
HEADINGS = ("what is computed with", "breaks", "plain, us", "pijit, us", "pijit / plain", "added per break, us")


class Row(NamedTuple):
    """One measurement in microseconds; ``added`` is what a break costs more than in plain Python."""

    argument: str
    breaks: int
    plain: float
    pijit: float
    added: float

    def __str__(self) -> str:
        return "| %s | %d | %.2f | %.2f | %.2f | %.3f |" % (self.argument, self.breaks, self.plain, self.pijit,
                                                          self.pijit / self.plain, self.added)


def with_breaks(breaks: int) -> Callable[..., Any]:
    """The five lines as a function, with a call behind each of the first ``breaks``."""
    body = [line + ("; stay(-1)" if number < breaks else "") for number, line in enumerate(LINES)]
    source = "def f(x, stay):\n    %s\n    return w\n" % "\n    ".join(body)
    namespace: Dict[str, Any] = {}
    exec(compile(source, "<%d breaks>" % breaks, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def rows(seconds: float) -> Iterator[Row]:
    """The measurements; a break's cost is the growth since there was one, as the first also costs the call its
    frame, which plain Python has anyway."""
    for name, argument in ARGUMENTS.items():
        first: Tuple[float, float] = (0.0, 0.0)
        for breaks in range(len(LINES)):
            f = with_breaks(breaks)
            times = seconds_per_call({"plain": f, "pijit": pijit.jit(f)}, (argument, STAY), seconds)
            plain, jitted = 1e6 * times["plain"], 1e6 * times["pijit"]
            if breaks < 2:
                first = plain, jitted
            added = ((jitted - first[1]) - (plain - first[0])) / max(breaks - 1, 1)
            yield Row(name, breaks, plain, jitted, added)
