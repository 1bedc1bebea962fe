"""Provenance of lengths: the axes of a graph's inputs from which the graph computes an integer, such as a length.

Capture asks before the passes run, so that guards are on the axes that decide. Operations of the graph tell from which
lengths of operands their own follow. Calls of library functions do not tell it. Of their operands, the axes that have
the expected length of the result are taken.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import ELEMENTWISE, PLAIN
from pijit.core.graph.types import SEVERAL, Array, Scalar

LengthTerm = Tuple[Value, Optional[int]]
"""The length of an array along an axis, or an integer and None."""

InputAxis = Tuple[Value, int]
"""An array and the number of an axis."""


class LengthOrigins:
    """The origins of the lengths and integers of a graph that is complete."""

    def __init__(self, graph: Graph) -> None:
        self._made: Dict[Value, Op] = {op.result: op for block in graph.blocks for op in block.ops
                                      if op.result is not None}
        self._inputs = frozenset(graph.inputs)
        self._given: Dict[Value, List[Value]] = {}
        for block in graph.blocks:
            for jump in block.terminator.targets():
                for param, arg in zip(jump.block.params, jump.args):
                    self._given.setdefault(param, []).append(arg)

    def axes(self, integer: Value) -> Optional[List[InputAxis]]:
        """The axes of inputs from which an integer follows; None if it may follow from other values, too."""
        found: List[InputAxis] = []
        seen: Set[LengthTerm] = set()
        todo: List[LengthTerm] = [(integer, None)]
        while todo:
            term = todo.pop()
            if term in seen:
                continue
            seen.add(term)
            value, axis = term
            if axis is not None and value in self._inputs:
                found.append((value, axis))
                continue
            parts = self._parts(value, axis)
            if parts is None:
                return None
            todo += parts
        return sorted(found, key=lambda one: (one[0].id, one[1]))

    def _parts(self, value: Value, axis: Optional[int]) -> Optional[Sequence[LengthTerm]]:
        """The terms from which a term follows; None if it may follow from others, too."""
        if value in self._given:
            return [(arg, axis) for arg in self._given[value]]
        op = self._made.get(value)
        if op is None:
            return None
        if axis is not None:
            find = _elementwise if op.name in ELEMENTWISE else _LENGTHS.get(op.name)
            return find(op, axis) if find is not None else self._of_call(op, axis)
        if op.name == "dim":
            return [(op.args[0], op.attrs["axis"])]
        return _integers(op.args) if op.name in PLAIN else None

    def _of_call(self, op: Op, axis: int) -> Optional[Sequence[LengthTerm]]:
        """The axes of operands that have the length of the result; all of them if none has it.

        Arrays in tuples count as operands. Numbers do not: where they may decide a length, nothing is expected of it.
        """
        found: List[InputAxis] = []
        todo = list(op.args)
        while todo:
            value = todo.pop()
            if isinstance(value.type, Array):
                found += _all_axes(value)
            elif not isinstance(value.type, Scalar):
                made = self._made.get(value)
                if made is None or made.name != "new_tuple":
                    return None
                todo += made.args
        length = _expected(cast(Value, op.result), axis)
        return [one for one in found if length != SEVERAL and _expected(*one) == length] or found


def _integers(values: Sequence[Value]) -> List[LengthTerm]:
    return [(value, None) for value in values]


def _expected(array: Value, axis: int) -> int:
    """The expected length of an axis; SEVERAL if nothing is expected."""
    lengths = cast(Array, array.type).lengths
    return lengths[axis] if lengths is not None else SEVERAL


def _all_axes(array: Value) -> List[InputAxis]:
    return [(array, axis) for axis in range(cast(Array, array.type).ndim)]


def _ndim(op: Op) -> int:
    """The number of axes of an operation's result."""
    return cast(Array, cast(Value, op.result).type).ndim


def _elementwise(op: Op, axis: int) -> List[LengthTerm]:
    """Operands are broadcast.

    One operand decides it if more than one element is expected of its axis: others have as many elements, or one.
    """
    from_end = _ndim(op) - axis
    meeting: List[InputAxis] = [(value, value.type.ndim - from_end) for value in op.args
                           if isinstance(value.type, Array) and value.type.ndim >= from_end]
    deciding = [one for one in meeting if _expected(*one) not in (1, SEVERAL)]
    return [*(deciding[:1] or meeting)]


def _view(op: Op, axis: int) -> List[LengthTerm]:
    """A slice follows from its axis and its ends; an axis without an item stays the same."""
    words, source = op.args[1:], 0
    for item in op.attrs["index"]:
        used = item.count("v") + (item == "i")
        ends, words = words[:used], words[used:]
        if item != "i" and not axis:
            return [] if item == "n" else [(op.args[0], source), *_integers(ends)]
        axis -= item != "i"
        source += item != "n"
    return [(op.args[0], source + axis)]


def _transpose(op: Op, axis: int) -> List[LengthTerm]:
    return [(op.args[0], op.attrs["axes"][axis])]


def _first(op: Op, axis: int) -> List[LengthTerm]:
    """An array of the first operand's shape."""
    return [(op.args[0], axis)]


def _sizes(op: Op, axis: int) -> List[LengthTerm]:
    """A new array; its operands are its sizes."""
    return [(op.args[axis], None)]


def _reshape(op: Op, axis: int) -> List[LengthTerm]:
    sizes = op.args[1:]
    return [*_all_axes(op.args[0]), *_integers(sizes)] if axis == op.attrs["unknown"] else [(sizes[axis], None)]


def _reduce(op: Op, axis: int) -> List[LengthTerm]:
    array, over = op.args[0], op.attrs["axis"]
    ndim = cast(Array, array.type).ndim
    gone = {one % ndim for one in (range(ndim) if over is None else over if isinstance(over, tuple) else (over,))}
    if op.attrs["keepdims"]:
        return [] if axis in gone else [(array, axis)]
    return [(array, [one for one in range(ndim) if one not in gone][axis])]


def _concatenate(op: Op, axis: int) -> List[LengthTerm]:
    if axis == op.attrs["axis"] % _ndim(op):
        return [(array, axis) for array in op.args]
    return _elementwise(op, axis)


def _constant(op: Op, axis: int) -> List[LengthTerm]:
    """A shape that is constant."""
    return []


_LENGTHS: Dict[str, Callable[[Op, int], List[LengthTerm]]] = {
    "view": _view, "transpose": _transpose, "in_order": _first, "part": _first, "scan": _first, "roll": _first,
    "alloc": _sizes, "elements": _constant, "reshape": _reshape, "reduce": _reduce, "concatenate": _concatenate}
"""The terms from which the length of a result along an axis follows, by operation."""
