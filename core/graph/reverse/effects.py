"""Effects of a region: those that joint functions do not have, and stores into arrays that have two names.

Random numbers are drawn once. A backward part computes again what is in a loop or a branch. So only loops that save
the numbers as rows may draw: outermost loops, in their own bodies.
"""

from __future__ import annotations

from typing import Collection, List, Sequence, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import DRAWING, EFFECTS, STORES
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.forward import HOST_CALL
from pijit.core.graph.reverse.regions import Conditional, LoopRegion, RegionItem, all_ops, made, walk
from pijit.core.graph.reverse.roots import Roots


def check_effects(items: Sequence[RegionItem], roots: Roots, repeated: Collection[Op]) -> None:
    """Check that there are no effects that joint functions do not have.

    They have host calls. They draw random numbers outside of branches and of loops in loops. They store into arrays
    that the function makes, and that have one name each.

    Args:
        items: the region.
        roots: its roots.
        repeated: the operations that run twice, see `GraphRegion`.

    Raises:
        Irreversible: there are others.
    """
    again = {op.result for op in repeated}
    inside = {op.result for op in all_ops(items)}
    drawing = set(items).union(*(item.items for item in items if isinstance(item, LoopRegion)))
    for op in all_ops(items):
        if op.name in DRAWING:
            _check_draw(op, op in drawing and op not in repeated, roots)
        if op.name in EFFECTS and op.name not in STORES and op.name not in DRAWING and op.name != HOST_CALL:
            raise Irreversible("an effect (%s)" % op.name)
        if op.name == HOST_CALL and op in repeated:
            raise Irreversible("a call of Python in an iteration that leaves its loop")
        if op.name in STORES and roots.of(op.args[0]) not in inside:
            raise Irreversible("a store into an array that the function does not make (%s)" % op.name)
        if op.name in STORES and op in repeated and roots.of(op.args[0]) not in again:
            raise Irreversible("a store in an iteration that leaves its loop")
    order = walk(items)
    for number, item in enumerate(order):
        if isinstance(item, LoopRegion):
            later = _stored(order[number:], roots)
            if any(roots.of(value) in later for value in item.first) or any(
                    roots.of(value) in roots.stored.difference(made(item.items)) for value in item.next):
                raise Irreversible("a loop-carried array that stores write to")
    _check_joins(items, roots, set())


def _check_draw(op: Op, is_once: bool, roots: Roots) -> None:
    if not is_once:
        raise Irreversible("random numbers that are drawn in a branch, a loop in a loop, or a loop with an exit")
    if op.result is not None and roots.of(op.result) in roots.stored:
        raise Irreversible("random numbers in an array that stores write to")


def _stored(items: Sequence[RegionItem], roots: Roots) -> Set[Value]:
    return {roots.of(op.args[0]) for op in all_ops(items) if op.name in STORES}


def _check_joins(items: Sequence[RegionItem], roots: Roots, later: Set[Value]) -> None:
    """Raise if stores write to an array after a join has given it a second name.

    Args:
        items: a sequence.
        roots: the roots of its region.
        later: the roots that are stored into after the sequence.
    """
    following: List[Set[Value]] = []
    for item in reversed(items):
        following.append(set(later))
        later = later | _stored([item], roots)
    for item, stored in zip(items, reversed(following)):
        if isinstance(item, LoopRegion):
            _check_joins(item.items, roots, stored | (_stored(item.items, roots).difference(made(item.items))))
        elif isinstance(item, Conditional):
            for side in item.sides:
                _check_joins(side.items, roots, stored)
            if any(roots.of(value) in stored for value in [*item.params, *item.args]):
                raise Irreversible("a branch that chooses an array which stores write to")
