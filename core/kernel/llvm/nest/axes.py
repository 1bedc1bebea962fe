"""Axis transformations of a loop nest: interchange, collapsing, splitting at rolls, and tiling.

nest.py calls these while it writes a nest. They may reorder or merge axes only where every element stays the same.
"""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

from llvmlite import ir

from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.intrinsics import I1, I64

TILE = 32
"""Rows and columns per tile."""

TILED = 1 << 17
"""Elements from which on a nest is tiled, if it reads rows of one array and columns of another.

The cache does not keep the lines of the columns until the next row needs them.
"""


def moving(nest: Any) -> List[Tuple[int, int]]:
    """Positions in the nest's arguments of each array's address and of its stride along the first axis."""
    first = nest.ndim
    found = []
    for k in range(len(nest.arrays)):
        if not nest.beside or nest.beside[k] < 0:
            found.append((first, first + 1))
        first += 1 + nest.ndim
    return found


def with_rows_last(builder: Any, nest: Any, values: List[Any]) -> List[Any]:
    """Loop interchange: the nest's arguments with the axis last along which the result's elements are closest.

    Only for nests whose strides are all unknown.
    """
    if nest.ndim < 2 or nest.sums or nest.rolled or nest.tables or nest.delays_stores:
        return values
    values, last, zero = list(values), nest.ndim - 1, ir.Constant(I64, 0)
    strides = [nest.ndim + k * (1 + nest.ndim) + 1 for k in range(len(nest.arrays))]
    result = strides[nest.same]  # of the last array, or of the array whose memory it has

    def distance(axis: int) -> Any:
        stride = values[result + axis]
        return builder.select(builder.icmp_signed("<", stride, zero), builder.neg(stride), stride)

    for axis in range(last):
        one, other = distance(axis), distance(last)
        closer = builder.and_(builder.icmp_signed("<", zero, one), builder.icmp_signed("<", one, other))
        for first in [0] + strides:
            here, there = values[first + axis], values[first + last]
            values[first + axis] = builder.select(closer, there, here)
            values[first + last] = builder.select(closer, here, there)
    return values


def can_collapse(nest: Any) -> bool:
    """Whether `with_long_rows` may change the sizes of a nest."""
    return nest.ndim > 1 and not nest.rolled and (nest.whole or not nest.sums)


def with_long_rows(builder: Any, nest: Any, values: List[Any]) -> List[Any]:
    """Loop collapsing: the arguments with axes that are contiguous in every array merged into the last one.

    Each row costs time before its first vector, so fewer and longer rows are faster.
    """
    if not can_collapse(nest):
        return values
    last, sizes, holds = nest.ndim - 1, values[:nest.ndim], ir.Constant(I1, 1)
    arrays = moving(nest)[:-1 if nest.sums else None]
    for axis in reversed(range(last)):
        for _, first in arrays:
            run = builder.mul(values[first + last], sizes[last])
            holds = builder.and_(holds, builder.icmp_signed("==", values[first + axis], run))
        sizes[last] = builder.select(holds, builder.mul(sizes[last], sizes[axis]), sizes[last])
        sizes[axis] = builder.select(holds, ir.Constant(I64, 1), sizes[axis])
    return sizes + values[nest.ndim:]


def write_parts(writer: Any, axis: int, rows: List[Any], go: Callable[[Any, List[Any]], None]) -> None:
    """Split an axis into parts in which the elements of each rolled array are contiguous.

    ``go(size, rows)`` writes a part. A rolled array is read as many places earlier as it is rolled by, modulo the size.
    """
    builder, size, start, zero = writer.builder, writer.sizes[axis], local(writer.builder, I64, 1), ir.Constant(I64, 0)
    places = {k: count for (k, own), count in writer.rolled.items() if own == axis}
    part, end = builder.append_basic_block("part"), builder.append_basic_block("part.end")
    builder.store(zero, start)
    builder.cbranch(builder.icmp_signed("<", zero, size), part, end)
    builder.position_at_end(part)
    first, stop = builder.load(start), size
    for count in places.values():
        inside = builder.and_(builder.icmp_signed("<", first, count), builder.icmp_signed("<", count, stop))
        stop = builder.select(inside, count, stop)
    own = []
    for k, row in enumerate(rows):
        index = first
        if k in places:
            back = builder.sub(first, places[k])
            index = builder.select(builder.icmp_signed("<", back, zero), builder.add(back, size), back)
        own.append(builder.add(row, builder.mul(index, writer.strides[k][axis])))
    go(builder.sub(stop, first), own)
    builder.store(stop, start)
    builder.cbranch(builder.icmp_signed("<", stop, size), part, end)
    builder.position_at_end(end)


def write_tiles(writer: Any, rows: List[Any], go: Callable[[Any, List[Any]], None],
                whole: Callable[[], None]) -> None:
    """The last two axes, tiled if they are large.

    ``go(size, rows)`` writes ``size`` elements of a row, ``whole`` writes all rows.
    """
    builder, (count, size) = writer.builder, writer.sizes[-2:]
    tile, one = ir.Constant(I64, TILE), ir.Constant(I64, 1)

    def moved(places: List[Any], index: Any, axis: int) -> List[Any]:
        return [builder.add(place, builder.mul(index, strides[axis]))
                for place, strides in zip(places, writer.strides)]

    def tiles(total: Any, write: Callable[[Any, Any], None]) -> None:
        def part(number: Any) -> None:
            first = builder.mul(number, tile)
            left = builder.sub(total, first)
            write(first, builder.select(builder.icmp_signed("<", left, tile), left, tile))
        loop(builder, builder.sdiv(builder.add(total, builder.sub(tile, one)), tile), part)

    large = builder.icmp_signed(">=", builder.mul(count, size), ir.Constant(I64, TILED))
    with builder.if_else(large) as (then, other):
        with then:
            tiles(count, lambda top, height: tiles(size, lambda left, width: loop(builder, height, lambda index: go(
                width, moved(moved(rows, builder.add(top, index), -2), left, -1)))))
        with other:
            whole()
