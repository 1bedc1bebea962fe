"""Checkpoints: loops save the state of some iterations alone, and compute the others again.

With two levels, a loop of n iterations saves its state at each k-th one, where k is about the square root of n. The
backward part goes from the last interval to the first. It runs the loop's body again from the checkpoint of an
interval, and saves what the iterations of the interval need. So about 2 k rows are in memory instead of n, for a second
run of the loop. If the body is arithmetic on elements, k may be smaller: if the rows of an interval then fit into the
second cache, and all checkpoints into a part of the last one.

With three levels, k is about the cube root of n, and the loop saves its state at each k * k-th iteration. Its intervals
save checkpoints in turn: 3 k rows, for a third run of the loop. The method is that of A. Griewank and A. Walther,
"Algorithm 799: revolve", with equal intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Mapping, Set

from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import LoopRegion, all_ops, passed
from pijit.core.graph.reverse.rows.in_rows import NONE, InRows, find_in_rows
from pijit.core.graph.reverse.rows.limits import is_cheap, kept_in_second_cache, most_kept
from pijit.core.graph.types import Array

if TYPE_CHECKING:
    from pijit.core.graph.reverse.sequence import Forward

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
        interval, count, size = code.interval(loop), code.count(loop), "(%s)" % forward.bytes_of(state)
        code.line("%s = %s(%s ** %r) + 1" % (interval, code.object(int, "int"), count, 1.0 / self._levels))
        if self._levels == 2 and is_cheap(loop, code.roots):
            short = code.fresh("k")
            code.line("%s = max(%d // (%s + 1), 2)" % (short, kept_in_second_cache(), size))
            code.line("if %s < %s and (%s // %s + %s + 2) * %s <= %d:" % (
                short, interval, count, short, short, size, min(forward.memory_limit, most_kept(loop, code.roots))))
            code.line("    %s = %s" % (interval, short))
        rows = "(%s - 1) // %s + 1" % (count, self._interval(loop, self._levels - 1))
        forward.limit("(%d * (%s + 1) + %s) * %s" % (self._levels - 1, interval, rows, size))
        for value in state:
            forward.allocate(self._rows(loop, value, self._levels - 1), value, rows)

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
        in_rows = NONE if level else find_in_rows(loop, code, forward.needs)
        for value in self.state(loop):
            self._restore(loop, value, self._rows(loop, value, level + 1), number, in_rows)
        code.line("%s = %s - (%s) %% %s" % (base, index, self._place(loop, level + 1), interval))
        if level:
            code.line("for %s in range(%s, %s + 1):" % (index, base, index))
            code.depth += 1
            self._save(loop, level, self._place(loop, level))
            self._repeat(loop)
            code.depth -= 1
        else:
            self._make_rows(loop, in_rows)
        code.depth -= 1
        code.now = names

    def _restore(self, loop: LoopRegion, value: Value, rows: str, number: str, in_rows: InRows) -> None:
        """Write that a value is that of a checkpoint; arrays that are in rows become the first row."""
        forward, code = self._forward, self._forward.code
        row = forward.row(rows, value, number)
        if value in in_rows.carried or value in in_rows.stored:
            code.line("%s[0] = %s" % (code.rows(loop, value), row))
            return
        if value not in loop.params:
            code.now[value] = code.version(value)
        code.line("%s = %s%s" % (code.name(value), row, ".copy()" if isinstance(value.type, Array) else ""))

    def _make_rows(self, loop: LoopRegion, in_rows: InRows) -> None:
        """Write the iterations from a checkpoint to the current one, which save rows.

        The current iteration itself need not run, if no row holds its results.
        """
        forward, code = self._forward, self._forward.code
        index, base, place = code.name(loop.index), self._base(loop, 0), self.place(loop)
        whole = bool(forward.needs.in_following_row(loop))
        last = code.fresh("last")
        code.line("%s = %s" % (last, index))
        code.line("for %s in range(%s, %s%s):" % (index, base, last, " + 1" * whole))
        code.depth += 1
        names = dict(code.now)
        forward.read_rows(loop, place, in_rows)
        forward.save(loop, place, in_rows)
        self._repeat(loop, in_rows)
        code.now = names
        code.depth -= 1
        code.line("%s = %s" % (index, last))
        if whole:
            forward.save_following(loop, place + " + 1", in_rows)
        else:
            forward.save(loop, place, in_rows)

    def _repeat(self, loop: LoopRegion, in_rows: InRows = NONE) -> None:
        """Write the body of the loop, which makes no host calls again."""
        before, self._forward.is_repeating = self._forward.is_repeating, True
        self._forward.body(loop, False, in_rows, self.place(loop))
        self._forward.is_repeating = before
