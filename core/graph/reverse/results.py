"""Results of joint functions: the value that is differentiated, and what a function returns beside it.

`make_joint` (`joint`) calls it. It never computes anything: a result names values that other operations make.
"""

from __future__ import annotations

from typing import Callable, List, Mapping, Optional, Sequence, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import RegionItem, all_ops


class Result:
    """The result of a function: the value, or (value, aux). Tuples are made at the end, of what arrays hold then.

    Args:
        parts: the value, and aux if there is one.
        tuples: the operations that make tuples, by their results.
    """

    def __init__(self, parts: Sequence[Value], tuples: Mapping[Optional[Value], Op]) -> None:
        self._parts, self._tuples = parts, tuples
        self.value = parts[0]

    def values(self) -> Set[Value]:
        """The values in the result."""
        found, left = set(), list(self._parts)
        while left:
            value = left.pop()
            if value in self._tuples:
                left += self._tuples[value].args
            else:
                found.add(value)
        return found

    def without_tuples(self, items: Sequence[RegionItem]) -> List[RegionItem]:
        """The items without those that make tuples.

        Raises:
            Irreversible: an operation reads a tuple.
        """
        found = [item for item in items if not (isinstance(item, Op) and item.result in self._tuples)]
        if any(value in self._tuples for op in all_ops(found) for value in op.args):
            raise Irreversible("an operation that reads a tuple")
        return found

    def code(self, name: Callable[[Value], str]) -> str:
        """The result as an expression; ``name`` gives the code of a value."""
        parts = [self._part(part, name) for part in self._parts]
        return parts[0] if len(parts) == 1 else "(%s)" % ", ".join(parts)

    def _part(self, value: Value, name: Callable[[Value], str]) -> str:
        if value not in self._tuples:
            return name(value)
        return "(%s)" % "".join(self._part(part, name) + ", " for part in self._tuples[value].args)
