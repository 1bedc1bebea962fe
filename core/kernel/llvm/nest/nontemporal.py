"""Rows of large new arrays, past the caches: what is stored is not read before, and what is read is asked for.

An ordinary store first loads the line that it writes a part of. A store of a whole line need not, if it goes to
memory at once; that is worth it where the result does not fit into the caches anyway. The processor does not foresee
what such loops read, so they ask for it before.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from llvmlite import ir

from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.pairwise_sum import fetch_ahead, loop

LINE = 64
"""Bytes of a cache line, and of a store."""

LEAST = 16 << 20
"""Bytes of the smallest result that goes past the caches."""

LEAST_ROW = 8 << 10
"""Bytes of its shortest row. The lines at both ends are stored twice, and wait for one another: rows of 1 KiB took four
times as long as by ordinary stores, those of 16 KiB four fifths."""

AHEAD = 4096
"""Bytes."""


def stream_row(builder: Any, size: Any, kind: Any, target: Any, value: Callable[[Any], Any],
               leads: Sequence[Any], ends: Any = None) -> None:
    """Store ``value(index)``, a vector of a line's elements from an index on, for all of a row.

    The row has more than one line; both ends may be computed twice. ``leads`` are where to read ahead from. With ``ends``
    (row_ends.py) lines that are not all of this row wait for others.
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
    """Let a store of a whole line go past the caches."""
    store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
