"""Loops whose number of iterations is known at run time only: the forward part counts iterations.

The loop is a ``while True`` with exits. An iteration that an exit leaves does not count: the items after the loop
repeat it. If the only exit is at the end of the body, all iterations are complete.

The arrays of rows have a fixed size in bytes, of which the system only provides the pages that rows are stored in. If
they are full, a joint function with larger ones runs the call, and finally the tape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.errors import OtherShapes, TooLarge
from pijit.core.graph.reverse.regions import LoopExit, LoopRegion

if TYPE_CHECKING:
    from pijit.core.graph.reverse.sequence import Forward

MOST_ROWS = {1: 8 << 20, 2: 256 << 20, 3: 1 << 62}
"""The bytes of rows by the levels of checkpoints that counted loops have; see `GradientKernels`."""


class UncountedLoops:
    """Writes such loops forwards.

    Args:
        forward: writes sequences.
        limit: the most bytes that a loop may save.
        levels: the levels of checkpoints.
    """

    def __init__(self, forward: Forward, limit: int, levels: int) -> None:
        self._forward, self._limit, self._levels = forward, limit, levels

    def write(self, loop: LoopRegion, saving: bool) -> None:
        """Write a loop; ``saving``: it saves what its backward part needs."""
        forward, code = self._forward, self._forward.code
        index = code.name(loop.index)
        forward.move([loop.index, *loop.params], [loop.start, *loop.first])
        saved = forward.needs.rows(loop) if saving else []
        if saved:
            self._allocate(loop, saved)
        code.line("while True:")
        code.depth += 1
        if saved:
            forward.require("%s == %s" % (index, self._capacity(loop)), TooLarge)
            forward.save(loop, index)
        forward.body(loop, saving)
        code.line("%s = %s + 1" % (index, index))
        if loop.until is not None:
            self.exit(loop.until)
        code.depth -= 1
        code.line("%s = %s" % (code.name(loop.limit), index))
        if saving:
            forward.save_following(loop, index)
            forward.require("%s < %s" % (index, forward.least_name(loop)), OtherShapes)

    def exit(self, item: LoopExit) -> None:
        """Write an exit of the loop around it."""
        self._forward.code.line("if %s%s:" % ("" if item.holds else "not ", self._forward.code.name(item.condition)))
        self._forward.code.line("    break")

    def _allocate(self, loop: LoopRegion, saved: Sequence[Value]) -> None:
        """Write the arrays of rows."""
        forward, code = self._forward, self._forward.code
        code.line("%s = %d // %s(%s, 1)" % (self._capacity(loop), min(self._limit, MOST_ROWS[self._levels]),
                                           code.object(max, "max"), forward.bytes_of(saved)))
        for value in saved:
            forward.allocate(code.rows(loop, value), value, self._capacity(loop) + " + 1")

    @staticmethod
    def _capacity(loop: LoopRegion) -> str:
        """The variable of the number of rows."""
        return "m_%d" % loop.number
