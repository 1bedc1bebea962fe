"""Type feedback: the first run of an entry observes what its fallback instructions push.

Nothing can be inferred about what a fallback call returns, so linked code hands each such value to an observer. The
next call that the entry would serve is captured again with what was seen. A long first call does not wait for that:
at the headers of its loops it asks whether to capture now, and moves to the newer code.

A call may return values of several kinds, in one run or in the course of time. Each kind is kept that has nothing in
common with the others, and the function is captured once per kind; the segments of all these captures are linked
together, and their guards choose. When the guards of all segments of a place have failed again and again, though
those of the entry held, the entry is retired and a run is observed anew.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter, defaultdict, deque
from itertools import islice
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Tuple

from pijit.core import _launcher
from pijit.core.bytecode.assembler import natives
from pijit.core.capture.state.frame_state import join
from pijit.core.capture.values.element_types import LOOKED_AT, list_like
from pijit.core.capture.values.key_value_types import type_like
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Opaque,
    Sequence,
    Tensor,
    Unknown,
    abstract_of,
    class_of,
)
from pijit.core.graph.draws import is_generator
from pijit.core.graph.types import Object, Vacant
from pijit.guards.facts import is_among, type_name

MAX_OBSERVATIONS = 3
MAX_ITEMS = 8
"""Of longer tuples it is not remembered what is in them."""
CONTAINERS = (list, dict, set, deque, defaultdict, Counter)
MAX_KINDS = 4
"""How many kinds of values of one instruction are told apart."""
MAX_RENEWALS = 3
"""How often an entry is observed anew because segments no longer fit."""
MOVE_AFTER = 0.1
"""Seconds that a call has run before it may move."""
PATIENT_VISITS = 64
"""How often a loop begins anew before it no longer waits for values that were never seen."""


def is_long(running: float, spent: float) -> bool:
    """Whether a call that runs for so many seconds should pay for another capture, if the last one took ``spent``."""
    return running >= max(MOVE_AFTER, spent)


Kinds = Dict[int, Tuple[Abstract, ...]]
"""What was seen, by instruction: one or more kinds of values."""


class Seen(NamedTuple):
    """What an entry was captured with, and how often its function was observed anew for want of fitting segments."""

    kinds: Kinds = {}
    renewals: int = 0

    @property
    def profiles(self) -> List[Dict[int, Abstract]]:
        """What each capture is told: its share of the kinds."""
        count = max([len(kinds) for kinds in self.kinds.values()] + [1])
        return [{index: kinds[min(number, len(kinds) - 1)] for index, kinds in self.kinds.items()}
                for number in range(count)]


def with_kind(kinds: Tuple[Abstract, ...], seen: Abstract) -> Tuple[Abstract, ...]:
    """The kinds and one more, where it has nothing in common with any of them."""
    differ = isinstance(seen, Const) and any(isinstance(kind, Unknown) and kind.reason == "PJ213" for kind in kinds)
    if isinstance(seen, Unknown) or differ:
        return kinds or (seen,)
    kinds = tuple(kind for kind in kinds if not isinstance(kind, Unknown))
    for number, kind in enumerate(kinds):
        both = _joined(kind, seen)
        if not _forgets(both, kind, seen):
            return kinds[:number] + (both,) + kinds[number + 1:]
        if isinstance(kind, Const) and isinstance(seen, Const) and type(kind.object) is type(seen.object):
            return kinds[:number] + (both,) + kinds[number + 1:]  # of bytes, each is one of its own
    return kinds + (seen,) if len(kinds) < MAX_KINDS else kinds


def _joined(kind: Abstract, seen: Abstract) -> Abstract:
    """What is common to two kinds; of strings that differ, that they are some."""
    if class_of(kind) is class_of(seen) is str and kind != seen:
        return Instance(Object(str), born=kind.born)
    return join(kind, seen)


def _forgets(both: Abstract, kind: Abstract, seen: Abstract) -> bool:
    """Whether nothing is left of what two kinds, or two items of two tuples at the same position, are known to be."""
    if isinstance(both, Sequence) and isinstance(kind, Sequence) and isinstance(seen, Sequence):
        return any(_forgets(*items) for items in zip(both.items, kind.items, seen.items))
    return isinstance(both, Unknown) and not (isinstance(kind, Unknown) and isinstance(seen, Unknown))


def _like(value: Any, index: int) -> Abstract:
    """What is remembered of a value; of a tuple what its items are like."""
    seen, kind = abstract_of(value, born=index), type(value)
    if not isinstance(seen, Opaque):
        return seen
    if kind is tuple and len(value) <= MAX_ITEMS:
        items = [_like(item, index) for item in value]
        return Sequence([Unknown("PJ218", index) if isinstance(item, Const) else item for item in items], born=index)
    if kind is list:
        return Instance(list_like(value[:LOOKED_AT]) or Object(list) if value else Vacant(), born=index)
    if is_among(kind, (dict, defaultdict, Counter)):
        return Instance(type_like(kind, islice(value, LOOKED_AT), islice(value.values(), LOOKED_AT)), born=index)
    known = is_among(kind, CONTAINERS) or is_generator(kind)
    return Instance(Object(kind), born=index) if known else Unknown("PJ203", index)


def _in_words(kind: Abstract) -> str:
    """``float64[1d,C]``, ``int``."""
    known = class_of(kind)
    return repr(kind.type) if isinstance(kind, Tensor) else type_name(known) if known is not None else "object"


class Pending:
    """An entry whose fallback results are being observed.

    Attributes:
        entry: the entry; set once it is made.
        observed: what was seen, by instruction; of objects that are no numbers or arrays nothing is kept, not even a
            weak reference, which the user could count.
        used: what the last capture was told.
        again: the instructions to observe although something was seen there.
        rounds: how often it was captured again.
        arrived: what is known of the arguments that the function binds anew, as they were when it was called; None
            if that would keep objects of the user's alive.
    """

    def __init__(self, on_visit: Optional[Callable[..., Any]] = None, before: Optional[Seen] = None) -> None:
        self.entry: Any = None
        self.used = Seen() if before is None else before._replace(renewals=before.renewals + 1)
        self.observed: Kinds = dict(self.used.kinds)
        self.again = frozenset(self.observed)
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
            observed[index] = with_kind(observed.get(index, ()), _like(value, index))

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

        return lambda stack: natives.mover(ask, stack)

    def _is_due(self, inside: FrozenSet[int], visits: int) -> bool:
        """Whether there is something new, all that the loop shows in each round was seen, and the call is long."""
        news = any(not isinstance(kind, Unknown) for kinds in self._news().values() for kind in kinds)
        seen = visits >= PATIENT_VISITS or inside <= set(self.observed)
        return news and seen and is_long(time.monotonic() - self._began, self._spent)

    def take(self) -> Dict[int, str]:
        """Move what was seen to ``used``; returns what is new, in words, by instruction."""
        news = {index: _in_words(kinds[-1]) for index, kinds in sorted(self._news().items())}
        self.used = self.used._replace(kinds=dict(self.observed))
        self.again = frozenset()
        self.rounds += 1
        self._began = time.monotonic()
        return news

    def _news(self) -> Kinds:
        """What was seen that the last capture was not told."""
        used = self.used.kinds
        return {index: kinds for index, kinds in self.observed.items() if len(kinds) > len(used.get(index, ()))}

    def to_observe(self, found: Iterable[int], breaks: Iterable[int]) -> List[int]:
        """The instructions to observe: those that a capture found, and those to observe again."""
        return sorted(set(found) | self.again.intersection(breaks))
