"""Stack arrays: small arrays that never leave a kernel live on its stack and have no Python object.

A call of the runtime costs more than computing a few elements. A place that makes such an array has a *slot*, which is
used again in each iteration of a loop. plan/memory_plan.py decides which results have slots; temporary arrays of
operations use the others, in the order in which they are written. An array that does not fit is allocated by the
runtime instead. If a side exit or a call of NumPy needs an object, it gets that of a copy.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.array_variables import variables_of_layout
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.llvm.stack_slots import SLOT_BYTES
from pijit.core.kernel.plan.memory_plan import fits_stack
from pijit.core.kernel.plan.operands import ONE, ArrayVariable, Operand, array_type, integer

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def made_array(emitter: KernelEmitter, leaving: Op, value: Value, shape: Sequence[Operand],
               kind: Optional[Array] = None) -> ArrayVariable:
    """A new array for a value, or of the type ``kind``; in a tiled or skewed loop, the memory for a block.

    Leaves by the exit of ``leaving`` when there is no memory.
    """
    ready = emitter.blocking.prepared(value, shape)
    return ready if ready is not None else new_made(emitter, leaving, value, shape, kind)


def new_made(emitter: KernelEmitter, leaving: Op, value: Value, shape: Sequence[Operand],
             kind: Optional[Array] = None) -> ArrayVariable:
    """As ``made_array``, but never the memory for a block."""
    kind, name, memory = kind or array_type(value), "v%d" % value.id, emitter.plan.memory
    if value in memory.pooled:
        return new_private(emitter, leaving, kind, name, shape, value in memory.slots)
    return emitter.new_array(leaving, kind, name, shape)


def new_temporary(emitter: KernelEmitter, op: Op, kind: Array, shape: Sequence[Operand]) -> ArrayVariable:
    """A new array that only one operation needs; leaves by its exit when there is no memory."""
    return new_private(emitter, op, kind, str(emitter.fresh()), shape, use_spare_slot(emitter, kind))


def use_spare_slot(emitter: KernelEmitter, kind: Array) -> bool:
    """Whether a temporary array of a type has a slot, which is used up then."""
    has_slot = fits_stack(kind) and emitter.spare_slots > 0
    emitter.spare_slots -= has_slot
    return has_slot


def new_private(emitter: KernelEmitter, op: Op, kind: Array, name: str, shape: Sequence[Operand], has_slot: bool,
                otherwise: Optional[Callable[[], ArrayVariable]] = None) -> ArrayVariable:
    """A new array that does not escape, in a slot if it has one and fits.

    Leaves by the operation's exit when there is no memory. If the array has no slot, or does not fit, ``otherwise``
    makes it, in variables of the same name.
    """
    if otherwise is None:
        def otherwise() -> ArrayVariable:
            return emitter.new_array(op, kind, name, shape, private=True)
    if not has_slot:
        return otherwise()
    most = SLOT_BYTES // kind.dtype.itemsize
    array = variables_of_layout(kind, name, shape)
    array.lazy = array.in_slot = True
    emitter.line("%s = 0" % array.object)
    emitter.line("%s = slot(frame, %d)" % (array.data, 8 * emitter.layout.scratch(1)))
    stride: Expression = integer(kind.dtype.itemsize)
    for size, shown in zip(reversed(array.shape), reversed(array.shown)):
        emitter.line("%s = %s" % (shown, stride))
        stride = "imul(%s, %s)" % (shown, size)
    longer: List[Operand] = list(itertools.dropwhile(lambda size: size.value == 1, shape)) or [ONE]
    count: Expression = longer[0]
    for size in longer[1:]:
        count = "imul(%s, %s)" % (count, size)
    fits = ["%s <= %d" % (size, most) for size in dict.fromkeys([*shape, count])]
    emitter.line("if not (%s):" % " and ".join(fits))
    emitter.depth += 1
    otherwise()
    emitter.depth -= 1
    return array
