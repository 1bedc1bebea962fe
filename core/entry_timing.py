"""Entries that are measured against the function as it is, and retired where they lose (the option perf_statistics).

The clock is core/native/function/entry_timing.c's; here is which entries are measured, and what a verdict leads to.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable, Iterable, Optional

from pijit.core._hook import Trial
from pijit.core.capture.build.segment import Captured
from pijit.core.capture_records import Entry
from pijit.core.kernel.emit.legality import has_fast_loop
from pijit.core.reasons import reason

LIMIT_NS = {"auto": 1000000, True: 0}
"""By value of the option: calls that take longer are not measured. Plain Python may take a thousand times as long."""
WITHOUT_LOOPS = 200
"""So many times as long may they take where no loop was compiled: plain Python then takes hardly longer than NumPy."""
WITH_OBJECTS = 50
"""And where all loops touch Python objects in each round, which takes a good part of what bytecode takes."""


def trial_of(entry: Entry, config: Any, verdict: Callable[[Entry, Optional[str]], None]) -> Optional[Trial]:
    """What the cache is to hold for an entry until it is measured; None if it is not to be measured.

    ``verdict`` is told the entry and, if it lost, why it is retired; neither it nor the entry is kept alive.
    """
    if entry.payload is None or not is_measured(config):
        return None
    limit = LIMIT_NS[config.perf_statistics]
    limit *= entry.patience
    weak_entry, weak_verdict = weakref.ref(entry), weakref.WeakMethod(verdict)  # type: ignore[arg-type]

    def on_verdict(lost: bool, kernels: int, plain: int) -> None:
        alive, tell = weak_entry(), weak_verdict()
        if alive is not None and tell is not None:
            tell(alive, reason("PJ402", compiled=time_text(kernels), bytecode=time_text(plain)) if lost else None)

    return Trial(entry.payload, on_verdict, limit)


def patience(config: Any, kept: Iterable[Captured]) -> int:
    """How many times as long as others calls may take that are measured, if these segments are compiled."""
    if not is_measured(config):
        return 1
    loops = [captured.graph for captured in kept if captured.has_loop]
    if not loops:
        return WITHOUT_LOOPS
    return 1 if any(map(has_fast_loop, loops)) else WITH_OBJECTS


def is_measured(config: Any) -> bool:
    """Whether what is compiled with these options is measured at all."""
    return config.perf_statistics in LIMIT_NS and config.backend == "numba" and config.force_breaks is None


def time_text(ns: int) -> str:
    return "%.2f us" % (ns / 1000) if ns < 1000000 else "%.2f ms" % (ns / 1000000)
