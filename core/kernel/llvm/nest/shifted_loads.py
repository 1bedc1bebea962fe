"""Shifted loads: parts of one array that begin a few elements apart get their vectors from one load.

A stencil reads ``u[i - 1]``, ``u[i]`` and ``u[i + 1]``. Two of these vectors at least lie across cache lines, and such
a load takes twice the time. So one part is the base, and each step loads its next vector alone. The vectors of the
other parts consist of elements of this vector and of those before, which are still in registers (``shufflevector``).
Terms that are computed from such parts are computed once (predictive_commoning.py). Called by delayed_store.py.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional

from llvmlite import ir

from pijit.core.kernel.llvm.builder import local
from pijit.core.kernel.llvm.codegen import has_feature
from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.predictive_commoning import find_terms
from pijit.core.named_tuples import NamedTuple

FEWEST = 2
"""The least number of loads that have to be saved, because shuffles take time, too."""

_LANE = ir.IntType(32)

Values = Callable[[Any], Dict[int, Any]]
"""Computes all operands and steps of a row as vectors from an index on."""


class _Family(NamedTuple):
    """Arrays that are parts of one array: for each how many elements after the first one it begins."""

    offsets: Dict[int, int]

    def at(self, offset: int) -> int:
        """The number of an array that begins at an offset."""
        return next(number for number, own in self.offsets.items() if own == offset)


class _VectorWindow:
    """Vectors of one array or step that follow each other: the one before the current one, the current one, the next.

    Args:
        builder: writes instructions.
        kind: the type of the vectors.
    """

    def __init__(self, builder: Any, kind: Any) -> None:
        self._builder, self._count = builder, kind.count
        self._places = [local(builder, kind, 1) for _ in range(2)]
        self._vectors: List[Any] = []

    def begin(self, before: Any, now: Any) -> None:
        """Have these vectors before the first step."""
        for place, vector in zip(self._places, (before, now)):
            self._builder.store(vector, place)

    def step(self) -> None:
        """Have the vectors of the current step, apart from the next one."""
        self._vectors = [self._builder.load(place) for place in self._places]

    def move(self, following: Any) -> None:
        """Have the next vector. It is the current one in the next step."""
        self._vectors.append(following)
        for place, vector in zip(self._places, self._vectors[1:]):
            self._builder.store(vector, place)

    def vector(self, distance: int, ahead: int = 0) -> Any:
        """The vector that begins some elements after the current one, or after the next one if ``ahead`` is 1."""
        first = 1 + ahead - (distance < 0)
        if not distance:
            return self._vectors[first]
        lanes = [ir.Constant(_LANE, distance % self._count + lane) for lane in range(self._count)]
        if distance in (-self._count, self._count):
            return self._vectors[first + (distance > 0)]
        return self._builder.shuffle_vector(self._vectors[first], self._vectors[first + 1],
                                            ir.Constant(ir.VectorType(_LANE, self._count), lanes))


class ShiftedLoads:
    """The loads and terms of the steps of a row, one vector each, in order.

    Args:
        writer: the writer of the nest.
        rows: the addresses of the arrays' rows, whose elements are adjacent.
        kind: the type of the vectors.
        families: which arrays are parts of one array.
        values: what a row computes.
    """

    def __init__(self, writer: Any, rows: List[Any], kind: Any, families: List[_Family], values: Values) -> None:
        self._writer, self._builder, self._rows, self._kind = writer, writer.builder, rows, kind
        self._families, self._values = families, values
        places = {number: (place, offset) for place, family in enumerate(families)
                  for number, offset in family.offsets.items()}
        self._terms = find_terms(writer, places, kind.count)
        self._bases = [self._terms.bases.get(place, 0) for place in range(len(families))]
        self._loads = [_VectorWindow(self._builder, kind) for _ in families]
        self._steps = {number: _VectorWindow(self._builder, kind) for number in self._terms.ahead}

    def begin(self, index: Any) -> None:
        """Load the vectors of the first step, which is at an index. There must be a vector before it."""
        count = ir.Constant(I64, self._kind.count)
        for family, base, window in zip(self._families, self._bases, self._loads):
            array = family.at(base)
            window.begin(self._load(array, self._builder.sub(index, count)), self._load(array, index))
        values = self._values(index) if self._steps else {}
        for number, window in self._steps.items():
            window.begin(ir.Constant(self._kind, ir.Undefined), values[number])

    def step(self, index: Any, fixed: Mapping[int, Any]) -> Dict[int, Any]:
        """The vectors of arrays and terms of the step at an index, by operand number. The row must have one more.

        ``fixed`` are the vectors of loop-invariant operands.
        """
        following, found, ahead = self._builder.add(index, ir.Constant(I64, self._kind.count)), dict(fixed), dict(fixed)
        for family, base, window in zip(self._families, self._bases, self._loads):
            window.step()
            window.move(self._load(family.at(base), following))
            for array, offset in family.offsets.items():
                found[array] = window.vector(offset - base)
                if offset <= base:
                    ahead[array] = window.vector(offset - base, 1)
        for number, window in self._steps.items():
            window.step()
            self._compute(number, ahead)
            window.move(ahead[number])
        for number, (leader, distance) in self._terms.taken.items():
            found[number] = self._steps[leader].vector(distance)
        return found

    def _compute(self, number: int, values: Dict[int, Any]) -> None:
        """Add the result of a step to ``values``, and those from which it is computed."""
        if number not in values:
            for operand in self._writer.nest.steps[number - self._writer.first_step].operands:
                self._compute(operand, values)
            values[number] = self._writer.step(number, values)

    def _load(self, array: int, index: Any) -> Any:
        builder = self._builder
        place = builder.gep(self._rows[array], [builder.mul(index, ir.Constant(I64, self._writer.dtypes[-1].itemsize))])
        return builder.load(builder.bitcast(place, self._kind.as_pointer()), align=1)


def find_shifted(writer: Any, rows: List[Any], kind: Any, values: Values) -> Optional[ShiftedLoads]:
    """The shifted loads of a nest whose arrays have unit strides and the dtype of the result; None if they save little.

    Args:
        writer: the writer of the nest.
        rows: the addresses of the arrays' rows.
        kind: the type of the vectors.
        values: what a row computes.
    """
    families = [family for family in _families(writer, kind.count) if len(set(family.offsets.values())) > 1]
    saved = sum(len(set(family.offsets.values())) - 1 for family in families)
    return ShiftedLoads(writer, rows, kind, families, values) if saved >= FEWEST and _shuffles_are_fast() else None


def _families(writer: Any, most: int) -> List[_Family]:
    """The parts of each array that begin at most ``most`` elements after the first one."""
    distances: Dict[int, Dict[int, int]] = {}
    for number in range(writer.nest.read):
        whole = writer.nest.beside[number] if writer.nest.beside else -1
        distance = writer.data[number].constant if whole >= 0 else 0
        distances.setdefault(number if whole < 0 else whole, {})[number] = distance
    found = []
    for family in distances.values():
        first = min(family.values())
        offsets = {number: divmod(distance - first, writer.dtypes[-1].itemsize)
                   for number, distance in family.items()}
        found.append(_Family({number: offset for number, (offset, rest) in offsets.items()
                              if not rest and offset <= most}))
    return found


def _shuffles_are_fast() -> bool:
    """Whether one instruction joins parts of two vectors."""
    return has_feature("avx512f")
