"""Shifted loads: parts of one array that begin a few elements apart get their vectors from one load.

A stencil reads ``u[i - 1]``, ``u[i]`` and ``u[i + 1]``. Two of these vectors at least lie across cache lines, and such
a load takes twice the time. So each step loads one vector of the part that begins first. The vectors of the other parts
consist of elements of this vector and of the one before, which is still in a register (``shufflevector``). Called by
delayed_store.py.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from llvmlite import ir

from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.pairwise_sum import local
from pijit.core.named_tuples import NamedTuple

FEWEST = 2
"""The least number of loads that have to be saved, because shuffles take time, too."""

_LANE = ir.IntType(32)


class _Family(NamedTuple):
    """Arrays that are parts of one array: the number of the one that begins first, and for each how many elements later
    it begins."""

    first: int
    offsets: Dict[int, int]


class ShiftedLoads:
    """The loads of the steps of a row, one vector each, in order.

    Args:
        writer: the writer of the nest.
        rows: the addresses of the arrays' rows, whose elements are adjacent.
        kind: the type of the vectors.
        families: which arrays are parts of one array.
    """

    def __init__(self, writer: Any, rows: List[Any], kind: Any, families: List[_Family]) -> None:
        self._builder, self._rows, self._kind, self._families = writer.builder, rows, kind, families
        self._itemsize = writer.dtypes[-1].itemsize
        self._before = [local(self._builder, kind, 1) for _ in families]

    def begin(self, index: Any) -> None:
        """Load the vectors of the first step, which is at an index."""
        for family, before in zip(self._families, self._before):
            self._builder.store(self._load(family.first, index), before)

    def step(self, index: Any) -> Dict[int, Any]:
        """The vectors of the step at an index, by the numbers of the arrays. The row must have one more vector."""
        builder, count, found = self._builder, self._kind.count, {}
        for family, before in zip(self._families, self._before):
            pair = builder.load(before), self._load(family.first, builder.add(index, ir.Constant(I64, count)))
            builder.store(pair[1], before)
            for array, offset in family.offsets.items():
                lanes = [ir.Constant(_LANE, offset + lane) for lane in range(count)]
                found[array] = builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(_LANE, count), lanes))
        return found

    def _load(self, array: int, index: Any) -> Any:
        builder = self._builder
        place = builder.gep(self._rows[array], [builder.mul(index, ir.Constant(I64, self._itemsize))])
        return builder.load(builder.bitcast(place, self._kind.as_pointer()), align=1)


def find_shifted(writer: Any, rows: List[Any], kind: Any) -> Optional[ShiftedLoads]:
    """The shifted loads of a nest whose arrays have unit strides and the dtype of the result; None if they save little.

    Args:
        writer: the writer of the nest.
        rows: the addresses of the arrays' rows.
        kind: the type of the vectors.
    """
    families = [family for family in _families(writer, kind.count) if len(set(family.offsets.values())) > 1]
    saved = sum(len(set(family.offsets.values())) - 1 for family in families)
    return ShiftedLoads(writer, rows, kind, families) if saved >= FEWEST and _shuffles_are_fast() else None


def _families(writer: Any, most: int) -> List[_Family]:
    """The parts of each array that begin at most ``most`` elements after the first one."""
    distances: Dict[int, Dict[int, int]] = {}
    for number in range(writer.nest.read):
        whole = writer.nest.beside[number] if writer.nest.beside else -1
        distance = writer.data[number].constant if whole >= 0 else 0
        distances.setdefault(number if whole < 0 else whole, {})[number] = distance
    found = []
    for family in distances.values():
        first = min(family, key=lambda number: family[number])
        offsets = {number: divmod(distance - family[first], writer.dtypes[-1].itemsize)
                   for number, distance in family.items()}
        found.append(_Family(first, {number: offset for number, (offset, rest) in offsets.items()
                                     if not rest and offset <= most}))
    return found


def _shuffles_are_fast() -> bool:
    """Whether one instruction joins parts of two vectors."""
    from pijit.core.kernel.llvm.codegen import has_feature

    return has_feature("avx512f")
