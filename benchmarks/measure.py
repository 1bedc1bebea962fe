"""Measures versions of one function against each other in one process: interleaved runs, the best of each."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Optional, Tuple

import numba
import numpy as np
import pijit
from benchmarks.kernels import Case

WARM_UP = 3
"""Calls before the clock runs: the first compiles, the second uses what the first observed."""


def versions(case: Case) -> Dict[str, Optional[Callable[..., Any]]]:
    """The competitors, by name; None where numba refuses the function."""
    found: Dict[str, Optional[Callable[..., Any]]] = {"numpy": case.function, "pijit": pijit.jit(case.function)}
    for name, source in (("njit", case.function), ("tuned", case.tuned)):
        found[name] = _compiled(source, case) if source is not None else None
    return found


def _compiled(source: Callable[..., Any], case: Case) -> Optional[Callable[..., Any]]:
    compiled = numba.njit(source)
    try:
        compiled(*case.arguments())
    except Exception:  # numba has many kinds of refusal
        return None
    return compiled  # type: ignore[no-any-return]


def same_bits(case: Case) -> bool:
    """Whether pijit's answers after warming up are NumPy's to the last bit."""
    jitted = pijit.jit(case.function)
    for _ in range(WARM_UP):
        jitted(*case.arguments())
    left, right = np.asarray(case.function(*case.arguments())), np.asarray(jitted(*case.arguments()))
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def seconds_per_call(functions: Dict[str, Callable[..., Any]], arguments: Tuple[Any, ...], budget: float) -> Dict[str, float]:
    """The best time of a call of each function; their runs alternate, so that all see the same machine."""
    repeats, best = {}, {}
    for name, function in functions.items():
        for _ in range(WARM_UP):
            function(*arguments)
        start = time.perf_counter()
        function(*arguments)
        repeats[name] = max(1, int(0.005 / max(time.perf_counter() - start, 1e-7)))
        best[name] = float("inf")
    end = time.perf_counter() + budget
    while time.perf_counter() < end:
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                function(*arguments)
            best[name] = min(best[name], (time.perf_counter() - start) / repeats[name])
    return best


def first_call(make: Callable[[], Callable[..., Any]], case: Case) -> float:
    """The seconds of a first call, compilation included."""
    function, arguments = make(), case.arguments()
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start
