"""Gathers in kernel source: elements found by index, for gathers that are in no fused group."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from pijit.core.graph.ir import Op
from pijit.core.kernel.emit.array_ops import broadcast
from pijit.core.kernel.emit.array_values import ArrayVariable, memory_code
from pijit.core.kernel.emit.array_views import beyond, offset
from pijit.core.kernel.emit.stack_arrays import made_array


def _position(emitter: Any, index: ArrayVariable, place: Tuple[str, str], size: str) -> str:
    text = emitter.element(index.type.dtype, place)
    if index.type.dtype == np.dtype(np.uint64):
        text = "as_signed(%s)" % text
    return emitter.let("from_front(%s, %s)" % (text, size))  # type: ignore[no-any-return]


def write_gather(emitter: Any, op: Op) -> None:
    """Write a loop over the indices; leaves where one is out of range."""
    table, indices = emitter.arrays[op.args[0]], [emitter.arrays[value] for value in op.args[1:]]
    shape = broadcast(emitter, op, [index.shape for index in indices])
    result = made_array(emitter, op, op.result, shape)

    def body(places: List[Tuple[str, str]]) -> None:
        positions = [_position(emitter, index, place, size)
                     for index, place, size in zip(indices, places, table.shape)]
        emitter.guard(op, beyond(positions, table.shape))
        found = emitter.element(table.type.dtype, (table.data, offset(positions, table.strides)))
        emitter.line("st_%s(%s, %s, %s)" % ((memory_code(table.type.dtype),) + places[-1] + (found,)))

    emitter.nest(shape, indices + [result], body)
    emitter.arrays[op.result] = result
