"""Arrays that a group rolls, or looks at, before it reads their elements: they are not made, nests know where the elements are."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

from pijit.core.graph.ir import Op
from pijit.core.graph.passes.fusion import PLACING
from pijit.core.kernel.emit.array_values import ArrayVariable


def place_rolled(emitter: Any, group: List[Op]) -> None:
    """Arrays that are not made: those that they are rolled from, and how far."""
    for op in group:
        if op.name == "roll":
            emitter.arrays[op.result] = emitter.arrays[op.args[0]].rolled_by(op.attrs["axis"], emitter.text[op.args[1]])
        elif op.name == "view":
            emitter.arrays[op.result] = emitter.arrays[op.args[0]]


def forget_rolled(emitter: Any, group: List[Op]) -> None:
    """Behind a nest there is no such array."""
    for op in group:
        if op.name in PLACING:
            del emitter.arrays[op.result]


def rolled_operands(arrays: Sequence[ArrayVariable], ndim: int) -> Tuple[Tuple[Tuple[int, int], ...], List[str]]:
    """The arrays that are rolled, with the axes of the nest, and by how many places."""
    found = [(k, array.rolled[0] + ndim - len(array.shape), array.rolled[1])
             for k, array in enumerate(arrays) if array.rolled is not None]
    return tuple((k, axis) for k, axis, _ in found), [places for _, _, places in found]
