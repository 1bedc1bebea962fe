"""Unrolling of loops over short ranges whose index selects objects of a program, or cuts a tuple.

A kernel cannot hold an object of the program that it selects by a computed index, and the length of a tuple is known.
If the loop is unrolled, the index is a constant in each iteration. So capture starts again and unrolls such loops.
`iterators` asks whether it does, `reads` and `item_reads` request it.
"""

from __future__ import annotations

from typing import Any, Sequence

from pijit.core.capture.profile.samples import NEVER_SAMPLED


class UnrollRanges(Exception):
    """Raised where an integer must be a constant; capture starts again and unrolls ranges."""


class RangeUnrolling:
    """Whether one capture unrolls loops over short ranges of constants.

    Attributes:
        on: it does.
        possible: there was such a loop.
    """

    __slots__ = ("on", "possible")

    def __init__(self) -> None:
        self.on = self.possible = False

    def select(self, items: Sequence[Any]) -> None:
        """Note that an index selects one of the items. Raises UnrollRanges if that may help."""
        if not all(isinstance(item, NEVER_SAMPLED) for item in items):
            self.require_constants()

    def require_constants(self) -> None:
        """Note that an integer must be a constant. Raises UnrollRanges if that may help."""
        if self.possible and not self.on:
            self.on = True
            raise UnrollRanges
