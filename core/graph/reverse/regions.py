"""Regions: a graph as a sequence of operations, guards, counted loops and conditionals.

Reversal goes through a sequence backwards, and through each loop from its last iteration to its first. `structure`
finds the region of a graph. All modules of the package use it. It must not write code.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Set, Tuple, Union

from pijit.core.graph.ir import Op, Output, Value
from pijit.core.named_tuples import NamedTuple


class RequiredCondition(NamedTuple):
    """A condition that calls of the joint function must fulfil: ``condition`` is true, or false."""

    condition: Value
    holds: bool


class LoopExit(NamedTuple):
    """The loop around it ends if ``condition`` is true, or false if not ``holds``."""

    condition: Value
    holds: bool


class LoopRegion:
    """A loop: ``for index in range(start, limit)``.

    The number of iterations may be known only at run time. Then exits in the body end it, and it makes ``limit``, which
    counts complete iterations. The items after it repeat what the incomplete one does up to the exit.

    Attributes:
        params: the loop-carried values, without the index.
        first, next: for each of them, its value before the loop, and that for the next iteration.
        index, start, limit: the index, its first value, and the value that ends the loop.
        items: the body; it begins with the operations of the header.
        header: the operations of the header.
        number: a number that names the loop.
        is_counted: whether the number of iterations is known before the loop.
        until: the exit at the end of the iterations of a rotated loop, or None.
    """

    __slots__ = ("params", "first", "next", "index", "start", "limit", "items", "header", "number", "is_counted",
                 "until")

    def __init__(self, index: Value, start: Value, limit: Value, carried: Sequence[Tuple[Value, Value, Value]],
                 header: List[Op], items: List["RegionItem"], number: int, is_counted: bool = True,
                 until: Optional[LoopExit] = None) -> None:
        self.index, self.start, self.limit = index, start, limit
        self.params = [param for param, _, _ in carried]
        self.first = [first for _, first, _ in carried]
        self.next = [following for _, _, following in carried]
        self.header, self.items, self.number, self.is_counted = header, items, number, is_counted
        self.until = until



class Side(NamedTuple):
    """One side of a conditional: its items, and what it passes to the join."""

    items: List["RegionItem"]
    args: Tuple[Value, ...]


class Conditional:
    """A diamond of blocks: ``then`` runs if the condition is true, else ``other``. Both lead to the join.

    Attributes:
        condition: the condition.
        then, other: the sides.
        params: the parameters of the join: the values that differ between the sides.
    """

    __slots__ = ("condition", "then", "other", "params")

    def __init__(self, condition: Value, then: Side, other: Side, params: Sequence[Value]) -> None:
        self.condition, self.then, self.other, self.params = condition, then, other, list(params)

    @property
    def sides(self) -> Tuple[Side, Side]:
        return self.then, self.other

    @property
    def args(self) -> List[Value]:
        """What both sides pass to the join."""
        return [*self.then.args, *self.other.args]


RegionItem = Union[Op, RequiredCondition, LoopExit, LoopRegion, Conditional]


class GraphRegion(NamedTuple):
    """A whole graph: its items, and what the function returns.

    ``repeated`` are the operations in the incomplete iterations of loops that exits leave: the loop has run them.
    """

    items: List[RegionItem]
    outputs: List[Output]
    repeated: Set[Op]


def walk(items: Sequence[RegionItem]) -> List[RegionItem]:
    """All items of a sequence and of the items in it, in program order; an item comes before what it contains."""
    found: List[RegionItem] = []
    for item in items:
        found.append(item)
        if isinstance(item, LoopRegion):
            found += walk(item.items)
        elif isinstance(item, Conditional):
            found += walk(item.then.items) + walk(item.other.items)
    return found


def all_ops(items: Sequence[RegionItem]) -> List[Op]:
    """All operations of a sequence and of the items in it, in program order."""
    return [item for item in walk(items) if isinstance(item, Op)]


def passed(items: Sequence[RegionItem]) -> List[Value]:
    """The values that conditionals in a sequence pass to their joins."""
    return [value for item in walk(items) if isinstance(item, Conditional) for value in item.args]


def made(items: Sequence[RegionItem]) -> List[Value]:
    """The values that a sequence makes, and those that the items in it make."""
    found: List[Value] = []
    for item in walk(items):
        if isinstance(item, Op):
            found += [item.result] if item.result is not None else []
        elif isinstance(item, LoopRegion):
            found += [*item.params, item.index] + [item.limit] * (not item.is_counted)
        elif isinstance(item, Conditional):
            found += item.params
    return found
