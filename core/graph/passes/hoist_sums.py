"""Code motion of sums: sums are computed beside an earlier sum or array of the block, where that is possible.

Derivatives of numbers are sums whose flags are ignored: ``a = a + (g * x).sum()``, then ``b = b + (g * y).sum()``.
Before::

    %5: float64[1d,C] = ufunc %0, %1 {ufunc=multiply}  else exit0()
    %6: np.float64 = reduce %5 {ufunc=add}  else exit0()
    %7: np.float64 = add %3, %6  else exit1(%6)
    %8: float64[1d,C] = ufunc %0, %2 {ufunc=multiply}  else exit2(%7)
    %9: np.float64 = reduce %8 {ufunc=add}  else exit2(%7)

After, %8 and %9 follow %6 and leave where %5 does, by ``exit0()``. So one nest can compute both sums, although %7 needs
the first one (kernel/plan/multi_output_fusion.py). The first sum of a block moves after the array that is computed
before it. The operations that move have no effects, and none is between the two places. So repeating them from the
earlier exit gives the same results.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Set, cast

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import ELEMENTWISE, MOVABLE
from pijit.core.graph.passes.fusion import count_effects, effect_between, raises_flags, scalar_operation, sums_rows
from pijit.core.graph.types import Array


def hoist_sums(graph: Graph) -> None:
    """Move sums in place."""
    for block in graph.blocks:
        sums = [op for op in block.ops if _is_free_sum(op)]
        if sums:
            _Motion(block).hoist(sums)


def _is_free_sum(op: Op) -> bool:
    """Whether an operation adds up all elements of an array of floats, and the program ignores its flags."""
    if not sums_rows(op) or raises_flags(op):
        return False
    kind = cast(Array, op.args[0].type)
    return kind.ndim == 1 and kind.dtype.kind == "f"


class _Motion:
    """Moves the sums of one block."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._position = {op: number for number, op in enumerate(block.ops)}
        self._makers: Dict[Value, Op] = {op.result: op for op in block.ops if op.result is not None}
        self._moved: Set[Op] = set()

    def hoist(self, sums: List[Op]) -> None:
        """Move each sum after the first one that it can be computed with, and that one after an array."""
        effects, first = count_effects(self._block), self._array_before(sums[0])
        beside = [first] if first is not None else []
        for op in sums:
            apart = first is None or effect_between(effects, self._position[first], self._position[op])
            cone = None if first is None or apart else self._cone(op, first, beside)
            if first is None or cone is None:
                first, beside = op, [op]
            else:
                self._move(cone, beside[-1], self._first_of(first, effects))
                beside.append(op)

    def _array_before(self, op: Op) -> Optional[Op]:
        """The last operation before a sum's own ones that computes an array and could move."""
        inner = set(self._inner(op))
        found = None
        for other in self._block.ops[:self._position[op]]:
            if other in inner:
                break
            if other.name in ELEMENTWISE and other.exit is not None and _can_move(other):
                found = other
        return found

    def _first_of(self, op: Op, effects: List[int]) -> Op:
        """The first operation that computes elements for an array or a sum, if no effect follows it."""
        inner = [one for one in self._inner(op) if one.exit is not None
                 and not effect_between(effects, self._position[one], self._position[op])]
        return min([*inner, op], key=self._position.__getitem__)

    def _inner(self, op: Op) -> List[Op]:
        """The operations that compute the elements of an array or a sum."""
        found, todo = [], list(op.args)
        while todo:
            maker = self._makers.get(todo.pop())
            if maker is not None and maker.name in ELEMENTWISE and maker not in found:
                found.append(maker)
                todo += maker.args
        return found

    def _cone(self, op: Op, first: Op, beside: List[Op]) -> Optional[List[Op]]:
        """The operations after the first sum that an operation needs, and itself; None if one of them must stay."""
        cone, todo = {op}, list(op.args)
        while todo:
            maker = self._makers.get(todo.pop())
            if maker in beside and maker.name == "reduce":
                return None
            if maker is None or maker in cone or maker in self._moved \
                    or self._position[maker] <= self._position[first]:
                continue
            if not _can_move(maker):
                return None
            cone.add(maker)
            todo += maker.args
        return sorted(cone, key=self._position.__getitem__)

    def _move(self, cone: List[Op], last: Op, leaving: Op) -> None:
        """Move operations behind ``last``; they leave where ``leaving`` does."""
        self._moved.update(cone)
        moving = set(cone)
        rest = [op for op in self._block.ops if op not in moving]
        place = rest.index(last) + 1
        self._block.ops[:] = rest[:place] + cone + rest[place:]
        for op in cone:
            if op.exit is not None:
                op.exit = leaving.exit


def _can_move(op: Op) -> bool:
    """Whether an operation has the same result at an earlier place, and nobody hears of its flags."""
    if op.name in ELEMENTWISE:
        return bool(scalar_operation(op)) and not raises_flags(op)
    return op.name in MOVABLE and op.exit is None
