"""Unrolling of short loops whose index selects objects of a program, or that make a tuple which must be known.

A kernel cannot hold an object of the program that it selects by a computed index, and the length of a tuple is known.
If the loop is unrolled, the index is a constant in each iteration. So capture starts again and unrolls such loops.
`driver.capture` reacts to UnrollRanges. This module must never see kernels or run code.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, Sequence, Set, Tuple

from pijit.core.capture.profile.samples import NEVER_SAMPLED

CapturePoint = Tuple[Tuple[CodeType, ...], int]
"""The codes of the functions around an instruction, outermost first, and its number in the last one."""


class UnrollRanges(Exception):
    """Raised where an integer must be a constant; capture starts again and unrolls ranges."""


class RangeUnrolling:
    """Which short loops one capture unrolls.

    Loops over ranges of constants are unrolled together. The length of other loops follows from lengths of arrays, or
    from numbers from outside. They are unrolled one after the other, from the last one before the place that needs it.
    So other loops stay loops. If the place still needs a constant when all are unrolled, they become loops again.

    Attributes:
        on: loops over ranges of constants are unrolled.
        possible: there was such a loop.
        unrolled: the places of the other loops that are unrolled.
    """

    __slots__ = ("on", "possible", "unrolled", "_met", "_tried", "_hopeless")

    def __init__(self) -> None:
        self.on = self.possible = False
        self.unrolled: Set[CapturePoint] = set()
        self._met: List[CapturePoint] = []
        self._tried: Dict[CapturePoint, Set[CapturePoint]] = {}
        self._hopeless: Set[CapturePoint] = set()

    def unrolls_constants(self) -> bool:
        """Whether a loop over a range of constants is unrolled."""
        self.possible = True
        return self.on

    def unrolls(self, loop: CapturePoint) -> bool:
        """Whether a loop with an expected length is unrolled."""
        if loop in self._met:
            self._met.remove(loop)
        self._met.append(loop)
        return loop in self.unrolled

    def select(self, items: Sequence[Any], place: CapturePoint) -> None:
        """Note that an index selects one of the items. Raises UnrollRanges if that may help."""
        if not all(isinstance(item, NEVER_SAMPLED) for item in items):
            self.require_constants(place)

    def require_constants(self, place: CapturePoint) -> None:
        """Note that an integer must be a constant at a place. Raises UnrollRanges if that may help."""
        if self.possible and not self.on:
            self.on = True
            self._restart()
        if place in self._hopeless:
            return
        tried = self._tried.setdefault(place, set())
        left = [loop for loop in self._met if loop not in self.unrolled]
        if left:
            more = left[-max(len(tried), 1):]  # twice as many as before, so that there are few attempts
            tried.update(more)
            self.unrolled.update(more)
            self._restart()
        self._hopeless.add(place)
        if tried:
            self.unrolled -= tried
            self._restart()

    def _restart(self) -> None:
        self._met.clear()
        raise UnrollRanges
