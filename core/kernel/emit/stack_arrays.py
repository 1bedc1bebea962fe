"""Stack arrays: small arrays that never leave a kernel live on its stack and have no Python object.

A call of the runtime costs more than computing a few elements. A kernel has one *slot* for each place that makes such
an array. It is used again in each iteration of a loop. An array that does not fit is allocated by the runtime instead.
If a side exit or a call of NumPy needs an object, it gets that of a copy.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.array_variables import variables_of_layout
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.llvm.stack_slots import SLOT_BYTES
from pijit.core.kernel.plan.escape import MOST_SLOTS, may_be_on_stack
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
    kind, name = kind or array_type(value), "v%d" % value.id
    if emitter.buffers.borrows(value):
        return new_private(emitter, leaving, kind, name, shape, wanted=emitter.plan.escape.exits_with(value))
    return emitter.new_array(leaving, kind, name, shape)


def new_private(emitter: KernelEmitter, op: Op, kind: Array, name: str, shape: Sequence[Operand],
                otherwise: Optional[Callable[[], ArrayVariable]] = None, wanted: int = 0) -> ArrayVariable:
    """A new array that is handed out at ``wanted`` side exits and nowhere else.

    Leaves by the operation's exit when there is no memory. If the array does not fit into a slot, ``otherwise`` makes
    it, in variables of the same name.
    """
    if otherwise is None:
        def otherwise() -> ArrayVariable:
            return emitter.new_array(op, kind, name, shape, private=True)
    if not may_be_on_stack(kind, wanted) or emitter.slots == MOST_SLOTS:
        return otherwise()
    emitter.slots += 1
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
