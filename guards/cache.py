"""The entry cache of a function, and the warning when it is full.

`EntryCache` is a C type (`native/cache.h`): at most `limit` entries of guard program and payload, tried in order of
the most recent hit. Entries of lower ranks are tried first. At the limit `add` returns False, and the existing entries
stay in use. Then `warn_limit` tells, once per cache, which guard failed most. An entry whose guards can never hold
again, because a class or another object of theirs is gone, is removed at the next miss.
"""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Sequence, Tuple

from pijit.guards._evaluate import EntryCache
from pijit.guards.facts import count
from pijit.guards.guard import Guard

__all__ = ["CacheLimitWarning", "EntryCache", "most_failed", "warn_limit"]


class CacheLimitWarning(RuntimeWarning):
    """A function has reached its limit of entries, and none fits the call; such calls run the original code."""


def most_failed(cache: EntryCache) -> Optional[Tuple[Guard, int]]:
    """The guard that failed most often in the cache's programs, and the number of failures; None if none failed.

    Failures of equal guards of several entries are added.
    """
    totals: Dict[Guard, int] = {}
    for program, _, _ in cache.entries:
        for guard, failures in zip(program.guards, program.failures):
            totals[guard] = totals.get(guard, 0) + failures
    guard = max(totals, key=totals.__getitem__, default=None)
    return (guard, totals[guard]) if guard is not None and totals[guard] else None


def warn_limit(cache: EntryCache, name: str, values: Sequence[Any], globals: Dict[str, Any],
               builtins: Dict[str, Any], stacklevel: int = 2) -> None:
    """Warn, once per cache, that a call of `name` fits none of its entries and there is no room for another.

    Args:
        name: the name of the function for the user.
        name: the function, as the user knows it.
        values, globals, builtins: the roots of the call that missed.
        stacklevel: as for warnings.warn.
    """
    if cache.warned:
        return
    cache.warned = True
    text = (f"{name} has reached its limit of {count(cache.limit, 'compiled variant')} and none fits this "
            "call, so calls like it run the original code")
    worst = most_failed(cache)
    if worst is not None:
        guard, times = worst
        text += f"; the guard that failed most, {count(times, 'time')}, is `{guard}`"
        reason = guard.why_not_at(values, globals, builtins)
        text += f": {reason}" if reason is not None else ""
    warnings.warn(text, CacheLimitWarning, stacklevel=stacklevel)
