"""Sums of rows of two to four elements, such as points in space, with the row's loop unrolled.

Such a short loop takes longer to start and to end than to run. If rows are contiguous, or one row serves all, LLVM
computes several rows at once. Each sum has the same bits as otherwise. Nests that store rows gained too little for
the compile time. Called by nest.py.
"""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

from llvmlite import ir

from pijit.core.kernel.llvm.builder import loop
from pijit.core.kernel.llvm.intrinsics import I64

SHORT = (3, 2, 4)
"""The lengths of such rows, in order of probability."""


def can_be_short(writer: Any) -> bool:
    """Whether a nest adds up rows whose elements can be computed as vectors."""
    nest = writer.nest
    return bool(nest.sums) and nest.ndim > 1 and not (nest.whole or nest.tables or nest.beside)


def write_rows(writer: Any, rows: List[Any], lasts: str, otherwise: Callable[[], None],
               counts: Sequence[int] = SHORT) -> None:
    """Write the last two axes for rows of one of these lengths; ``otherwise`` writes them for other rows.

    ``lasts`` are the kinds of last strides, all known.
    """
    if not counts:
        otherwise()
        return
    with writer.builder.if_else(_fits(writer, counts[0], lasts)) as (then, other):
        with then:
            _write(writer, counts[0], rows, lasts)
        with other:
            write_rows(writer, rows, lasts, otherwise, counts[1:])


def _stride(writer: Any, array: int) -> Any:
    """The stride from one row to the next."""
    return writer.strides[array][writer.nest.ndim - 2]


def _is_same(writer: Any, array: int) -> bool:
    """Whether one row of an array is certain to serve all rows."""
    stride = _stride(writer, array)
    return isinstance(stride, ir.Constant) and stride.constant == 0


def _steps(writer: Any, count: int, lasts: str) -> List[Any]:
    """The strides from one row to the next that loops rely on."""
    steps = []
    for k, last in enumerate(lasts):
        single = last == "0"  # a column, or the sums
        apart = writer.dtypes[k].itemsize if single else count * writer.stride(k, last).constant
        steps.append(0 if _is_same(writer, k) else apart)
    return [ir.Constant(I64, step) for step in steps]


def _fits(writer: Any, count: int, lasts: str) -> Any:
    """Whether rows have ``count`` elements and are contiguous."""
    builder = writer.builder
    holds = builder.icmp_signed("==", writer.sizes[-1], ir.Constant(I64, count))
    for k, step in enumerate(_steps(writer, count, lasts)):
        holds = builder.and_(holds, builder.icmp_signed("==", _stride(writer, k), step))
    return holds


def _write(writer: Any, count: int, rows: List[Any], lasts: str) -> None:
    """Write contiguous rows; an operand that is the same for all of them is loaded once."""
    builder, steps, rows = writer.builder, _steps(writer, count, lasts), writer.pointers(rows)
    same = [k for k in range(len(rows) - 1) if _is_same(writer, k)]
    known = []
    for number in range(count):
        places = writer.places(rows, ir.Constant(I64, number), lasts)
        known.append(writer.known())
        known[-1].update({k: writer.load(places[k], writer.dtypes[k]) for k in same})

    def body(index: Any) -> None:
        here = [builder.gep(row, [builder.mul(index, step)]) for row, step in zip(rows, steps)]
        total = writer.nothing()
        for number, fixed in enumerate(known):
            value = writer.value(writer.places(here[:-1], ir.Constant(I64, number), lasts), fixed)
            total = builder.add(total, value) if isinstance(value.type, ir.IntType) else builder.fadd(total, value)
        writer.store(here[-1], total)

    loop(builder, writer.sizes[-2], body)
