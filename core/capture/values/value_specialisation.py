"""Value specialisation: numbers from outside that a capture must know by value, such as an axis.

An Equals guard holds the first value. When a call brings a second one, the source is *changing*. Later captures then
take the number as a symbol: they break, or use a form that works for any value. The length of an axis may have
`MOST_LENGTHS` values until it is changing, and one value if many entries guard lengths.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Optional, Sequence, Set, Tuple

import numpy as np

from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, Unknown
from pijit.core.graph.types import SEVERAL
from pijit.core.named_tuples import NamedTuple
from pijit.guards.axes import AxisLength
from pijit.guards.facts import is_exactly
from pijit.guards.guard import Equals
from pijit.guards.source import SourceError

SPECIALISED = (int, float, bool)
MOST_LENGTHS = 3
"""Number of lengths of one axis for which entries are made. Each takes a capture and a place in the cache."""
MOST_ENTRIES = 6
"""Number of entries that guard lengths, after which no axis has more of them. The cache has room for 8 entries."""


class Specialisation(NamedTuple):
    """How numbers from outside are taken.

    Attributes:
        force: the option specialize_scalar. True takes all of them as constants, False none.
        changing: the sources that had a second value.
        changing_axes: (source of an array, axis) of the axes that had more lengths than `MOST_LENGTHS`.
        guesses_axes: entries guard axes from which a length may follow; see `guards.entry_program`.
        any_lengths: the capture is for all lengths of arrays from outside, except that of axes of length 1.
        left_out: the sources whose objects differ in each call; nothing is known of them.
    """

    force: Optional[bool] = None
    changing: FrozenSet[Any] = frozenset()
    left_out: FrozenSet[Any] = frozenset()
    changing_axes: FrozenSet[Tuple[Any, int]] = frozenset()
    any_lengths: bool = False
    guesses_axes: bool = True

    def may_be_known(self, value: Abstract) -> bool:
        """Whether capture may rely on the present value of a number."""
        return (self.force is not False and isinstance(value, Number) and is_exactly(value.sample, SPECIALISED)
                and value.source not in self.changing)

    def arriving(self, value: Abstract) -> Abstract:
        """A value as it enters from its source."""
        if self.left_out and value.source in self.left_out:
            return Unknown("PJ308")
        if self.force and isinstance(value, Number) and is_exactly(value.sample, SPECIALISED):
            return Const(value.sample, value.source, value.defined_at)
        if isinstance(value, Tensor) and (self.changing_axes or self.any_lengths) and value.type.lengths is not None:
            lengths = tuple(SEVERAL if length != 1 and self._is_changing(value.source, axis) else length
                            for axis, length in enumerate(value.type.lengths))
            return Tensor(value.type.expecting(lengths), value.value, value.source, value.defined_at)
        return value

    def _is_changing(self, source: Any, axis: int) -> bool:
        return self.any_lengths or (source, axis) in self.changing_axes

    def after(self, entries: Sequence[Sequence[Any]], *roots: Any) -> "Specialisation":
        """The specialisation after a call with these roots failed the guards of each entry: what differs now changes.
        """
        guards = [guard for one in entries for guard in one]
        found = {guard.source for guard in guards if isinstance(guard, Equals) and _has_changed(guard, roots)}
        lengths: Dict[Tuple[Any, int], Set[int]] = {}
        for guard in guards:
            if isinstance(guard, AxisLength):
                lengths.setdefault((guard.source, guard.axis), set()).add(guard.least)
        few = sum(any(isinstance(guard, AxisLength) for guard in one) for one in entries) < MOST_ENTRIES
        axes = {axis for axis, several in lengths.items()
                if len(several) >= (MOST_LENGTHS if few else 1) and _length(axis, roots) - several}
        return self._replace(changing=self.changing | found, changing_axes=self.changing_axes | axes,
                             guesses_axes=self.guesses_axes and few)


def _length(axis: Tuple[Any, int], roots: Any) -> Set[int]:
    """The length of an axis in a call; empty if there is no such axis."""
    source, number = axis
    try:
        value = source.fetch(*roots)
    except SourceError:
        return set()
    return set(value.shape[number:number + 1]) if type(value) is np.ndarray else set()


def _has_changed(guard: Equals, roots: Any) -> bool:
    """Whether a number has another value of the same type."""
    try:
        value = guard.source.fetch(*roots)
    except SourceError:
        return False
    return is_exactly(value, SPECIALISED) and type(value) is type(guard.constant) and not guard.check(value)
