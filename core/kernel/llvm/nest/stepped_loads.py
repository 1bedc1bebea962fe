"""Stepped loads: a vector of elements that are adjacent in memory, in reverse order, or some elements apart.

Sums and other rows that the nest writes as vectors load their operands with this. Called by nest.py.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from pijit.core.kernel.llvm.intrinsics import I64

_LANE = ir.IntType(32)


def load_vector(builder: Any, place: Any, kind: Any, itemsize: int, step: int) -> Any:
    """The vector of elements from an address on, ``step`` elements apart; only these elements are read.

    Args:
        builder: writes instructions.
        place: the address of the first element.
        kind: the type of the vector.
        itemsize: the bytes of an element.
        step: 1, -1, or another number of elements.
    """
    if step == 1:
        return builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
    if step == -1:
        first = builder.gep(place, [ir.Constant(I64, -(kind.count - 1) * itemsize)])
        lanes = [ir.Constant(_LANE, lane) for lane in reversed(range(kind.count))]
        return builder.shuffle_vector(load_vector(builder, first, kind, itemsize, 1), ir.Constant(kind, ir.Undefined),
                                      ir.Constant(ir.VectorType(_LANE, kind.count), lanes))
    vector = ir.Constant(kind, ir.Undefined)
    for lane in range(kind.count):
        element = builder.gep(place, [ir.Constant(I64, lane * step * itemsize)])
        value = builder.load(builder.bitcast(element, kind.element.as_pointer()), align=1)
        vector = builder.insert_element(vector, value, ir.Constant(_LANE, lane))
    return vector
