"""Predictive commoning: steps of a row that compute the same at a distance of a few elements are computed once.

The backward nest of a stencil has the terms ``f(g[i], u[i])`` and ``f(g[i + 1], u[i + 1])``. The second one of an
element is the first one of the next element. So the first one is computed a vector ahead, and kept in a register. The
vector of the second one consists of elements of this vector and of the next (``shufflevector``). Scalar compilers do
the same for elements, such as GCC with ``-fpredictive-commoning``. Called by shifted_loads.py.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from pijit.core.named_tuples import NamedTuple

FEWEST = 2
"""The least number of operations of a term that is shuffled, because a shuffle takes the time of one."""

FamilyPlace = Tuple[int, int]
"""The number of a family of arrays that are parts of one array, and how many elements after the first one begins."""


class _TermForm(NamedTuple):
    """What a value computes, apart from where its elements are.

    Attributes:
        number: equal for values that compute the same from elements at equal distances.
        first: where the first element is that the value is computed from; None if it is loop-invariant.
        operations: the number of operations on elements that make it.
    """

    number: int
    first: Optional[int]
    operations: int


class Terms(NamedTuple):
    """The steps of a row that are computed once.

    Attributes:
        ahead: the operand numbers of steps that are computed a vector ahead; operands come before their users.
        taken: for other steps, the step in ``ahead``, and how many elements after its elements theirs are.
        bases: for families of arrays, the place of the part that comes last among the operands of ``ahead``.
    """

    ahead: List[int]
    taken: Dict[int, Tuple[int, int]]
    bases: Dict[int, int]


def find_terms(writer: Any, places: Mapping[int, FamilyPlace], most: int) -> Terms:
    """The terms of a nest that are computed more than once.

    Args:
        writer: the writer of the nest.
        places: the arrays that are parts of one array, by number.
        most: the largest distance, in elements.
    """
    if writer.nest.watched or writer.nest.tables or writer.divided:
        return Terms([], {}, {})
    search = _TermSearch(writer, places, most)
    for numbers in search.alike():
        search.add(numbers)
    return search.found()


class _TermSearch:
    """Finds the terms of a nest; see `find_terms`."""

    def __init__(self, writer: Any, places: Mapping[int, FamilyPlace], most: int) -> None:
        self._writer, self._places, self._most = writer, places, most
        self._forms = self._find_forms()
        self._steps = range(writer.first_step, len(self._forms))
        self._ahead: Set[int] = set()
        self._bases: Dict[int, int] = {}

    def _find_forms(self) -> List[_TermForm]:
        """The forms of all operands, by number."""
        writer, known, found = self._writer, {}, []  # type: Any, Dict[Any, int], List[_TermForm]
        for number in range(writer.first_step):
            if number < writer.nest.read:
                family, place = self._places.get(number, (number, 0))
                found.append(_TermForm(known.setdefault((number in self._places, family), len(known)), place, 0))
            else:
                scalar = writer.scalars[number - writer.nest.read]
                same = known.setdefault((str(scalar.type), scalar.get_reference()), len(known))
                found.append(_TermForm(same, None, 0))
        for step in writer.nest.steps:
            operands = [found[operand] for operand in step.operands]
            first = next((one.first for one in operands if one.first is not None), None)
            described = step.operation, step.codes, step.target, tuple(
                (one.number, None if one.first is None or first is None else one.first - first) for one in operands)
            operations = sum(one.operations for one in operands) + (first is not None)
            found.append(_TermForm(known.setdefault(described, len(known)), first, operations))
        return found

    def alike(self) -> List[List[int]]:
        """The steps of equal forms at several places, nearest elements first; forms of most operations first."""
        alike: Dict[int, List[int]] = {}
        for number in self._steps:
            if self._forms[number].operations >= FEWEST and self._is_vector(number):
                alike.setdefault(self._forms[number].number, []).append(number)
        found = [sorted(numbers, key=self._first) for numbers in alike.values()]
        return sorted((numbers for numbers in found if self._first(numbers[-1]) > self._first(numbers[0])),
                      key=lambda numbers: -self._forms[numbers[0]].operations)

    def add(self, numbers: List[int]) -> None:
        """Have the first one of these steps computed ahead, if its arrays are, and another one is near enough."""
        leader = numbers[0]
        if not any(0 < self._first(number) - self._first(leader) <= self._most for number in numbers):
            return
        bases: Dict[int, int] = {}
        cone = self._cone(leader)
        for number in cone:
            if number < self._writer.nest.read:
                if number not in self._places:
                    return
                family, place = self._places[number]
                bases[family] = max(place, bases.get(family, place))
        if all(self._bases.get(family, place) == place for family, place in bases.items()):
            self._bases.update(bases)
            self._ahead.update(number for number in cone if number in self._steps and self._is_vector(number))

    def found(self) -> Terms:
        """The terms that were added."""
        taken: Dict[int, Tuple[int, int]] = {}
        leaders: Dict[int, int] = {}
        for number in sorted(self._ahead):
            leaders.setdefault(self._forms[number].number, number)
        for number in self._steps:
            form = self._forms[number]
            leader = leaders.get(form.number, -1)
            distance = self._first(number) - self._first(leader) if leader >= 0 else -1
            if distance == 0 or 0 < distance <= self._most and form.operations >= FEWEST:
                taken[number] = leader, distance
        return Terms(sorted(leaders.values()), taken, self._bases)

    def _is_vector(self, number: int) -> bool:
        """Whether the vectors of a step have elements of the nest's dtype, and are not loop-invariant."""
        return self._forms[number].first is not None and bool(self._writer.kinds[number] == self._writer.dtypes[-1])

    def _first(self, number: int) -> int:
        return self._forms[number].first or 0

    def _cone(self, number: int) -> Set[int]:
        """The operands from which a step is computed, and the step."""
        found: Set[int] = {number}
        if number in self._steps:
            for operand in self._writer.nest.steps[number - self._writer.first_step].operands:
                found |= self._cone(operand)
        return found
