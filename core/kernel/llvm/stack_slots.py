"""Intrinsic of stack arrays: a slot, which is memory on the kernel's stack. emit/stack_arrays.py writes the calls.

Threads may have small stacks. So a kernel with slots begins with a call of the runtime, which tells whether there is
room. Without room the kernel misses. lower.py calls `slots_of` and `write_room_check`.
"""

from __future__ import annotations

import ast
from typing import Any, Dict

from llvmlite import ir

from pijit.core._launcher import MISS
from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic, call, field_pointer
from pijit.core.kernel.runtime_entries import entry

SLOT_BYTES = 8192
"""Bytes of a slot."""
_ALIGNMENT = 64
_GAP = 64
"""Bytes between slots. NumPy before 2.0 takes arrays that lie side by side for overlapping, and may round otherwise."""


def _build_slot(builder: Any, args: Any) -> Any:
    """``slot(frame, offset)``: the address of memory on the kernel's stack.

    It is stored in a word of the frame. So LLVM must assume that called functions read what the kernel writes there.
    """
    (_, frame), (_, offset) = args
    with builder.goto_entry_block():
        place = builder.alloca(I8, SLOT_BYTES + _GAP)
        place.align = _ALIGNMENT
    address = builder.ptrtoint(place, I64)
    builder.store_atomic(address, field_pointer(builder, frame, offset, I64), "monotonic", 8)
    return address


SLOT_INTRINSICS: Dict[str, Intrinsic] = {"slot": Intrinsic(INT, None, _build_slot)}


def slots_of(definition: ast.FunctionDef) -> int:
    """The number of slots of a kernel's source."""
    return sum(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SLOT_INTRINSICS
               for node in ast.walk(definition))


def write_room_check(function: Any, body: Any, slots: int) -> None:
    """Write a kernel's function that runs ``body`` if the stack has room for its slots, and misses otherwise.

    The check is a function of its own, because a function takes the memory of all its slots where it begins.
    """
    body.linkage = "internal"
    body.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    table = builder.load(field_pointer(builder, function.args[0], ir.Constant(I64, 0), I64))
    address = builder.load(field_pointer(builder, table, ir.Constant(I64, entry("stack_room").offset), I64))
    room = call(builder, [(INT, address), (INT, ir.Constant(I64, slots * (SLOT_BYTES + _GAP)))])
    with builder.if_then(builder.icmp_signed("==", room, ir.Constant(I64, 0)), likely=False):
        builder.ret(ir.Constant(I64, MISS))
    builder.ret(builder.call(body, [function.args[0]], tail=True))
