"""Rolled operands: arrays that a group rolls or views before it reads elements are not made.

The nest knows where their elements are. The numba emitter describes the arrays before a nest, and forgets them after
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Sequence, Tuple

from pijit.core.graph.ir import Op
from pijit.core.graph.ops import PLACES_ELEMENTS
from pijit.core.kernel.plan.operands import ArrayVariable, Operand, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def place_rolled(emitter: KernelEmitter, group: List[Op]) -> None:
    """Describe each rolled array as the array that it is rolled from, with the axis and the distance."""
    for op in group:
        if op.name == "roll":
            array, places = emitter.arrays[op.args[0]], emitter.text[op.args[1]]
            emitter.arrays[result_of(op)] = array.rolled_by(op.attrs["axis"], places)
        elif op.name == "view":
            emitter.arrays[result_of(op)] = emitter.arrays[op.args[0]]


def forget_rolled(emitter: KernelEmitter, group: List[Op]) -> None:
    """Remove the rolled arrays after a nest, because they were not made."""
    for op in group:
        if op.name in PLACES_ELEMENTS:
            del emitter.arrays[result_of(op)]


def rolled_operands(arrays: Sequence[ArrayVariable], ndim: int) -> Tuple[Tuple[Tuple[int, int], ...], List[Operand]]:
    """((number of a rolled operand, axis of the nest) for each, the places that each is rolled by)."""
    found = [(k, array.rolled[0] + ndim - len(array.shape), array.rolled[1])
             for k, array in enumerate(arrays) if array.rolled is not None]
    return tuple((k, axis) for k, axis, _ in found), [places for _, _, places in found]
