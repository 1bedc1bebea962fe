"""Type feedback: the first run of an entry observes the values that uncaptured instructions push.

The result type of such a call cannot be inferred, so linked code passes each value to an observer. The next call that
the entry would serve is captured again with the observed types. A long first call does not wait for that. At its loop
headers it asks whether to capture now, and continues in the newer code.

A call may return values of several kinds, in one run or over time. Kinds that have nothing in common are kept
separately, and the function is captured once per kind. The segments of all these captures are linked together, and
their guards choose. All segments at one instruction may fail repeatedly while the entry's guards hold. Then the entry
is retired, and another run is observed.
"""

from __future__ import annotations

import sys
import time
import types
import weakref
from collections import Counter, defaultdict, deque
from itertools import islice
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Optional, Set, Tuple

from pijit.core import _launcher
from pijit.core.bytecode.assembler import natives
from pijit.core.capture.state.frame_state import join
from pijit.core.capture.values.element_types import DEEPEST_TUPLE, LOOKED_AT, list_like
from pijit.core.capture.values.key_value_types import type_like
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    MappedArray,
    OpaqueObject,
    Sequence,
    Tensor,
    Unknown,
    abstract_of,
    class_of,
)
from pijit.core.graph.draws import is_generator
from pijit.core.graph.types import Object, Vacant
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_among, type_name

MAX_OBSERVATIONS = 3
MAX_ITEMS = 8
"""Longer tuples are recorded without the types of their items."""
CONTAINERS = (list, dict, set, deque, defaultdict, Counter)
MAX_KINDS = 4
"""The maximum number of kinds that are kept for one instruction."""
MAX_RENEWALS = 3
"""How often an entry may be observed again because segments no longer fit."""
MOVE_AFTER = 0.1
"""Seconds that a call must have run before on-stack replacement."""
MAX_EARLY_RUNS = 1000
"""How many calls an entry serves, at most, while its first run goes on and nothing was observed."""
PATIENT_VISITS = 64
"""Number of visits of a loop's header after which a loop no longer waits for values that were never observed."""


def is_long(running: float, spent: float) -> bool:
    """Whether a call that has run for ``running`` seconds is worth another capture, if the last one took ``spent``."""
    return running >= max(MOVE_AFTER, spent)


KindsByInstruction = Dict[int, Tuple[Abstract, ...]]
"""The observed kinds of values, by instruction."""


class ObservedKinds(NamedTuple):
    """The kinds that an entry was captured with, and how often it was observed again because no segment fitted."""

    kinds: KindsByInstruction = {}
    renewals: int = 0

    @property
    def profiles(self) -> List[Dict[int, Abstract]]:
        """The kinds for each capture: each instruction has one kind per capture."""
        count = max([len(kinds) for kinds in self.kinds.values()] + [1])
        return [{index: kinds[min(number, len(kinds) - 1)] for index, kinds in self.kinds.items()}
                for number in range(count)]


def with_kind(kinds: Tuple[Abstract, ...], observed: Abstract) -> Tuple[Abstract, ...]:
    """The kinds with ``observed`` added: as one of its own if it has nothing in common with any, else joined to one."""
    differ = isinstance(observed, Const) and any(isinstance(kind, Unknown) and kind.reason == "PJ213" for kind in kinds)
    if isinstance(observed, Unknown) or differ:
        return kinds or (observed,)
    kinds = tuple(kind for kind in kinds if not isinstance(kind, Unknown))
    for number, kind in enumerate(kinds):
        both = _joined(kind, observed)
        if not _forgets(both, kind, observed):
            return kinds[:number] + (both,) + kinds[number + 1:]
        if isinstance(kind, Const) and isinstance(observed, Const) and type(kind.object) is type(observed.object):
            return kinds[:number] + (both,) + kinds[number + 1:]  # each bytes object would be a kind of its own
    return kinds + (observed,) if len(kinds) < MAX_KINDS else kinds


def _joined(kind: Abstract, observed: Abstract) -> Abstract:
    """The join of two kinds. Strings that differ become any string."""
    if class_of(kind) is class_of(observed) is str and kind != observed:
        return Instance(Object(str), defined_at=kind.defined_at)
    return join(kind, observed)


def _forgets(both: Abstract, kind: Abstract, observed: Abstract) -> bool:
    """Whether two kinds, or two items at one position of two tuples, have nothing in common."""
    if isinstance(both, Sequence) and isinstance(kind, Sequence) and isinstance(observed, Sequence):
        return any(_forgets(*items) for items in zip(both.items, kind.items, observed.items))
    return isinstance(both, Unknown) and not (isinstance(kind, Unknown) and isinstance(observed, Unknown))


