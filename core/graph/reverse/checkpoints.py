"""Checkpoints: loops save the state of some iterations alone, and compute the others again.

With two levels, a loop of n iterations saves its state at each k-th one, where k is about the square root of n. The
backward part goes from the last interval to the first. It runs the loop's body again from the checkpoint of an
interval, and saves what the iterations of the interval need. So about 2 k rows are in memory instead of n, for a second
run of the loop.

With three levels, k is about the cube root of n, and the loop saves its state at each k * k-th iteration. Its intervals
save checkpoints in turn: 3 k rows, for a third run of the loop. The method is that of A. Griewank and A. Walther,
"Algorithm 799: revolve", with equal intervals.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, List, Mapping, Optional, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import APPLIES_UFUNC, STORES
from pijit.core.graph.passes.fusion import FLOAT_LOOPS
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import LoopRegion, all_ops, passed
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.types import Array

if TYPE_CHECKING:
    from pijit.core.graph.reverse.sequence import Forward

KEPT = 256 << 20
"""The most bytes of rows that a loop saves of all iterations. With more, it has checkpoints."""

CACHE = "/sys/devices/system/cpu/cpu0/cache/index3/size"
"""Where Linux tells the size of the processor's last cache, such as ``32768K``."""


def _last_cache() -> int:
    """The bytes of the processor's last cache; 0 if the system does not tell."""
    try:
        with open(CACHE, encoding="ascii") as file:
            return int(file.read().strip().rstrip("K")) << 10
    except (OSError, ValueError):
        return 0


KEPT_OF_CHEAP: Optional[int] = None
"""The same for loops whose body takes less time than to save rows outside of caches. None: half of the last cache."""


