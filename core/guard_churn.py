"""Guard churn: guards on objects that are created for each call, such as classes, functions or modules.

An entry for such an object serves one call only. After a few of these entries captures leave the object's location out:
its operations stay bytecode, and the rest is compiled (PJ308). If that does not help, captures wait (PJ309). The same
is done for strings that differ in each call, such as keys of dicts.
"""

from __future__ import annotations

import collections
from typing import Any, Counter, FrozenSet, Iterable, List, Sequence, Set, Tuple, cast

from pijit.core.entries.entry import Entry
from pijit.guards.guard import Equals, Guard, OnObject, OnSource
from pijit.guards.held import GONE
from pijit.guards.program import NO_GUARD
from pijit.guards.source import Source, SourceError

MOST_GONE = 3
"""Number of consecutive entries with dead objects after which the objects' locations are left out."""
WORTH = 100
"""Number of calls after which an entry was worth its capture, even if its objects are dead."""
BUDGETED = 4
"""Maximum number of entries that are tried where a budget limits compiling."""
FIRST_WAIT, LONGEST_WAIT = 16, 64
"""Number of misses without a capture, at first and at most. The number doubles each time."""


class Churn:
    """Statistics of one function's entries about objects that were used in one call only.

    Attributes:
        wait: number of further misses without a capture.
    """

    def __init__(self) -> None:
        self.wait = 0
        self._next_wait = FIRST_WAIT
        self._in_a_row = 0
        self._gone: Counter[Source] = collections.Counter()

    def is_waiting(self) -> bool:
        """Whether a miss leads to no capture; the miss is counted."""
        if self.wait:
            self.wait -= 1
            return True
        return False

    def changing(self, entries: Sequence[Entry], limit: int, *roots: Any) -> FrozenSet[Source]:
        """The locations to leave out of the next capture; called once for each capture.

        Args:
            entries: all entries, including those whose objects have died since the last capture.
            limit: the maximum number of entries that are tried.
            *roots: locals, globals and builtins of the call that missed.
        """
        dead = [entry for entry in entries if entry.program.dead]
        if any(entry.program.hits >= WORTH for entry in dead):
            self.__init__()  # type: ignore[misc]
            return frozenset()
        self._in_a_row += len(dead)
        for entry in dead:
            self._gone.update(_gone_sources(entry.program.guards))
        found = {source for source, times in self._gone.items() if times >= MOST_GONE}
        unused = [entry for entry in entries if not entry.program.dead and not entry.program.hits]
        if len(unused) + self._in_a_row >= max(limit - 1, MOST_GONE):
            failed = collections.Counter(source for entry in unused for source in _failed_source(entry, roots))
            found |= {source for source, times in failed.items() if times + self._gone[source] >= len(unused)}
            found |= _changing_strings(unused, roots)
        if found:
            self._in_a_row = 0
            self._gone.clear()
        return frozenset(found)

    def begin_waiting(self) -> bool:
        """Whether captures must wait, because leaving locations out has not helped."""
        if self._in_a_row < MOST_GONE:
            return False
        self._in_a_row = MOST_GONE - 1
        self._gone.clear()
        self.wait = self._next_wait
        self._next_wait = min(2 * self._next_wait, LONGEST_WAIT)
        return True


def _changing_strings(unused: Sequence[Entry], roots: Tuple[Any, ...]) -> Set[Source]:
    """The locations of strings that the call and each of some entries, which served no other call, have different."""
    found = [{guard.source for guard in entry.program.guards if _is_other_string(guard, roots)} for entry in unused]
    return set.intersection(*found) if found else set()


def _is_other_string(guard: Guard, roots: Tuple[Any, ...]) -> bool:
    """Whether a guard compares a string, which the call has another value of."""
    if not isinstance(guard, Equals) or type(guard.constant) is not str:
        return False
    try:
        value = guard.source.fetch(*roots)
    except SourceError:
        return False
    return type(value) is str and not guard.check(value)


def _gone_sources(guards: Iterable[Guard]) -> Set[Source]:
    """The locations of dead objects."""
    return {guard.source for guard in guards
            if isinstance(guard, OnObject) and guard.held.is_weak and guard.held.get() is GONE}


def _failed_source(entry: Entry, roots: Tuple[Any, ...]) -> List[Source]:
    """The location whose guard fails for the call, if the guard compares an object or a constant; else none."""
    failed = entry.program.evaluate_python(*roots).failed
    guard = entry.program.guards[failed] if failed is not None and failed != NO_GUARD else None
    compares = isinstance(guard, Equals) or isinstance(guard, OnObject) and guard.held.is_weak
    return [cast(OnSource, guard).source] if compares else []
