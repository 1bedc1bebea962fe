"""Stack arrays: small arrays that never leave a kernel live on its stack and have no Python object.

A call of the runtime costs more than computing a few elements. A kernel has one *slot* for each place that makes such
an array. It is used again in each iteration of a loop. An array that does not fit is allocated by the runtime instead.
If a side exit or a call of NumPy needs an object, it gets that of a copy.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.array_values import ArrayVariable
from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic, field_pointer

SLOT_BYTES = 4096
"""Bytes of a slot."""
MOST_SLOTS = 8
"""The most slots of one kernel, because Python's threads may have small stacks."""

MOST_EXITS = 8
"""The most side exits that need one stack array: each has its own code that makes an object."""

_ALIGNMENT = 64
_MOST_AXES = 4
"""With more axes, the product of sizes that fit one by one may overflow."""


def _build_slot(builder: Any, args: Any) -> Any:
    """``slot(frame, offset)``: the address of memory on the kernel's stack.

    It is stored in a word of the frame. So LLVM must assume that called functions read what the kernel writes there.
    """
    (_, frame), (_, offset) = args
    with builder.goto_entry_block():
        place = builder.alloca(I8, SLOT_BYTES)
        place.align = _ALIGNMENT
    address = builder.ptrtoint(place, I64)
    builder.store_atomic(address, field_pointer(builder, frame, offset, I64), "monotonic", 8)
    return address


SLOTS = {"slot": Intrinsic(INT, None, _build_slot)}


def made_array(emitter: Any, leaving: Op, value: Value, shape: Sequence[str],
               kind: Optional[Array] = None) -> ArrayVariable:
    """A new array for a value, or of the type ``kind``; in a tiled or skewed loop, the memory for a block.

    Leaves by the exit of ``leaving`` when there is no memory.
    """
    ready = emitter.blocking.prepared(value, shape)
    return ready if ready is not None else new_made(emitter, leaving, value, shape, kind)


def new_made(emitter: Any, leaving: Op, value: Value, shape: Sequence[str],
             kind: Optional[Array] = None) -> ArrayVariable:
    """As ``made_array``, but never the memory for a block."""
    kind, name = kind or value.type, "v%d" % value.id
    if emitter.buffers.borrows(value):
        return new_private(emitter, leaving, kind, name, shape, wanted=emitter.plan.escape.exits_with(value))
    return emitter.new_array(leaving, kind, name, shape)  # type: ignore[no-any-return]


def new_private(emitter: Any, op: Op, kind: Array, name: str, shape: Sequence[str],
                otherwise: Optional[Callable[[], ArrayVariable]] = None, wanted: int = 0) -> ArrayVariable:
    """A new array that is handed out at ``wanted`` side exits and nowhere else.

    Leaves by the operation's exit when there is no memory. If the array does not fit into a slot, ``otherwise`` makes
    it, in variables of the same name.
    """
    if otherwise is None:
        def otherwise() -> ArrayVariable:
            return emitter.new_array(op, kind, name, shape, private=True)  # type: ignore[no-any-return]
    if kind.layout != "C" or kind.ndim > _MOST_AXES or emitter.slots == MOST_SLOTS or wanted > MOST_EXITS:
        return otherwise()
    emitter.slots += 1
    most = SLOT_BYTES // kind.dtype.itemsize
    array = ArrayVariable.of_layout(kind, name, shape)
    array.lazy = array.in_slot = True
    emitter.line("%s = 0" % array.object)
    emitter.line("%s = slot(frame, %d)" % (array.data, 8 * emitter.layout.scratch(1)))
    stride = "(%d)" % kind.dtype.itemsize
    for size, shown in zip(reversed(array.shape), reversed(array.shown)):
        emitter.line("%s = %s" % (shown, stride))
        stride = "imul(%s, %s)" % (shown, size)
    count = "(1)"
    for size in shape:
        count = size if count == "(1)" else "imul(%s, %s)" % (count, size)
    fits = ["%s <= %d" % (size, most) for size in dict.fromkeys(tuple(shape) + (count,))]
    emitter.line("if not (%s):" % " and ".join(fits))
    emitter.depth += 1
    otherwise()
    emitter.depth -= 1
    return array