def _like(value: Any, index: int, depth: int = 0) -> Abstract:
    """The abstract value that is kept for an observed value; a tuple keeps the types of its items.

    ``depth`` is the number of tuples that contain it.
    """
    observed, kind = abstract_of(value, defined_at=index), type(value)
    if isinstance(observed, MappedArray):
        return observed.without_object()
    if not isinstance(observed, OpaqueObject):
        return observed
    if kind is tuple and len(value) <= MAX_ITEMS and depth < DEEPEST_TUPLE:
        items = [_like(item, index, depth + 1) for item in value]
        unknown = Unknown("PJ218", index)
        return Sequence([unknown if isinstance(item, Const) else item for item in items], defined_at=index)
    if kind is list:
        return Instance(list_like(value[:LOOKED_AT]) or Object(list) if value else Vacant(), defined_at=index)
    if is_among(kind, (dict, defaultdict, Counter)):
        return Instance(type_like(kind, islice(value, LOOKED_AT), islice(value.values(), LOOKED_AT)), defined_at=index)
    known = is_among(kind, CONTAINERS) or is_generator(kind)
    return Instance(Object(kind), defined_at=index) if known else Unknown("PJ203", index)


def _in_words(kind: Abstract) -> str:
    """The kind in words, such as ``float64[1d,C]`` or ``int``."""
    known = class_of(kind)
    return repr(kind.type) if isinstance(kind, Tensor) else type_name(known) if known is not None else "object"


def _runs(code: types.CodeType) -> bool:
    """Whether a frame of the code runs, in any thread."""
    for frame in sys._current_frames().values():
        outer: Optional[types.FrameType] = frame
        while outer is not None:
            if outer.f_code is code:
                return True
            outer = outer.f_back
    return False


class Pending:
    """An entry whose uncaptured results are being observed.

    Attributes:
        entry: the entry; set once it is made.
        observed: the observed kinds, by instruction. No reference to objects other than numbers and arrays is kept,
            not even a weak one, which the user could count.
        used: the kinds that the last capture was given.
        again: the instructions to observe although they have been observed.
        recaptures: how often it was captured again.
        arrived: the abstract values of arguments that the function rebinds, as they were at the call. None if keeping
            them would keep objects of the user's alive.
    """

    def __init__(self, on_visit: Optional[Callable[..., Any]] = None, before: Optional[ObservedKinds] = None) -> None:
        self.entry: Any = None
        self.used = ObservedKinds() if before is None else before._replace(renewals=before.renewals + 1)
        self.observed: KindsByInstruction = dict(self.used.kinds)
        self.again = frozenset(self.observed)
        self.recaptures = 0
        self.arrived: Optional[Dict[str, Abstract]] = None
        self._reached: Set[int] = set()
        self._early_runs = 0
        self._on_visit = on_visit
        self._began = time.monotonic()
        self._spent = 0.0

    def serve(self, entry: Any) -> None:
        """Observe the run of an entry that was just made."""
        self.entry = entry
        self._reached.clear()
        self._early_runs = 0
        self._spent, self._began = time.monotonic() - self._began, time.monotonic()

    def runs_again(self) -> bool:
        """Whether the entry has to serve one more call, because its first run goes on and has not observed a value.

        Other threads call the function meanwhile, and so may its own callees.
        """
        if self._reached or self._early_runs == MAX_EARLY_RUNS or not _runs(self.entry.code.linked):
            return False
        self._early_runs += 1
        return True

    def observe(self, index: int) -> Any:
        """A callable for linked code that records the value pushed by instruction ``index``.

        It never raises, and trace functions do not see it.
        """
        observed, reached = self.observed, self._reached  # code owns the observer, so that must not own this object

        def observer(value: Any) -> None:
            observed[index] = with_kind(observed.get(index, ()), _like(value, index))
            reached.add(index)

        return _launcher.untraced(observer)

    def osr_check(self, header: int, inside: FrozenSet[int]) -> Callable[[int], Any]:
        """A function that makes the on-stack-replacement object of a loop, given the local that takes the operand
        stack.

        ``inside`` are the observers in the loop. The code object that holds the result leads to this object, so the
        result must not own it.
        """
        weak = weakref.ref(self)

        def ask(code: Any, slots: Any, globals: Any, builtins: Any, visits: int) -> Any:
            alive = weak()
            if alive is None or alive._on_visit is None or not alive._is_due(inside, visits):
                return None
            return alive._on_visit(alive, header, code, slots, globals, builtins)

        return lambda stack: natives.osr_check(ask, stack)

    def _is_due(self, inside: FrozenSet[int], visits: int) -> bool:
        """Whether there are new kinds, all observers in the loop have run, and the call is long enough."""
        news = any(not isinstance(kind, Unknown) for kinds in self._news().values() for kind in kinds)
        complete = visits >= PATIENT_VISITS or inside <= set(self.observed)
        return news and complete and is_long(time.monotonic() - self._began, self._spent)

    def take(self) -> Dict[int, str]:
        """Move the observed kinds to ``used``. Returns the new ones in words, by instruction."""
        news = {index: _in_words(kinds[-1]) for index, kinds in sorted(self._news().items())}
        self.used = self.used._replace(kinds=dict(self.observed))
        self.again = frozenset()
        self.recaptures += 1
        self._began = time.monotonic()
        return news

    def _news(self) -> KindsByInstruction:
        """The observed kinds that the last capture was not given."""
        used = self.used.kinds
        return {index: kinds for index, kinds in self.observed.items() if len(kinds) > len(used.get(index, ()))}

    def to_observe(self, found: Iterable[int], breaks: Iterable[int]) -> List[int]:
        """The instructions to observe: those that a capture found, and those to observe again."""
        return sorted(set(found) | self.again.intersection(breaks))
