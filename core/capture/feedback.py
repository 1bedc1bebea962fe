"""Type feedback: the first run of an entry observes what its fallback instructions push.

Nothing can be inferred about what a fallback call returns, so linked code hands each such value to an observer. The
next call that the entry would serve is captured again with what was seen.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict

from .values import Abstract, Opaque, Unknown, abstract_of, join

MAX_OBSERVATIONS = 3


class Pending:
    """An entry whose fallback results are being observed.

    Attributes:
        entry: the entry; set once it is made.
        observed: what was seen, by instruction; objects are held weakly, because they are the user's to free.
        used: what the last capture was told.
        rounds: how often it was captured again.
    """

    def __init__(self) -> None:
        self.entry: Any = None
        self.observed: Dict[int, Callable[[], Abstract]] = {}
        self.used: Dict[int, Abstract] = {}
        self.rounds = 0

    def observe(self, index: int) -> Any:
        """A callable for linked code that records what instruction ``index`` pushed. It never raises."""
        observed = self.observed

        def observer(value: Any) -> None:
            seen = abstract_of(value, born=index)
            if index in observed:
                seen = join(observed[index](), seen)
            observed[index] = _held(seen)

        return observer

    def take(self) -> int:
        """Move what was seen to ``used``; returns how many values are new."""
        news = sum(index not in self.used for index in self.observed)
        self.used = {index: held() for index, held in self.observed.items()}
        self.rounds += 1
        return news


def _held(value: Abstract) -> Callable[[], Abstract]:
    if not isinstance(value, Opaque):
        return lambda: value
    born = value.born
    try:
        sample = weakref.ref(value.sample)
    except TypeError:
        return lambda: Unknown("PJ218", born)

    def opaque() -> Abstract:
        alive = sample()
        return Opaque(alive, None, born) if alive is not None else Unknown("PJ218", born)

    return opaque
