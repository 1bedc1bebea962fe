"""Gathers in kernel source: elements found by index, for gathers that are in no fused group."""

from __future__ import annotations

from typing import TYPE_CHECKING, List

import numpy as np

from pijit.core.graph.ir import Op
from pijit.core.kernel.emit.array_ops import broadcast
from pijit.core.kernel.emit.array_values import memory_code
from pijit.core.kernel.emit.array_views import beyond, offset
from pijit.core.kernel.emit.expressions import Place
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.plan.operands import ArrayVariable, Operand, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def _position(emitter: KernelEmitter, index: ArrayVariable, place: Place, size: Operand) -> Operand:
    text = emitter.element(index.type.dtype, place)
    if index.type.dtype == np.dtype(np.uint64):
        text = "as_signed(%s)" % text
    return emitter.let("from_front(%s, %s)" % (text, size))


def write_gather(emitter: KernelEmitter, op: Op) -> None:
    """Write a loop over the indices; leaves where one is out of range."""
    table, indices = emitter.arrays[op.args[0]], [emitter.arrays[value] for value in op.args[1:]]
    shape = broadcast(emitter, op, [index.shape for index in indices])
    result = made_array(emitter, op, result_of(op), shape)

    def body(places: List[Place]) -> None:
        positions = [_position(emitter, index, place, size)
                     for index, place, size in zip(indices, places, table.shape)]
        emitter.guard(op, beyond(positions, table.shape))
        found = emitter.element(table.type.dtype, (table.data, offset(positions, table.strides)))
        emitter.line("st_%s(%s, %s, %s)" % ((memory_code(table.type.dtype),) + places[-1] + (found,)))

    emitter.nest(shape, indices + [result], body)
    emitter.arrays[result_of(op)] = result
