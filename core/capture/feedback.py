"""Type feedback: the first run of an entry observes what its fallback instructions push.

Nothing can be inferred about what a fallback call returns, so linked code hands each such value to an observer. The
next call that the entry would serve is captured again with what was seen. A long first call does not wait for that: at the
headers of its loops it asks whether to capture now, and moves to the newer code.
"""

from __future__ import annotations

import time
import weakref
from typing import Any, Callable, Dict, FrozenSet, Optional

from pijit.core import _hook, _launcher
from pijit.core.capture.states import join
from pijit.core.capture.values import Abstract, Instance, Opaque, Unknown, abstract_of
from pijit.core.graph.types import Object
from pijit.guards.facts import is_among

MAX_OBSERVATIONS = 3
CONTAINERS = (list, dict, set)
MOVE_AFTER = 0.1
"""Seconds that a call has run before it may move."""
PATIENT_VISITS = 64
"""How often a loop begins anew before it no longer waits for values that were never seen."""


def is_long(running: float, spent: float) -> bool:
    """Whether a call that runs for so many seconds should pay for another capture, if the last one took ``spent``."""
    return running >= max(MOVE_AFTER, spent)


class Pending:
    """An entry whose fallback results are being observed.

    Attributes:
        entry: the entry; set once it is made.
        observed: what was seen, by instruction; of objects that are no numbers or arrays nothing is kept, not even a
            weak reference, which the user could count.
        used: what the last capture was told.
        rounds: how often it was captured again.
        arrived: what is known of the arguments that the function binds anew, as they were when it was called; None
            if that would keep objects of the user's alive.
    """

    def __init__(self, on_visit: Optional[Callable[..., Any]] = None) -> None:
        self.entry: Any = None
        self.observed: Dict[int, Abstract] = {}
        self.used: Dict[int, Abstract] = {}
        self.rounds = 0
        self.arrived: Optional[Dict[str, Abstract]] = None
        self._on_visit = on_visit
        self._began = time.monotonic()
        self._spent = 0.0

    def serve(self, entry: Any) -> None:
        """Observe the run of an entry that was made just now."""
        self.entry = entry
        self._spent, self._began = time.monotonic() - self._began, time.monotonic()

    def observe(self, index: int) -> Any:
        """A callable for linked code that records what instruction ``index`` pushed. It never raises, and trace
        functions do not see it."""
        observed = self.observed

        def observer(value: Any) -> None:
            seen = abstract_of(value, born=index)
            if isinstance(seen, Opaque):
                kind = type(value)
                seen = Instance(Object(kind), born=index) if is_among(kind, CONTAINERS) else Unknown("PJ203", index)
            observed[index] = join(observed[index], seen) if index in observed else seen

        return _launcher.untraced(observer)

    def mover(self, header: int, inside: FrozenSet[int]) -> Callable[[int], Any]:
        """What makes, for the local that takes the operand stack, the mover of a loop with these observers inside.

        The code object that has it leads to this object, so it must not own it.
        """
        weak = weakref.ref(self)

        def ask(code: Any, slots: Any, globals: Any, builtins: Any, visits: int) -> Any:
            alive = weak()
            if alive is None or alive._on_visit is None or not alive._is_due(inside, visits):
                return None
            return alive._on_visit(alive, header, code, slots, globals, builtins)

        return lambda stack: _hook.mover(ask, stack)

    def _is_due(self, inside: FrozenSet[int], visits: int) -> bool:
        """Whether there is something new, all that the loop shows in each round was seen, and the call is long."""
        news = any(index not in self.used and not isinstance(value, Unknown) for index, value in self.observed.items())
        seen = visits >= PATIENT_VISITS or inside <= set(self.observed)
        return news and seen and is_long(time.monotonic() - self._began, self._spent)

    def take(self) -> int:
        """Move what was seen to ``used``; returns how many values are new."""
        news = sum(index not in self.used for index in self.observed)
        self.used = dict(self.observed)
        self.rounds += 1
        self._began = time.monotonic()
        return news