@functools.lru_cache(maxsize=None)
def _kept_in_cache() -> int:
    """Half of the processor's last cache, at least 8 MiB."""
    return max(8 << 20, _last_cache() // 2)


def most_kept(loop: LoopRegion, roots: Roots) -> int:
    """The most bytes of rows that a loop saves of all iterations."""
    if not is_cheap(loop, roots):
        return KEPT
    return _kept_in_cache() if KEPT_OF_CHEAP is None else KEPT_OF_CHEAP


def is_cheap(loop: LoopRegion, roots: Roots) -> bool:
    """Whether the body of a loop is arithmetic on elements."""
    return all(_is_cheap(op, roots) for op in all_ops(loop.items))


def _is_cheap(op: Op, roots: Roots) -> bool:
    """Whether an operation is arithmetic on elements, a store, a view, or computes a number."""
    if op.name in APPLIES_UFUNC:
        return op.attrs["ufunc"] in FLOAT_LOOPS
    return op.name in STORES or op.result in roots.view or not isinstance(getattr(op.result, "type", None), Array)


class Checkpoints:
    """Writes the checkpoints of loops, and the repeated runs of their intervals.

    Args:
        forward: writes sequences.
        loops: the loops that have checkpoints, and for each the arrays that later items store into.
        levels: the number of levels; the rows are the first one.
    """

    def __init__(self, forward: Forward, loops: Mapping[LoopRegion, Set[Value]], levels: int) -> None:
        self._forward, self.loops, self._levels = forward, loops, levels

    def state(self, loop: LoopRegion) -> List[Value]:
        """What an iteration changes: loop-carried values, and arrays of outside that the body stores into."""
        roots, made = self._forward.code.roots, {op.result for op in all_ops(loop.items)}
        stored = self._forward.needs.stored_by(loop) - made
        read = {roots.of(value) for op in all_ops(loop.items) for value in op.args} - made
        read.update(map(roots.of, passed(loop.items)))
        if not self.loops[loop].isdisjoint(read - stored):
            raise Irreversible("a loop that reads an array which stores write to afterwards")
        return list(loop.params) + sorted(stored, key=lambda value: value.id)

    # ---- the forward part ----

    def allocate(self, loop: LoopRegion) -> None:
        """Write the interval, the test of the limit, and the arrays of the checkpoints of the last level."""
        forward, code, state = self._forward, self._forward.code, self.state(loop)
        code.line("%s = %s(%s ** %r) + 1" % (code.interval(loop), code.object(int, "int"), code.count(loop),
                                           1.0 / self._levels))
        forward.limit("%d * (%s + 1) * (%s)" % (self._levels, code.interval(loop), forward.bytes_of(state)))
        for value in state:
            forward.allocate(self._rows(loop, value, self._levels - 1), value, code.interval(loop))

    def save(self, loop: LoopRegion) -> None:
        """Write that an iteration at the start of an interval of the last level saves the state."""
        self._save(loop, self._levels - 1, self._forward.place(loop))

    def _save(self, loop: LoopRegion, level: int, place: str) -> None:
        code, interval = self._forward.code, self._interval(loop, level)
        code.line("if (%s) %% %s == 0:" % (place, interval))
        for value in self.state(loop):
            code.line("    %s[(%s) // %s] = %s" % (self._rows(loop, value, level), place, interval, code.name(value)))

    def _interval(self, loop: LoopRegion, level: int) -> str:
        """The number of iterations between checkpoints of a level."""
        return "(%s)" % " * ".join([self._forward.code.interval(loop)] * level)

    def _rows(self, loop: LoopRegion, value: Value, level: int) -> str:
        """The variable of a value at the checkpoints of a level."""
        return self._forward.code.checkpoints(loop, value, level)

    # ---- the backward part ----

    def _base(self, loop: LoopRegion, level: int) -> str:
        """The variable of the first iteration of the interval whose checkpoints of a level are in memory."""
        return "b_%d_%d" % (loop.number, level)

    def _place(self, loop: LoopRegion, level: int) -> str:
        """The number of the current iteration in the interval of a level."""
        if level == self._levels - 1:
            return self._forward.place(loop)
        return "%s - %s" % (self._forward.code.name(loop.index), self._base(loop, level))

    def place(self, loop: LoopRegion) -> str:
        """The row of the current iteration."""
        return self._place(loop, 0)

    def begin(self, loop: LoopRegion) -> None:
        """Write the arrays of rows and of checkpoints, before the first iteration of the backward part."""
        forward, code = self._forward, self._forward.code
        for level in range(self._levels - 1):
            code.line("%s = %s" % (self._base(loop, level), code.name(loop.limit)))
            for value in self.state(loop) if level else ():
                forward.allocate(self._rows(loop, value, level), value, code.interval(loop))
        for value in forward.needs.saved(loop):
            forward.allocate(code.rows(loop, value), value, code.interval(loop) + " + 1")

    def run_again(self, loop: LoopRegion) -> None:
        """Write that an iteration before the rows in memory runs its interval again, level by level."""
        for level in range(self._levels - 2, -1, -1):
            self._run_again(loop, level)

    def _run_again(self, loop: LoopRegion, level: int) -> None:
        forward, code = self._forward, self._forward.code
        index, base, names = code.name(loop.index), self._base(loop, level), dict(code.now)
        code.line("if %s < %s:" % (index, base))
        code.depth += 1
        interval = self._interval(loop, level + 1)
        number = "(%s) // %s" % (self._place(loop, level + 1), interval)
        for value in self.state(loop):
            if value not in loop.params:
                code.now[value] = code.version(value)
            copy = ".copy()" if isinstance(value.type, Array) else ""
            code.line("%s = %s%s" % (code.name(value), forward.row(self._rows(loop, value, level + 1), value, number),
                                     copy))
        code.line("%s = %s - (%s) %% %s" % (base, index, self._place(loop, level + 1), interval))
        code.line("for %s in range(%s, %s + 1):" % (index, base, index))
        code.depth += 1
        if level:
            self._save(loop, level, self._place(loop, level))
        else:
            forward.save(loop, self.place(loop))
        before, forward.is_repeating = forward.is_repeating, True
        forward.plain(loop.items)
        forward.is_repeating = before
        forward.move(loop.params, loop.next)
        code.depth -= 1
        if not level:
            forward.save_following(loop, self.place(loop) + " + 1")
        code.depth -= 1
        code.now = names
