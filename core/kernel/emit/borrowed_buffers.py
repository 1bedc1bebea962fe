"""Borrowed buffers: which arrays of a kernel may have memory of the buffer pool, as their allocations are written."""

from __future__ import annotations

from typing import Set

from pijit.core.graph.ir import Value
from pijit.core.kernel.plan.escape import EscapeAnalysis


class BorrowedBuffers:
    """The arrays that may have borrowed a buffer so far; a side exit hands out a copy of such an array."""

    __slots__ = ("_escape", "_lent")

    def __init__(self, escape: EscapeAnalysis) -> None:
        self._escape = escape
        self._lent: Set[Value] = set()

    def __contains__(self, value: Value) -> bool:
        return value in self._lent

    def borrows(self, value: Value) -> bool:
        """Whether a new array may borrow a buffer, which is noted."""
        if self._escape.may_borrow(value):
            self._lent.add(value)
        return value in self._lent

    def hands_on(self, value: Value, result: Value) -> bool:
        """Whether a result may reuse the memory of a dead array, which may be a borrowed buffer."""
        if value in self._lent and self._escape.is_private(result):
            self._lent.add(result)
        return value not in self._lent or result in self._lent
