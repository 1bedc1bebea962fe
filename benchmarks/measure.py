"""Interleaved timing of versions of one function in one process, with ratios within each round."""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple

Functions = Dict[str, Callable[..., Any]]

SHORTEST = 0.002
"""Minimum seconds of one measurement; shorter calls are repeated within it."""

ROUNDS = 3
"""Minimum number of rounds, even if they exceed the time budget."""


class Spread(NamedTuple):
    """A ratio: the median over the rounds, and the quartiles."""

    median: float
    low: float
    high: float


def interleaved(functions: Functions, arguments: Dict[str, Tuple[Any, ...]], budget: float,
                clock: Callable[[], float] = time.perf_counter) -> Dict[str, List[float]]:
    """The seconds of a call of each function, once per round.

    The functions run in turn, so that changes of the machine affect all of them. Each is called once before.
    
    """
    repeats = {}
    for name, function in functions.items():
        start = clock()
        function(*arguments[name])
        repeats[name] = max(1, int(SHORTEST / max(clock() - start, 1e-7)))
    samples: Dict[str, List[float]] = {name: [] for name in functions}
    end = clock() + budget
    names = list(functions)
    while len(samples[names[0]]) < ROUNDS or clock() < end:
        for name in names:
            function, given = functions[name], arguments[name]
            start = clock()
            for _ in range(repeats[name]):
                function(*given)
            samples[name].append((clock() - start) / repeats[name])
        names.append(names.pop(0))
    return samples


def spread(base: Sequence[float], other: Sequence[float]) -> Spread:
    """The speed of ``other`` relative to ``base`` in the same rounds."""
    ratios = sorted(one / two for one, two in zip(base, other))
    return Spread(middle(ratios), ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4])


def middle(values: Iterable[float]) -> float:
    """The median."""
    ordered = sorted(values)
    return 0.5 * (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2])


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean; NaN if there are no values."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else float("nan")


def seconds_per_call(functions: Functions, arguments: Tuple[Any, ...], budget: float, warm: int = 3,
                     clock: Callable[[], float] = time.perf_counter) -> Dict[str, float]:
    """The best time of a call of each function with the same arguments, after ``warm`` calls."""
    for function in functions.values():
        for _ in range(warm):
            function(*arguments)
    samples = interleaved(functions, dict.fromkeys(functions, arguments), budget, clock)
    return {name: min(times) for name, times in samples.items()}
