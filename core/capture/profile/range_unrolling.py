"""Unrolling of short loops whose index selects objects of a program, or that make a tuple which must be known.

A kernel cannot hold an object of the program that it selects by a computed index, and the length of a tuple is known.
If the loop is unrolled, the index is a constant in each iteration. So capture starts again and unrolls such loops.
`iterators` asks whether it does, `reads` and `item_reads` request it.
"""

from __future__ import annotations

from typing import Any, Sequence, Set

from pijit.core.capture.profile.samples import NEVER_SAMPLED


class UnrollRanges(Exception):
    """Raised where an integer must be a constant; capture starts again and unrolls ranges."""


CONSTANTS, EXPECTED = 1, 2
"""Kinds of loops: over ranges of constants; with a length that follows from lengths of arrays or numbers from outside.
"""


class RangeUnrolling:
    """Which short loops one capture unrolls.

    Attributes:
        level: the last kind of loops that are unrolled; 0: none.
        met: the kinds of loops that there were.
    """

    __slots__ = ("level", "met")

    def __init__(self) -> None:
        self.level = 0
        self.met: Set[int] = set()

    def unrolls(self, kind: int) -> bool:
        """Whether a loop of this kind is unrolled."""
        self.met.add(kind)
        return kind <= self.level

    def select(self, items: Sequence[Any]) -> None:
        """Note that an index selects one of the items. Raises UnrollRanges if that may help."""
        if not all(isinstance(item, NEVER_SAMPLED) for item in items):
            self.require_constants()

    def require_constants(self) -> None:
        """Note that an integer must be a constant. Raises UnrollRanges if that may help."""
        more = [kind for kind in self.met if kind > self.level]
        if more:
            self.level = min(more)
            raise UnrollRanges
