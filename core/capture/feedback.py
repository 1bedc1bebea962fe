"""Type feedback: the first run of an entry observes what its fallback instructions push.

Nothing can be inferred about what a fallback call returns, so linked code hands each such value to an observer. The
next call that the entry would serve is captured again with what was seen.
"""

from __future__ import annotations

from typing import Any, Dict

from pijit.core import _launcher
from pijit.core.capture.states import join
from pijit.core.capture.values import Abstract, Instance, Opaque, Unknown, abstract_of
from pijit.core.graph.types import Object

MAX_OBSERVATIONS = 3
CONTAINERS = (list, dict, set)


class Pending:
    """An entry whose fallback results are being observed.

    Attributes:
        entry: the entry; set once it is made.
        observed: what was seen, by instruction; of objects that are no numbers or arrays nothing is kept, not even a
            weak reference, which the user could count.
        used: what the last capture was told.
        rounds: how often it was captured again.
    """

    def __init__(self) -> None:
        self.entry: Any = None
        self.observed: Dict[int, Abstract] = {}
        self.used: Dict[int, Abstract] = {}
        self.rounds = 0

    def observe(self, index: int) -> Any:
        """A callable for linked code that records what instruction ``index`` pushed. It never raises, and trace
        functions do not see it."""
        observed = self.observed

        def observer(value: Any) -> None:
            seen = abstract_of(value, born=index)
            if isinstance(seen, Opaque):
                kind = type(value)
                seen = Instance(Object(kind), born=index) if kind in CONTAINERS else Unknown("PJ203", index)
            observed[index] = join(observed[index], seen) if index in observed else seen

        return _launcher.untraced(observer)

    def take(self) -> int:
        """Move what was seen to ``used``; returns how many values are new."""
        news = sum(index not in self.used for index in self.observed)
        self.used = dict(self.observed)
        self.rounds += 1
        return news
