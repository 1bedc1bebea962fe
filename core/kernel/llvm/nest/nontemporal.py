"""Non-temporal stores for rows of large new arrays, and prefetches of their operands.

An ordinary store first loads the cache line that it writes a part of. A non-temporal store of a whole line does not.
That is faster if the result does not fit into the caches anyway. The hardware prefetcher does not predict the loads of
such loops, so they contain prefetches. Called by nest.py, row_ends.py and emit/stores/deferred_fill.py.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from llvmlite import ir

from pijit.core.kernel.llvm.builder import loop
from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.pairwise_sum import fetch_ahead

LINE = 64
"""Bytes of a cache line, and of one store."""

LEAST = 16 << 20
"""Bytes of the smallest result that is stored with non-temporal stores."""

LEAST_ROW = 8 << 10
"""Bytes of the shortest row of such a result.

The lines at both ends are stored twice, and the stores wait for each other. Rows of 1 KiB took four times as long as
with ordinary stores, those of 16 KiB four fifths.
"""

AHEAD = 4096
"""Bytes between a load and its prefetch."""


def stream_row(builder: Any, size: Any, kind: Any, target: Any, value: Callable[[Any], Any],
               leads: Sequence[Any], ends: Any = None) -> None:
    """Store ``value(index)`` for all of a row; that is a vector of one cache line's elements from an index on.

    The row is longer than one line; both ends may be computed twice. ``leads`` are the rows to prefetch from. With
    ``ends`` (row_ends.py), elements in lines that the row shares are buffered until their line is complete.
    """
    count = kind.count
    itemsize = LINE // count

    def put(index: Any, whole: bool) -> None:
        place = builder.gep(target, [builder.mul(index, ir.Constant(I64, itemsize))])
        place = builder.bitcast(place, kind.as_pointer())
        stored = builder.store(value(index), place, align=LINE if whole else itemsize)
        if whole:
            past(builder, stored)

    def step(number: Any) -> None:
        index = builder.add(first, builder.mul(number, ir.Constant(I64, count)))
        for lead in leads:
            fetch_ahead(builder, builder.gep(lead, [builder.mul(index, ir.Constant(I64, itemsize))]), AHEAD)
        put(index, True)

    skipped = builder.and_(builder.neg(builder.ptrtoint(target, I64)), ir.Constant(I64, LINE - 1))
    first, last = builder.udiv(skipped, ir.Constant(I64, itemsize)), builder.sub(size, ir.Constant(I64, count))
    rest = builder.sub(size, first)
    if ends is None:
        put(ir.Constant(I64, 0), False)
    else:
        ends.before(target)
        ends.head(value(ir.Constant(I64, 0)), first)
    loop(builder, builder.udiv(rest, ir.Constant(I64, count)), step, unrolled=False)
    if ends is None:
        put(last, False)
    else:
        ends.tail(value(last), target, size, builder.urem(rest, ir.Constant(I64, count)))


def past(builder: Any, store: Any) -> None:
    """Mark a store of a whole line as non-temporal."""
    store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
